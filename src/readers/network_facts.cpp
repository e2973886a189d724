#include "readers/network_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {

namespace {

using nlohmann::json;

constexpr Count most_of_a_dimension = Count{1} << 18;

struct Bound {
  std::string_view fact;
  Count most;
};

// Wide enough for networks ten times today's, and such that no product of a tensor's dimensions and counts overflows.
constexpr std::array bounds = {
    Bound{"layers", 2048},
    Bound{"experts", 4096},
    Bound{"width", Count{1} << 19},
    Bound{"expert_width", Count{1} << 19},
    Bound{"shared_width", Count{1} << 19},
    Bound{"vocabulary", Count{1} << 24},
    Bound{"learned_positions", Count{1} << 24},
    Bound{"context", Count{1} << 40},
    Bound{"window", Count{1} << 40},
    Bound{"heads", 4096},
    Bound{"kv_heads", 4096},
    Bound{"head_dim", 8192},
    Bound{"value_head_dim", 8192},
    Bound{"nope_head_dim", 8192},
    Bound{"rope_head_dim", 8192},
    Bound{"prediction_heads", 64},
    Bound{"index_heads", 4096},
    Bound{"index_head_dim", 8192},
    Bound{"selected", Count{1} << 40},
    Bound{"compressed_ratio", Count{1} << 20},
    Bound{"output_groups", 4096},
    Bound{"linear_key_heads", 4096},
    Bound{"linear_value_heads", 4096},
    Bound{"linear_key_head_dim", 8192},
    Bound{"linear_value_head_dim", 8192},
    Bound{"state_heads", 4096},
    Bound{"state_head_dim", 8192},
    Bound{"state", 8192},
    Bound{"state_groups", 4096},
    Bound{"convolution", 1024},
    Bound{"step_rank", Count{1} << 16},
    Bound{"per_layer_width", 8192},
    Bound{"per_layer_vocabulary", Count{1} << 24},
    Bound{"residual_streams", 64},
};

Count most(std::string_view fact) {
  const auto found = std::find_if(bounds.begin(), bounds.end(), [&](const Bound& b) { return b.fact == fact; });
  return found == bounds.end() ? most_of_a_dimension : found->most;
}

/// Text of a value for a message, short whatever the file holds.
std::string shown(const json& value) {
  const std::string text =
      value.is_structured() ? value.type_name() : value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 40) + "...";
}

/// Values that a file gives by layer are one value where all layers agree.
const json& of_all_layers(const json& value, const std::string& key) {
  if (!value.is_array() || value.empty()) {
    return value;
  }
  if (std::any_of(value.begin(), value.end(), [&](const json& other) { return other != value.front(); })) {
    throw InvalidSpec(key, "array", "values that differ from layer to layer are not supported");
  }
  return value.front();
}

} // namespace

NetworkFacts::NetworkFacts(const json& config, const NetworkClass& network_class, std::string path)
    : config_(config), class_(network_class), path_(std::move(path)) {}

void NetworkFacts::assume(std::string note) {
  if (std::find(assumptions_.begin(), assumptions_.end(), note) == assumptions_.end()) {
    assumptions_.push_back(std::move(note));
  }
}

void NetworkFacts::enter_layer(Count layer, Count layers) {
  layer_ = static_cast<std::size_t>(layer);
  layers_ = static_cast<std::size_t>(layers);
}

void NetworkFacts::leave_layers() {
  layer_.reset();
  words_.clear();
}

const json* NetworkFacts::in_config(std::string_view key) const {
  const json* at = &config_;
  while (true) {
    if (at->is_array() && layer_ && *layer_ < at->size()) {
      at = &(*at)[*layer_];
    }
    if (!at->is_object()) {
      return nullptr;
    }
    const std::size_t dot = key.find('.');
    const auto found = at->find(key.substr(0, dot));
    if (found == at->end()) {
      return nullptr;
    }
    if (dot == std::string_view::npos) {
      return &*found;
    }
    at = &*found;
    key.remove_prefix(dot + 1);
  }
}

/// Lists may go on beyond the last layer: prediction modules have entries too. A shorter one counts where all agree.
const json* NetworkFacts::of_layer(const json* value, const std::string& key) const {
  if (!layer_ || !value->is_array() || value->empty()) {
    return value;
  }
  if (value->size() >= layers_) {
    return &(*value)[*layer_];
  }
  if (std::any_of(value->begin(), value->end(), [&](const json& other) { return other != value->front(); })) {
    throw InvalidSpec(key, std::to_string(value->size()) + " entries",
                      "must have one for each of " + std::to_string(layers_) + " layers");
  }
  return &value->front();
}

NetworkFacts::Value NetworkFacts::lookup(const std::string& key) {
  if (const auto word = words_.find(key); word != words_.end()) {
    return {&word->second, key};
  }
  bool present = false;
  const auto spelt = [&](const std::string& spelling) {
    const json* value = in_config(spelling);
    present = present || value != nullptr;
    return value != nullptr && !value->is_null() ? of_layer(value, spelling) : nullptr;
  };
  if (const json* value = spelt(key)) {
    return {value, key};
  }
  for (const std::string& alias : key_aliases(key)) {
    if (const json* value = spelt(alias)) {
      return {value, alias};
    }
  }
  const auto fallback = class_.defaults.find(key);
  if (present || fallback == class_.defaults.end() || fallback->second.is_null()) {
    return {nullptr, key};
  }
  assume(key + " is absent: " + shown(fallback->second) + ", the default of " + class_.name);
  return {&fallback->second, key};
}

