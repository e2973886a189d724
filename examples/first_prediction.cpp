// One prediction: how fast a 4-bit Llama 3.1 8B answers on an RTX 4090, and what it occupies there.
#include <fmt/core.h>

#include "tokenroof/integrations/fmt.hpp"
#include "tokenroof/tokenroof.hpp"

int main() {
  using namespace tokenroof::literals;

  const tokenroof::Deployment deployment{
      .network = tokenroof::catalogue::network("llama-3.1-8b"),
      .cluster = {.device = tokenroof::catalogue::device("rtx_4090")},
      .engine = tokenroof::catalogue::engine("llama.cpp-cuda"),
      .weights = tokenroof::scheme("Q4_K_M"),
  };
  const auto p = tokenroof::predict(deployment, {.batch = 1, .prompt = 2048_tok, .output = 256_tok});

  fmt::print("TTFT        {:.0ms}\n", p.ttft);
  fmt::print("TPOT        {:.2ms}\n", p.tpot);
  fmt::print("peak memory {:.2GiB}, which {}\n", p.peak_memory, p.fits ? "fits" : "does not fit");
}
