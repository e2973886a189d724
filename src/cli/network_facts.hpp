/// @file
/// What a list says of a network in one word.
#pragma once

#include <vector>

#include "tokenroof/network/network.hpp"
#include "tokenroof/precision/format.hpp"

namespace tokenroof::cli {

/// The format in which a listed cache is kept: 16 bits.
[[nodiscard]] constexpr Format cache_format() { return Format{}; }

/// The first attention, where there is any, else the first of whatever mixes tokens; null: nothing does.
[[nodiscard]] const Mixer* main_mixer(const Network& network);

/// Equal layers together, wherever they stand.
[[nodiscard]] std::vector<LayerRun> kinds_of_layers(const Network& network);

} // namespace tokenroof::cli
