/// @file
/// From the tensors of a safetensors checkpoint to the formats of a network's parts.
#pragma once

#include <optional>
#include <vector>

#include "readers/safetensors.hpp"
#include "readers/stored_formats.hpp"
#include "tokenroof/network/network.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::readers {

/// Formats such that `weight_bytes` is what all tensors take. Scales, zero points and tables count to the matrix that they
/// belong to. `configured`, where there is one, names the formats of packed codes; their number is the network's, since
/// shapes of packed tensors do not tell. Sets `tied_embeddings` where the file has no head.
/// Throws InvalidSpec, naming role and layer, where the file lacks a matrix, or where one cannot be what the network says.
[[nodiscard]] StoredMatch match_checkpoint(Network& network, const std::vector<SafetensorsTensor>& tensors,
                                           const std::optional<WeightScheme>& configured);

} // namespace tokenroof::readers
