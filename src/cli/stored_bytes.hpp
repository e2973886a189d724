/// @file
/// Where the bytes of a network's weights lie.
#pragma once

#include <string>
#include <vector>

#include "tokenroof/network/network.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::cli {

struct NamedBytes {
  std::string name{};
  Bytes bytes{};
};

/// Bytes of all tensors, those beside the network as "other"; most bytes first.
struct StoredBytes {
  std::vector<NamedBytes> by_format{};
  std::vector<NamedBytes> by_role{};
};

[[nodiscard]] StoredBytes stored_bytes(const Network& network, const WeightScheme& scheme);

} // namespace tokenroof::cli
