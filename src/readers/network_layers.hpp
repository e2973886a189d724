/// @file
/// Layers of a network from the facts of its configuration.
#pragma once

#include <vector>

#include "readers/network_facts.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// How the class normalises: by root mean square, or with mean, bias or neither.
[[nodiscard]] Normalisation make_normalisation(NetworkFacts& facts);

/// All layers in order, equal ones folded. Throws InvalidSpec and ParseError.
[[nodiscard]] std::vector<LayerRun> make_layers(NetworkFacts& facts);

} // namespace tokenroof::readers
