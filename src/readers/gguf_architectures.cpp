#include "readers/gguf_architectures.hpp"

#include <map>
#include <set>
#include <string>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"

namespace tokenroof::readers {
namespace {

struct ArchitectureTable {
  std::map<std::string, GgufWindowRule, std::less<>> windows{};
  std::set<std::string, std::less<>> values_may_be_keys{};
};

std::optional<Count> optional_count(const nlohmann::json& entry, const char* key) {
  return entry.contains(key) ? std::optional(entry.at(key).get<Count>()) : std::nullopt;
}

ArchitectureTable parse_table() {
  constexpr std::string_view file = "gguf_architectures.json";
  const nlohmann::json document = parse_json(catalogue::embedded_file(file).value(), file);
  ArchitectureTable table;
  for (const auto& [architecture, entry] : document.at("windows").items()) {
    table.windows.emplace(architecture, GgufWindowRule{.period = entry.value("period", Count{0}),
                                                       .dense_first = entry.value("dense_first", false),
                                                       .off = entry.value("off", false),
                                                       .tokens = optional_count(entry, "tokens"),
                                                       .layers = optional_count(entry, "layers")});
  }
  for (const nlohmann::json& architecture : document.at("values_may_be_keys")) {
    table.values_may_be_keys.insert(architecture.get<std::string>());
  }
  return table;
}

const ArchitectureTable& table() {
  static const ArchitectureTable parsed = parse_table();
  return parsed;
}

} // namespace

const GgufWindowRule* find_window_rule(std::string_view architecture, Count layers) {
  const auto found = table().windows.find(architecture);
  const bool holds = found != table().windows.end() && found->second.layers.value_or(layers) == layers;
  return holds ? &found->second : nullptr;
}

bool values_may_be_keys(std::string_view architecture) { return table().values_may_be_keys.contains(architecture); }

} // namespace tokenroof::readers
