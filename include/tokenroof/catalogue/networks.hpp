/// @file
/// The built-in networks, by id or alias. (tokenroof::tokenroof)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/network/network.hpp"
#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/shared.hpp"

namespace tokenroof::catalogue {

/// A network with where its description comes from.
struct NetworkEntry {
  std::string id{};
  std::vector<std::string> aliases{};
  std::string source{};
  std::string date{};
  std::string confidence{};                    ///< high: a published file; medium: a paper or model card
  std::optional<Count> published_parameters{}; ///< exact, where its maker or its checkpoint says
  std::string published_parameters_source{};
  Shared<Network> network{};
  std::optional<WeightScheme> weights{};  ///< how its checkpoint is stored, where the configuration tells
  std::vector<std::string> assumptions{}; ///< defaults that stood in for absent keys
};

/// The network of that id or alias; case and punctuation do not matter. Parsed once. Throws UnknownNetwork.
[[nodiscard]] Shared<Network> network(std::string_view id);

/// The same with its sources.
[[nodiscard]] const NetworkEntry& network_entry(std::string_view id);

/// The same, or nullptr where there is none of that name.
[[nodiscard]] const NetworkEntry* find_network_entry(std::string_view id);

/// The ids of all built-in networks, sorted.
[[nodiscard]] std::vector<std::string> network_ids();

} // namespace tokenroof::catalogue
