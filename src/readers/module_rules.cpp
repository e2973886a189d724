#include "readers/module_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "readers/module_names.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::readers {
namespace {

constexpr std::string_view expression_mark = "re:";

constexpr RoleSet experts = {TensorRole::expert_gate, TensorRole::expert_up, TensorRole::expert_down};
constexpr RoleSet outside = {
    TensorRole::token_embedding,      TensorRole::tied_embedding, TensorRole::position_embedding,
    TensorRole::embedding_projection, TensorRole::lm_head,        TensorRole::prediction_projection,
    TensorRole::per_layer_embedding};
constexpr RoleSet never = {TensorRole::convolution, TensorRole::position_embedding};
constexpr RoleSet small = {TensorRole::router, TensorRole::shared_expert_router, TensorRole::indexer_weights,
                           TensorRole::residual_mixing};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The layer of a name such as model.layers.12.mlp; nothing where its number is no component of its own.
std::optional<Count> layer_in(std::string_view pattern) {
  constexpr std::string_view before = "layers.";
  const std::size_t found = pattern.find(before);
  if (found == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view number = pattern.substr(found + before.size());
  Count layer = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), layer);
  const bool whole = parsed.ptr == number.data() + number.size() || *parsed.ptr == '.';
  return parsed.ec == std::errc() && whole ? std::optional(layer) : std::nullopt;
}

/// The name of the module that a pattern is about, more or less: without marks.
std::string without_marks(std::string_view pattern) {
  std::string text(pattern.substr(pattern.starts_with(expression_mark) ? expression_mark.size() : 0));
  for (const std::string_view mark : {".*", "*", "\\", "^", "$"}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.erase(at, mark.size());
    }
  }
  return text;
}

bool has_experts(const Network& network) {
  return std::any_of(network.layers.begin(), network.layers.end(), [](const LayerRun& run) {
    return run.block.feed_forward && std::holds_alternative<MixtureOfExperts>(*run.block.feed_forward);
  });
}

std::string shown(std::string_view pattern) {
  std::string text = "'";
  for (const char c : pattern.substr(0, 96)) {
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text + "'";
}

} // namespace

ModuleRules::ModuleRules(const QuantisationPlan& plan, const Network& network, std::vector<std::string>& notes)
    : plan_(plan), has_experts_(has_experts(network)), layers_(layer_count(network)) {
  constexpr std::size_t most_rules = 65536;
  if (plan.rules.size() > most_rules) {
    throw InvalidSpec("quantization_config", std::to_string(plan.rules.size()) + " patterns of modules",
                      std::to_string(most_rules) + " at most");
  }
  for (const QuantisationRule& stated : plan.rules) {
    const bool is_expression = stated.pattern.starts_with(expression_mark);
    const std::string pattern = is_expression ? stated.pattern : usual_spelling(stated.pattern);
    auto parsed = NamePattern::parse(pattern);
    if (!parsed) {
      notes.push_back("the pattern of modules " + shown(stated.pattern) + " is not understood and not applied");
      continue;
    }
    const bool numbered = std::any_of(pattern.begin(), pattern.end(), is_digit);
    rules_.push_back(
        {.pattern = std::move(*parsed), .stated = &stated, .is_expression = is_expression, .numbered = numbered});
    place(rules_.size() - 1, is_expression ? std::string() : pattern);
  }
}

void ModuleRules::place(std::size_t rule, const std::string& pattern) {
  if (const auto layer = layer_in(pattern)) {
    by_layer_[*layer].push_back(rule);
  } else {
    everywhere_.push_back(rule);
  }
}

bool ModuleRules::match(const Rule& rule, TensorRole role, std::optional<Count> layer) {
  constexpr std::array<std::string_view, 3> beginnings = {"model.layers.", "model.language_model.layers.",
                                                          "language_model.model.layers."};
  const std::size_t spellings = rule.is_expression ? beginnings.size() : 1;
  for (std::string_view name : module_spellings(role)) {
    const bool plain_only = name.starts_with('=');
    if (plain_only && rule.is_expression) {
      continue;
    }
    name.remove_prefix(plain_only ? 1 : 0);
    for (std::size_t i = 0; i < (layer ? spellings : 1); ++i) {
      const std::string beginning = layer ? std::string(beginnings[i]) + std::to_string(*layer) + "." : std::string();
      const std::string whole = beginning + std::string(name);
      if (rule.pattern.matches(whole, budget_)) {
        return true;
      }
    }
  }
  if (budget_.steps == 0) {
    throw InvalidSpec("quantization_config", std::to_string(rules_.size()) + " patterns of modules",
                      "take too long to apply");
  }
  return false;
}

bool ModuleRules::names(Rule& rule, TensorRole role, std::optional<Count> layer) {
  if (rule.numbered) {
    return match(rule, role, layer);
  }
  if (!rule.asked.contains(role)) {
    rule.asked = rule.asked | RoleSet{role};
    rule.named = match(rule, role, layer) ? rule.named | RoleSet{role} : rule.named;
  }
  return rule.named.contains(role);
}

const ModuleRules::Rule* ModuleRules::find(TensorRole role, std::optional<Count> layer) {
  const Rule* first = nullptr;
  const auto look = [&](std::size_t index) {
    Rule& rule = rules_[index];
    if (names(rule, role, layer)) {
      rule.used = true;
      first = first == nullptr || &rule < first ? &rule : first;
    }
  };
  std::for_each(everywhere_.begin(), everywhere_.end(), look);
  if (const auto here = by_layer_.find(layer.value_or(-1)); here != by_layer_.end()) {
    std::for_each(here->second.begin(), here->second.end(), look);
  }
  return first;
}

bool ModuleRules::within_reach(TensorRole role) const {
  switch (plan_.reach) {
  case QuantisationReach::rules:
    return false;
  case QuantisationReach::experts:
    return has_experts_ ? experts.contains(role) : !(outside | small).contains(role);
  case QuantisationReach::layers:
    return !(outside | small).contains(role);
  case QuantisationReach::everything:
    return true;
  }
  return false;
}

const QuantisedLayout* ModuleRules::layout(const Tensor& tensor, std::optional<Count> layer) {
  if (is_vector(tensor.role) || never.contains(tensor.role)) {
    return nullptr;
  }
  const QuantisedLayout* chosen = within_reach(tensor.role) ? &plan_.layout : nullptr;
  if (const Rule* rule = find(tensor.role, layer)) {
    chosen = rule->stated->layout ? &*rule->stated->layout : nullptr;
  }
  const bool whole_groups_only = plan_.reach == QuantisationReach::everything;
  return chosen != nullptr && whole_groups_only && !divides(*chosen, tensor.row_length) ? nullptr : chosen;
}

void ModuleRules::note_unused(std::vector<std::string>& notes) const {
  std::size_t count = 0;
  std::string example;
  for (const Rule& rule : rules_) {
    const std::string module = without_marks(usual_spelling(rule.stated->pattern));
    const bool beyond = layer_in(module).value_or(0) >= layers_;
    if (!rule.used && !beyond && !is_beside_matrices(module)) {
      example = count == 0 ? rule.stated->pattern : example;
      ++count;
    }
  }
  if (count > 0) {
    notes.push_back("modules that are stored in another way match nothing known of the network: " + shown(example) +
                    (count > 1 ? " and " + std::to_string(count - 1) + " more" : ""));
  }
}

} // namespace tokenroof::readers
