#include "readers/network_class.hpp"

#include <algorithm>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"

namespace tokenroof::readers {

namespace {

struct ClassTable {
  std::map<std::string, NetworkClass, std::less<>> classes{};
  std::map<std::string, std::vector<std::string>, std::less<>> aliases{};
  std::map<std::string, LayerWord, std::less<>> words{};
  std::vector<std::string> unread{};
};

constexpr std::string_view root = "base";       // what all classes share; no model_type
constexpr std::string_view general = "general"; // for model_types that are not here; none itself

bool is_model_type(std::string_view name) { return name != root && name != general; }

using Members = std::map<std::string, nlohmann::json, std::less<>>;

void overlay(Members& members, const nlohmann::json& entry, const char* section) {
  const auto found = entry.find(section);
  if (found == entry.end()) {
    return;
  }
  for (const auto& [name, value] : found->items()) {
    members.insert_or_assign(name, value);
  }
}

/// The class it is like must be in the table already.
NetworkClass inherit(const ClassTable& table, const std::string& name, const nlohmann::json& entry) {
  NetworkClass made = entry.contains("like") ? table.classes.at(entry.at("like")) : NetworkClass();
  made.name = name;
  overlay(made.facts, entry, "facts");
  overlay(made.defaults, entry, "defaults");
  return made;
}

/// Adds a class after the one it is like, wherever that stands in the file.
void add_class(ClassTable& table, const nlohmann::json& classes, const std::string& name) {
  if (table.classes.contains(name)) {
    return;
  }
  const nlohmann::json& entry = classes.at(name);
  if (entry.contains("like")) {
    add_class(table, classes, entry.at("like"));
  }
  table.classes.emplace(name, inherit(table, name, entry));
}

ClassTable parse_table() {
  constexpr std::string_view file = "network_classes.json";
  const nlohmann::json document = parse_json(catalogue::embedded_file(file).value(), file);
  ClassTable table;
  for (const auto& [key, spellings] : document.at("aliases").items()) {
    table.aliases.emplace(key, spellings.get<std::vector<std::string>>());
  }
  table.unread = document.at("unread").get<std::vector<std::string>>();
  for (const auto& [word, meaning] : document.at("layer_words").items()) {
    table.words.emplace(word, LayerWord{.mixer = meaning.value("mixer", ""),
                                        .window = meaning.value("window", false),
                                        .feed_forward = meaning.value("feed_forward", "")});
  }
  for (const auto& [name, entry] : document.at("classes").items()) {
    add_class(table, document.at("classes"), name);
  }
  return table;
}

const ClassTable& table() {
  static const ClassTable parsed = parse_table();
  return parsed;
}

} // namespace

const LayerWord* find_layer_word(std::string_view word) {
  const auto found = table().words.find(word);
  return found == table().words.end() ? nullptr : &found->second;
}

bool is_unread_key(std::string_view key) {
  const auto& unread = table().unread;
  return std::any_of(unread.begin(), unread.end(),
                     [&](const std::string& word) { return key.find(word) != std::string_view::npos; });
}

const NetworkClass& general_network_class() { return table().classes.find(general)->second; }

const NetworkClass* find_network_class(std::string_view model_type) {
  const auto found = table().classes.find(model_type);
  return found == table().classes.end() || !is_model_type(model_type) ? nullptr : &found->second;
}

std::vector<std::string_view> network_class_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, entry] : table().classes) {
    if (is_model_type(name)) {
      names.emplace_back(name);
    }
  }
  return names;
}

const std::vector<std::string>& key_aliases(std::string_view key) {
  static const std::vector<std::string> none;
  const auto found = table().aliases.find(key);
  return found == table().aliases.end() ? none : found->second;
}

} // namespace tokenroof::readers
