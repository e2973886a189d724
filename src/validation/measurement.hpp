/// @file
/// A row of a measurements file, its columns found by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/csv_reader.hpp"

namespace tokenroof::validation {

/// What a row may state.
enum class Column : std::uint8_t {
  id,
  source,
  framework,
  version,
  backend,
  hardware,
  devices,
  tensor,
  pipeline,
  expert,
  data,
  model,
  weight_format,
  kv_format,
  batch,
  concurrency,
  batching,
  prompt,
  output,
  context_depth,
  context_limit,
  sequences,
  memory_fraction,
  metric,
  value,
  unit,
  notes,
};

inline constexpr std::size_t column_count = 27;

/// A row's texts, without spaces around them; a column that the file lacks is empty.
struct Measurement {
  std::uint64_t line = 0;
  std::array<std::string, column_count> texts{};
  std::vector<std::string> group{}; ///< texts of the columns by which rows are grouped

  [[nodiscard]] const std::string& operator[](Column column) const { return texts[static_cast<std::size_t>(column)]; }
  [[nodiscard]] std::string& operator[](Column column) { return texts[static_cast<std::size_t>(column)]; }
};

/// The finite number that a text consists of; nothing where it is something else or empty.
[[nodiscard]] std::optional<double> number_in(std::string_view text);

/// Reads measurements from a CSV file with a header. Columns are known by name, in any order; others are ignored.
class MeasurementReader {
public:
  /// Rows are grouped by the columns `group_by`, each under any of its names; what is one of `elsewhere` stays empty.
  /// Throws ParseError where a necessary column is missing or a name stands twice, InvalidSpec for an unknown group.
  MeasurementReader(readers::CsvReader& csv, std::span<const std::string> group_by,
                    std::span<const std::string_view> elsewhere);

  /// Fills `row`; false at the end. Throws ParseError.
  [[nodiscard]] bool next(Measurement& row);

private:
  void find_columns();
  [[nodiscard]] std::optional<std::size_t> field_named(std::string_view name) const;
  [[nodiscard]] std::string_view text_of(std::optional<std::size_t> field) const;

  readers::CsvReader& csv_;
  std::vector<std::string> header_{};
  std::vector<std::string> fields_{};
  std::array<std::optional<std::size_t>, column_count> field_of_{};
  std::vector<std::optional<std::size_t>> group_fields_{};
};

} // namespace tokenroof::validation
