// A whole safetensors file in memory: its tensors take no more than it holds, and none is unknown without being called so.
#include "fuzz_input.hpp"

#include <cstdlib>
#include <span>

#include "readers/checkpoint.hpp"
#include "readers/module_names.hpp"
#include "readers/safetensors.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace {

/// Small, so that an input can be its checkpoint.
tokenroof::Network network() {
  using namespace tokenroof;
  const GroupedQueryAttention attention{.heads = 1, .kv_heads = 1, .head_dim = 2, .value_head_dim = 2};
  return {.hidden = 2,
          .vocabulary = 2,
          .tied_embeddings = true,
          .layers = {{Block{.mixers = {attention}, .feed_forward = DenseFeedForward{.width = 2}}, 1}}};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tokenroof;
  fuzz::refuse_or_read([&] {
    const auto file = readers::parse_safetensors(std::as_bytes(std::span(data, size)), "input");
    std::uint64_t bytes = 0;
    for (const readers::SafetensorsTensor& tensor : file.tensors) {
      bytes += tensor.bytes;
      const readers::TensorMeaning meaning = readers::meaning_of_tensor(tensor.name);
      if (meaning.roles.empty() == meaning.other.empty()) {
        std::abort(); // neither a part of a network nor something else, or both
      }
    }
    if (bytes > size) {
      std::abort(); // more than the file holds
    }
    Network small = network();
    WeightScheme scheme;
    scheme.stored = readers::match_checkpoint(small, file.tensors, std::nullopt).formats;
    if (weight_bytes(small, scheme).value() != static_cast<double>(bytes)) {
      std::abort(); // not the table's sum
    }
  });
  return 0;
}
