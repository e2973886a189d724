// A sweep: how the time per output token of a served model grows with batch and context.
#include <fmt/core.h>

#include "tokenroof/integrations/fmt.hpp"
#include "tokenroof/tokenroof.hpp"

int main() {
  using namespace tokenroof::literals;

  const tokenroof::Deployment deployment{
      .network = tokenroof::catalogue::network("llama-3.1-8b"),
      .cluster = {.device = tokenroof::catalogue::device("h100_sxm")},
      .engine = tokenroof::catalogue::engine("vllm"),
  };
  const tokenroof::SweepAxes axes{
      .batch = {1, 8, 64},
      .prompt = {512_tok, 4096_tok, 32768_tok},
      .output = {256_tok},
  };

  tokenroof::sweep(deployment, axes, [](const tokenroof::Workload& workload, const tokenroof::Prediction& p) {
    fmt::print("batch {:2}, prompt {}: ", workload.batch, workload.prompt);
    if (p.fits) {
      fmt::print("TTFT {:.1ms}, TPOT {:.2ms}, {:.1GiB}\n", p.ttft, p.tpot, p.peak_memory);
    } else {
      fmt::print("{:.1GiB}, {:.1GiB} too many\n", p.peak_memory, p.shortfall);
    }
  });
}
