/// @file
/// A JSON object of known keys: what is unknown, of another type or out of range is an error that names the key.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tokenroof::readers {

/// Where a value stands: the file, and the keys that lead to it.
struct JsonPlace {
  std::string file;
  std::string keys; ///< "memory.variants[0]"; empty for the whole document

  [[nodiscard]] JsonPlace key(std::string_view name) const;
  [[nodiscard]] JsonPlace element(std::size_t index) const;
};

/// The value as JSON, shortened for a message.
[[nodiscard]] std::string shortened(const nlohmann::json& value);

/// Throws ParseError: `place` holds something else than `expected`.
[[noreturn]] void throw_not(std::string_view expected, const nlohmann::json& value, const JsonPlace& place);

/// Refers to the document, which must outlive it. Every getter throws ParseError if the value has another type.
class JsonObject {
public:
  /// Throws ParseError if `value` is no object, or if it has a key beyond `known` (the nearest ones are named).
  JsonObject(const nlohmann::json& value, JsonPlace place, std::span<const std::string_view> known);

  [[nodiscard]] const JsonPlace& place() const noexcept { return place_; }

  /// The value of a key, or nullptr. null is a value, and none of the types below: what is missing has no key.
  [[nodiscard]] const nlohmann::json* find(std::string_view key) const;
  /// Throws ParseError if the key is missing.
  [[nodiscard]] const nlohmann::json& at(std::string_view key) const;

  /// A number in (0, most]. Throws InvalidSpec if it is out of range.
  [[nodiscard]] std::optional<double> positive(std::string_view key, double most) const;
  /// A whole number in [1, most]. Throws InvalidSpec if it is out of range or not whole.
  [[nodiscard]] std::optional<double> count(std::string_view key, double most) const;
  /// A text of 1 to `most_bytes` bytes. Throws InvalidSpec if it is longer or empty.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view key, std::size_t most_bytes) const;

  /// A number of any size and sign; all numbers of a document are finite.
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  /// A list of at most `most` elements; empty where the key is missing. Throws InvalidSpec if it is longer.
  [[nodiscard]] const nlohmann::json& array(std::string_view key, std::size_t most) const;
  /// The index of the name that a key must hold. Throws InvalidSpec, listing all names, for another.
  [[nodiscard]] std::size_t one_of(std::string_view key, std::span<const std::string_view> names) const;

  /// The same for keys that must be there: ParseError if they are missing.
  [[nodiscard]] double required_positive(std::string_view key, double most) const;
  [[nodiscard]] std::string_view required_text(std::string_view key, std::size_t most_bytes) const;

private:
  const nlohmann::json* value_;
  JsonPlace place_;
};

} // namespace tokenroof::readers