bool NetworkFacts::holds(const json& condition) {
  for (const auto& [key, value] : condition.items()) {
    if (lookup(key).get() != value) {
      return false;
    }
  }
  return true;
}

/// A number, or the number under a key; nothing where there is none.
std::optional<double> NetworkFacts::operand(const json& spec) {
  const json value = spec.is_string() ? lookup(spec.get<std::string>()).get() : spec;
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// The product of all that a spec lists, 1 for what is absent.
double NetworkFacts::product(const json& spec) {
  if (!spec.is_array()) {
    return operand(spec).value_or(1);
  }
  double all = 1;
  for (const json& factor : spec) {
    all *= operand(factor).value_or(1);
  }
  return all;
}

void NetworkFacts::modify(Value& value, const json& spec) {
  if (spec.contains("equals")) {
    value.replace(value.get() == spec.at("equals"));
    return;
  }
  const bool changes = spec.contains("plus") || spec.contains("times") || spec.contains("divided_by") ||
                       spec.contains("round_up") || spec.contains("round_down");
  const json& found = value.get();
  if (!changes || !(spec.contains("times") ? found.is_number() : found.is_number_integer())) {
    return;
  }
  constexpr double most_exact = 0x1p40;
  const double divisor = product(spec.value("divided_by", json(1)));
  double number = std::floor((found.get<double>() + spec.value("plus", 0.0)) * product(spec.value("times", json(1))) /
                             (divisor > 0 ? divisor : 1));
  if (const double multiple = product(spec.value("round_up", json(1))); multiple > 1) {
    number = std::ceil(number / multiple) * multiple;
  }
  if (const double multiple = product(spec.value("round_down", json(1))); multiple > 1) {
    number = std::floor(number / multiple) * multiple;
  }
  if (number >= 0 && number < most_exact) {
    value.replace(static_cast<Count>(number));
  }
}

NetworkFacts::Value NetworkFacts::resolve(const json& spec) {
  if (spec.is_array()) {
    for (const json& alternative : spec) {
      if (!alternative.is_object() || !alternative.contains("when") || holds(alternative.at("when"))) {
        return resolve(alternative);
      }
    }
    return {};
  }
  if (!spec.is_object()) {
    return {&spec, {}};
  }
  if (spec.contains("value")) {
    return {&spec.at("value"), {}};
  }
  Value found = lookup(spec.at("key"));
  modify(found, spec);
  return found;
}

NetworkFacts::Value NetworkFacts::find(std::string_view fact) {
  const auto spec = class_.facts.find(fact);
  Value found = spec == class_.facts.end() ? Value{} : resolve(spec->second);
  if (found.key.empty()) {
    found.key = fact;
  }
  return found;
}

std::optional<Count> NetworkFacts::find_count(std::string_view fact) {
  const Value found = find(fact);
  const json& value = of_all_layers(found.get(), found.key);
  if (value.is_null()) {
    return std::nullopt;
  }
  if (!value.is_number_integer()) {
    throw InvalidSpec(found.key, shown(value), "must be a whole number");
  }
  if (value < 0 || value > most(fact)) {
    throw InvalidSpec(found.key, shown(value), "must lie between 0 and " + std::to_string(most(fact)));
  }
  return value.get<Count>();
}

Count NetworkFacts::count(std::string_view fact) {
  const auto found = find_count(fact);
  if (!found) {
    throw ParseError(path_, find(fact).key, "is missing, and has no default");
  }
  if (*found == 0) {
    throw InvalidSpec(find(fact).key, "0", "must be positive");
  }
  return *found;
}

bool NetworkFacts::flag(std::string_view fact, bool absent) {
  const Value found = find(fact);
  if (found.get().is_null()) {
    return absent;
  }
  if (!found.get().is_boolean()) {
    throw InvalidSpec(found.key, shown(found.get()), "must be true or false");
  }
  return found.get().get<bool>();
}

std::string NetworkFacts::text(std::string_view fact) {
  const Value found = find(fact);
  if (found.get().is_null()) {
    return {};
  }
  if (!found.get().is_string()) {
    throw InvalidSpec(found.key, shown(found.get()), "must be text");
  }
  return found.get().get<std::string>();
}

const json* NetworkFacts::list(std::string_view fact) {
  const Value found = find(fact);
  if (found.get().is_null()) {
    return nullptr;
  }
  if (!found.get().is_array()) {
    throw InvalidSpec(found.key, shown(found.get()), "must be a list");
  }
  return &found.get();
}

bool NetworkFacts::is_text(std::string_view fact) { return find(fact).get().is_string(); }

std::string NetworkFacts::word(std::string_view fact) {
  const Value found = find(fact);
  if (found.get().is_null()) {
    return {};
  }
  return found.get().is_string() ? found.get().get<std::string>() : shown(found.get());
}

bool NetworkFacts::has(std::string_view fact) { return !find(fact).get().is_null(); }

std::string NetworkFacts::key_of(std::string_view fact) const {
  NetworkFacts copy(config_, class_, path_);
  copy.layer_ = layer_;
  copy.layers_ = layers_;
  copy.words_ = words_;
  return copy.find(fact).key;
}

} // namespace tokenroof::readers
