#include "readers/network_facts.hpp"

#include <algorithm>
#include <array>
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
json of_all_layers(const json& value, const std::string& key) {
  if (!value.is_array() || value.empty()) {
    return value;
  }
  if (std::any_of(value.begin(), value.end(), [&](const json& other) { return other != value.front(); })) {
    throw InvalidSpec(key, "array", "values that differ from layer to layer are not supported");
  }
  return value.front();
}

json modified(json value, const json& spec) {
  if (spec.contains("equals")) {
    return value == spec.at("equals");
  }
  if (value.is_number_integer() && value >= 0 && value < (Count{1} << 40)) {
    value = value.get<Count>() + spec.value("plus", Count{0});
    value = value.get<Count>() / spec.value("divided_by", Count{1});
  }
  return value;
}

} // namespace

NetworkFacts::NetworkFacts(const json& config, const NetworkClass& network_class, std::string path)
    : config_(config), class_(network_class), path_(std::move(path)) {}

void NetworkFacts::assume(std::string note) {
  if (std::find(assumptions_.begin(), assumptions_.end(), note) == assumptions_.end()) {
    assumptions_.push_back(std::move(note));
  }
}

const json* NetworkFacts::in_config(std::string_view key) const {
  const json* at = &config_;
  while (at->is_object()) {
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
  return nullptr;
}

NetworkFacts::Value NetworkFacts::lookup(const std::string& key) {
  bool present = false;
  const auto spelt = [&](const std::string& spelling) {
    const json* value = in_config(spelling);
    present = present || value != nullptr;
    return value != nullptr && !value->is_null() ? value : nullptr;
  };
  if (const json* value = spelt(key)) {
    return {*value, key};
  }
  for (const std::string& alias : key_aliases(key)) {
    if (const json* value = spelt(alias)) {
      return {*value, alias};
    }
  }
  const auto fallback = class_.defaults.find(key);
  if (present || fallback == class_.defaults.end() || fallback->second.is_null()) {
    return {nullptr, key};
  }
  assume(key + " is absent: " + shown(fallback->second) + ", the default of " + class_.name);
  return {fallback->second, key};
}

bool NetworkFacts::holds(const json& condition) {
  for (const auto& [key, value] : condition.items()) {
    if (lookup(key).value != value) {
      return false;
    }
  }
  return true;
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
    return {spec, {}};
  }
  if (spec.contains("value")) {
    return {spec.at("value"), {}};
  }
  Value found = lookup(spec.at("key"));
  found.value = modified(std::move(found.value), spec);
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
  const json value = of_all_layers(found.value, found.key);
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
  if (found.value.is_null()) {
    return absent;
  }
  if (!found.value.is_boolean()) {
    throw InvalidSpec(found.key, shown(found.value), "must be true or false");
  }
  return found.value.get<bool>();
}

std::string NetworkFacts::text(std::string_view fact) {
  const Value found = find(fact);
  if (found.value.is_null()) {
    return {};
  }
  if (!found.value.is_string()) {
    throw InvalidSpec(found.key, shown(found.value), "must be text");
  }
  return found.value.get<std::string>();
}

std::optional<json> NetworkFacts::list(std::string_view fact) {
  const Value found = find(fact);
  if (found.value.is_null()) {
    return std::nullopt;
  }
  if (!found.value.is_array()) {
    throw InvalidSpec(found.key, shown(found.value), "must be a list");
  }
  return found.value;
}

std::string NetworkFacts::key_of(std::string_view fact) const {
  NetworkFacts copy(config_, class_, path_);
  return copy.find(fact).key;
}

} // namespace tokenroof::readers
