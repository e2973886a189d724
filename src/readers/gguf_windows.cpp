#include "readers/gguf_windows.hpp"

#include <utility>

#include "readers/gguf_architectures.hpp"

namespace tokenroof::readers {
namespace {

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
  const GgufWindowRule* rule = find_window_rule(metadata.architecture(), layers);
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
