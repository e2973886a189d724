#include "readers/json_object.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "readers/printable.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"

namespace tokenroof::readers {
namespace {

void check_key(std::string_view key, const JsonPlace& place, std::span<const std::string_view> known) {
  if (std::find(known.begin(), known.end(), key) != known.end()) {
    return;
  }
  throw ParseError(place.file, place.key(key.substr(0, 128)).keys,
                   "unknown key" + nearest_as_text(nearest_names(key, known)));
}

template <typename Value>
Value required(std::optional<Value> value, std::string_view key, const JsonPlace& place) {
  if (!value) {
    throw ParseError(place.file, place.key(key).keys, "missing");
  }
  return *value;
}

} // namespace

JsonPlace JsonPlace::key(std::string_view name) const {
  return {file, keys + (keys.empty() ? "" : ".") + std::string(name)};
}

JsonPlace JsonPlace::element(std::size_t index) const { return {file, keys + "[" + std::to_string(index) + "]"}; }

std::string shortened(const nlohmann::json& value) {
  constexpr std::size_t most = 60;
  if (value.is_structured()) {
    return value.is_array() ? "an array" : "an object"; // may be long, and nested
  }
  // Bytes that are no UTF-8 never come this far, but a cut through a character does.
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > most) {
    text = text.substr(0, most) + "...";
  }
  return text;
}

void throw_not(std::string_view expected, const nlohmann::json& value, const JsonPlace& place) {
  throw ParseError(place.file, place.keys, shortened(value) + " is not " + std::string(expected));
}

JsonObject::JsonObject(const nlohmann::json& value, JsonPlace place, std::span<const std::string_view> known)
    : value_(&value), place_(std::move(place)) {
  if (!value.is_object()) {
    throw_not("an object", value, place_);
  }
  for (const auto& item : value.items()) {
    check_key(item.key(), place_, known);
  }
}

const nlohmann::json* JsonObject::find(std::string_view key) const {
  const auto item = value_->find(key);
  return item == value_->end() ? nullptr : &*item;
}

const nlohmann::json& JsonObject::at(std::string_view key) const {
  const nlohmann::json* value = find(key);
  return *required(value ? std::optional(value) : std::nullopt, key, place_);
}

std::optional<double> JsonObject::number(std::string_view key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_number()) {
    throw_not("a number", *value, place_.key(key));
  }
  return value->get<double>();
}

const nlohmann::json& JsonObject::array(std::string_view key, std::size_t most) const {
  static const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return none;
  }
  if (!value->is_array()) {
    throw_not("an array", *value, place_.key(key));
  }
  if (value->size() > most) {
    throw InvalidSpec(place_.key(key).keys, std::to_string(value->size()) + " elements",
                      "at most " + std::to_string(most));
  }
  return *value;
}

std::size_t JsonObject::one_of(std::string_view key, std::span<const std::string_view> names) const {
  const std::string_view text = required_text(key, 48);
  const auto name = std::find(names.begin(), names.end(), text);
  if (name == names.end()) {
    std::string reason = "must be one of";
    for (const std::string_view known : names) {
      reason += " " + std::string(known);
    }
    throw InvalidSpec(place_.key(key).keys, std::string(text), reason);
  }
  return static_cast<std::size_t>(name - names.begin());
}

std::optional<double> JsonObject::positive(std::string_view key, double most) const {
  const std::optional<double> number = this->number(key);
  if (number && !(*number > 0 && *number <= most)) {
    throw InvalidSpec(place_.key(key).keys, shortened(*find(key)),
                      "must be above 0 and at most " + shortened(nlohmann::json(most)));
  }
  return number;
}

std::optional<double> JsonObject::count(std::string_view key, double most) const {
  const std::optional<double> number = positive(key, most);
  if (number && std::floor(*number) != *number) {
    throw InvalidSpec(place_.key(key).keys, shortened(*find(key)), "must be a whole number");
  }
  return number;
}

std::optional<std::string_view> JsonObject::text(std::string_view key, std::size_t most_bytes) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    throw_not("a text", *value, place_.key(key));
  }
  const std::string_view text = value->get_ref<const std::string&>();
  if (text.empty() || text.size() > most_bytes) {
    throw InvalidSpec(place_.key(key).keys, shortened(*value),
                      "must have 1 to " + std::to_string(most_bytes) + " bytes");
  }
  if (std::any_of(text.begin(), text.end(), is_control)) {
    throw InvalidSpec(place_.key(key).keys, shortened(*value), "must not hold control characters");
  }
  return text;
}

double JsonObject::required_positive(std::string_view key, double most) const {
  return required(positive(key, most), key, place_);
}

std::string_view JsonObject::required_text(std::string_view key, std::size_t most_bytes) const {
  return required(text(key, most_bytes), key, place_);
}

} // namespace tokenroof::readers
