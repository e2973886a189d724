#include "readers/gguf_windows.hpp"

#include <map>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"

namespace tokenroof::readers {
namespace {

/// What engines know about the windows of an architecture.
struct WindowRule {
  Count period = 0;
  bool dense_first = false;
  bool off = false;
  std::optional<Count> tokens{}; ///< the window where the file states none
  std::optional<Count> layers{}; ///< for files of so many layers only
};

using WindowRules = std::map<std::string, WindowRule, std::less<>>;

std::optional<Count> optional_count(const nlohmann::json& entry, const char* key) {
  return entry.contains(key) ? std::optional(entry.at(key).get<Count>()) : std::nullopt;
}

WindowRules parse_rules() {
  constexpr std::string_view file = "gguf_architectures.json";
  const nlohmann::json document = parse_json(catalogue::embedded_file(file).value(), file);
  WindowRules rules;
  for (const auto& [architecture, entry] : document.at("windows").items()) {
    rules.emplace(architecture, WindowRule{.period = entry.value("period", Count{0}),
                                           .dense_first = entry.value("dense_first", false),
                                           .off = entry.value("off", false),
                                           .tokens = optional_count(entry, "tokens"),
                                           .layers = optional_count(entry, "layers")});
  }
  return rules;
}

const WindowRule* rule_for(const std::string& architecture, Count layers) {
  static const WindowRules rules = parse_rules();
  const auto found = rules.find(architecture);
  const bool holds = found != rules.end() && found->second.layers.value_or(layers) == layers;
  return holds ? &found->second : nullptr;
}

std::vector<bool> by_period(Count period, bool dense_first, Count layers) {
  std::vector<bool> windowed;
  for (Count layer = 0; layer < layers; ++layer) {
    windowed.push_back(period == 0 || layer % period != (dense_first ? 0 : period - 1));
  }
  return windowed;
}

constexpr std::string_view window_fact = "attention.sliding_window";
constexpr std::string_view pattern_fact = "attention.sliding_window_pattern";

} // namespace

GgufWindows::GgufWindows(const GgufMetadata& metadata, Count layers, std::vector<std::string>& assumptions) {
  const WindowRule* rule = rule_for(metadata.architecture(), layers);
  const auto stated = metadata.find_count(window_fact);
  const Count tokens = stated.value_or(rule != nullptr ? rule->tokens.value_or(0) : 0);
  if (tokens == 0) {
    return;
  }
  const std::string window = std::to_string(tokens) + " tokens";
  if (auto listed = metadata.flags(pattern_fact, layers)) {
    windowed_ = std::move(*listed);
  } else if (rule != nullptr && rule->off) {
    assumptions.push_back(metadata.key(window_fact) + ": engines do not apply the window of " + window);
    return;
  } else if (const auto period = metadata.find_count(pattern_fact)) {
    windowed_ = by_period(*period, rule != nullptr && rule->dense_first, layers);
  } else if (rule != nullptr) {
    windowed_ = by_period(rule->period, rule->dense_first, layers);
    assumptions.push_back("a window of " + window + " in all but each " + std::to_string(rule->period) +
                          "th layer, as engines do for " + metadata.architecture());
  } else {
    assumptions.push_back(metadata.key(window_fact) + ": no layer is taken to have the window of " + window +
                          ", since the file does not say which ones do");
    return;
  }
  window_ = Tokens::from_value(static_cast<double>(tokens));
}

std::optional<Tokens> GgufWindows::of_layer(Count layer) const {
  return window_ && windowed_[static_cast<std::size_t>(layer)] ? window_ : std::nullopt;
}

} // namespace tokenroof::readers
