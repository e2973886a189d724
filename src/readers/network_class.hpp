/// @file
/// What the classes of configurations mean: a table that is data (models/network_classes.json).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tokenroof::readers {

/// One `model_type` with what it inherits: facts about the network, and values of absent keys.
struct NetworkClass {
  std::string name{};
  std::map<std::string, nlohmann::json, std::less<>> facts{};
  std::map<std::string, nlohmann::json, std::less<>> defaults{};
};

/// The class of that `model_type`, or null.
[[nodiscard]] const NetworkClass* find_network_class(std::string_view model_type);

/// All `model_type`s that can be read, sorted.
[[nodiscard]] std::vector<std::string_view> network_class_names();

/// Other spellings of a key; a dot descends into an object.
[[nodiscard]] const std::vector<std::string>& key_aliases(std::string_view key);

} // namespace tokenroof::readers
