// A file of measurements: every row of what is read must be counted.
#include "fuzz_input.hpp"

#include <cstdlib>
#include <sstream>
#include <string>

#include "tokenroof/validation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tokenroof;
  fuzz::refuse_or_read([&] {
    std::istringstream csv{std::string(fuzz::as_text(data, size))};
    std::uint64_t rows = 0;
    const auto report = validation::validate(csv, "input", {.on_row = [&](const validation::Row&) { ++rows; }});
    std::uint64_t counted = 0;
    for (const std::uint64_t of_outcome : report.total.rows) {
      counted += of_outcome;
    }
    if (counted != rows) {
      std::abort();
    }
  });
  return 0;
}
