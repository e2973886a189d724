// A device description: what is read must be usable for a prediction.
#include "fuzz_input.hpp"

#include "tokenroof/catalogue.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tokenroof;
  fuzz::refuse_or_read([&] {
    static const Shared<Network> network = catalogue::network("qwen2.5-0.5b");
    const Deployment deployment{.network = network,
                                .cluster = {.device = parse_device(fuzz::as_text(data, size), "input")}};
    (void)predict(deployment, {.prompt = Tokens::from_value(100), .output = Tokens::from_value(10)});
  });
  return 0;
}
