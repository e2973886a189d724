// A whole GGUF file in memory: what is read must be countable to the byte, and usable for a prediction.
#include "fuzz_input.hpp"

#include <cstdlib>
#include <span>
#include <utility>

#include "readers/gguf.hpp"
#include "tokenroof/catalogue.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/predict.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tokenroof;
  fuzz::refuse_or_read([&] {
    NetworkReading reading = readers::parse_gguf(std::as_bytes(std::span(data, size)), "input");
    (void)count_parameters(reading.network);
    if (weight_bytes(reading.network, reading.weights.value()).value() > static_cast<double>(size)) {
      std::abort(); // more than the file holds
    }
    const Deployment deployment{.network = std::move(reading.network),
                                .cluster = {.device = catalogue::device("h100_sxm")},
                                .weights = reading.weights.value()};
    (void)predict(deployment, {.prompt = Tokens::from_value(100), .output = Tokens::from_value(10)});
  });
  return 0;
}
