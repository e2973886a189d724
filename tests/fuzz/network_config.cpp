// A Hugging Face config.json: what is read must be countable, and usable for a prediction.
#include "fuzz_input.hpp"

#include "tokenroof/catalogue.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tokenroof;
  fuzz::refuse_or_read([&] {
    NetworkReading reading = examine_network_text(fuzz::as_text(data, size), "input");
    (void)count_parameters(reading.network);
    const Deployment deployment{.network = std::move(reading.network),
                                .cluster = {.device = catalogue::device("h100_sxm")},
                                .weights = reading.weights.value_or(WeightScheme{})};
    (void)predict(deployment, {.prompt = Tokens::from_value(100), .output = Tokens::from_value(10)});
  });
  return 0;
}
