/// @file
/// A result of a benchmark: what it states under which name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tokenroof::calibration {

/// Texts, numbers and truths by name, as texts; what else a benchmark writes is left out.
class Record {
public:
  Record() = default;
  explicit Record(const nlohmann::json& object);

  void set(std::string_view name, std::string_view text) { texts_.insert_or_assign(std::string(name), text); }

  [[nodiscard]] bool has(std::string_view name) const { return texts_.find(name) != texts_.end(); }
  /// Empty where there is none.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Nothing where there is none, or something else.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  /// The first of some names that states a number.
  [[nodiscard]] std::optional<double> number_of(std::initializer_list<std::string_view> names) const;

private:
  std::map<std::string, std::string, std::less<>> texts_{};
};

/// The objects of a JSON text: a list, one alone, or one a line. Throws ParseError.
[[nodiscard]] std::vector<Record> records_in_json(std::string_view text, std::string_view name);

/// The rows of a CSV text by the names in its header. Throws ParseError.
[[nodiscard]] std::vector<Record> records_in_csv(std::string_view text, std::string_view name);

} // namespace tokenroof::calibration
