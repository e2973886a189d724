/// @file
/// Layers of a network from the facts of its configuration.
#pragma once

#include <vector>

#include "readers/network_facts.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// How the class normalises: by root mean square, or with mean, bias or neither.
[[nodiscard]] Normalisation make_normalisation(NetworkFacts& facts);

struct Layers {
  std::vector<LayerRun> runs{};    ///< in order, equal ones folded
  std::vector<Block> prediction{}; ///< of one prediction module, where it is not like the last layer
};

/// All layers. Throws InvalidSpec and ParseError.
[[nodiscard]] Layers make_layers(NetworkFacts& facts);

} // namespace tokenroof::readers
