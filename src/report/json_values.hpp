/// @file
/// Values as every JSON form writes them.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tokenroof/text.hpp"

namespace tokenroof::report {

/// Keeps the order in which keys were added.
using Json = nlohmann::ordered_json;

/// Null for what is not a number; whole numbers without a fraction, as bytes and tokens are.
[[nodiscard]] Json number(double value);

template <std::integral Whole>
[[nodiscard]] Json number(Whole value) {
  return value;
}

/// In the base unit: bytes, seconds, bytes per second.
template <Printable Quantity>
[[nodiscard]] Json number(const Quantity& quantity) {
  return number(quantity.value());
}

template <class Number>
[[nodiscard]] Json number(const std::optional<Number>& value) {
  return value ? number(*value) : Json();
}

/// Null for an empty text.
[[nodiscard]] inline Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

/// The document; all on one line where `indent` is negative. Bytes that are no UTF-8, which names from files may hold,
/// are replaced.
[[nodiscard]] std::string dump(const Json& document, int indent);

} // namespace tokenroof::report
