// The index of a split checkpoint.
#include "fuzz_input.hpp"

#include <cstdlib>
#include <string_view>

#include "readers/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tokenroof;
  fuzz::refuse_or_read([&] {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const std::string& name : readers::parse_safetensors_index(text, "input").files) {
      if (name.find_first_of("/\\") != std::string::npos) {
        std::abort(); // leads out of the folder
      }
    }
  });
  return 0;
}
