/// @file
/// From the tensors of a file to the formats of a network's parts, such that their bytes add up to the file's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/network/network.hpp"
#include "tokenroof/network/tensors.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::readers {

/// A tensor of a file, or the share of one that belongs to that role.
struct StoredTensor {
  TensorRole role = TensorRole::norm;
  std::optional<Count> layer{}; ///< none: outside the layers
  Format format{};
  Count elements = 0;
  double bytes = 0;
};

/// Formats by role and layer, and what had to be assumed.
struct StoredMatch {
  StoredFormats formats{};
  std::vector<std::string> assumptions{};
};

/// Formats such that `weight_bytes` of the network is `total` exactly. Where tensors of one role and layer differ in
/// format, their mean stands for each; tensors beyond the network's are `other`. Throws InvalidSpec, naming role and layer,
/// where the network has a matrix that the file has not.
[[nodiscard]] StoredMatch match_formats(const Network& network, const std::vector<StoredTensor>& stored, double total);

} // namespace tokenroof::readers
