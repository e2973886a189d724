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

/// What a word in a list of layers means.
struct LayerWord {
  std::string mixer{};        ///< "attention", "other" (what the class's `other_mixer` says) or "none"
  bool window = false;        ///< the attention sees a window only
  std::string feed_forward{}; ///< "dense", "experts", or empty: the word does not say
};

/// The meaning of a word, a letter of a pattern, or a number; null where it has none.
[[nodiscard]] const LayerWord* find_layer_word(std::string_view word);

/// Whether a key belongs to something that only known classes describe: its name holds one of the table's words for it.
[[nodiscard]] bool is_unread_key(std::string_view key);

/// How configurations of a `model_type` that is not in the table are read: by the keys they have.
[[nodiscard]] const NetworkClass& general_network_class();

/// The class of that `model_type`, or null.
[[nodiscard]] const NetworkClass* find_network_class(std::string_view model_type);

/// All `model_type`s that can be read, sorted.
[[nodiscard]] std::vector<std::string_view> network_class_names();

/// Other spellings of a key; a dot descends into an object.
[[nodiscard]] const std::vector<std::string>& key_aliases(std::string_view key);

} // namespace tokenroof::readers
