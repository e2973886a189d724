/// @file
/// A network from the tensors of a GGUF file: shapes say most of it, metadata what shapes cannot.
#pragma once

#include <string>
#include <vector>

#include "readers/gguf_metadata.hpp"
#include "readers/gguf_tensors.hpp"
#include "readers/stored_formats.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// A network, the roles that the file's tensors have in it, and those that have none.
struct GgufNetwork {
  Network network{};
  std::vector<StoredTensor> stored{};
  std::vector<GgufOther> others{};
  std::vector<std::string> assumptions{};
};

/// Makes the network of sorted tensors. Throws ParseError for missing or unknown tensors and keys, InvalidSpec for values
/// that contradict the shapes.
[[nodiscard]] GgufNetwork make_gguf_network(const GgufMetadata& metadata, const GgufTensorTable& tensors);

} // namespace tokenroof::readers
