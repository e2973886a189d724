/// @file
/// Measured rows against predictions. (tokenroof::tokenroof)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/predict.hpp"

namespace tokenroof::validation {

/// What became of a row.
enum class Outcome : std::uint8_t {
  compared,    ///< predicted, and counted in the errors
  set_aside,   ///< predicted, but the row contradicts physics, and counts in no error
  unpredicted, ///< its metric is one we claim, and something else was not understood
  not_claimed, ///< a metric that we do not claim to predict
};

inline constexpr std::size_t outcome_count = 4;

[[nodiscard]] std::string_view name(Outcome outcome);

/// A measurement with its prediction, both in the unit of the metric.
struct Row {
  std::uint64_t line = 0; ///< of the file, from 1
  std::string id{};
  std::string metric{};
  Outcome outcome = Outcome::unpredicted;
  double measured = std::numeric_limits<double>::quiet_NaN();
  double predicted = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(); ///< of the 80 % interval; NaN where there is none
  double high = std::numeric_limits<double>::quiet_NaN();
  Trust trust = Trust::datasheet;
  std::string reason{}; ///< why it was not compared, or what was taken from the row's own log
};

/// How many rows had one reason.
struct ReasonCount {
  std::string reason{};
  std::uint64_t rows = 0;
};

/// What the rows of one group have come to. Errors are relative: |predicted - measured| / measured.
struct Group {
  std::vector<std::string> key{}; ///< a text for each column of `Options::group_by`
  std::array<std::uint64_t, outcome_count> rows{};
  double median_error = std::numeric_limits<double>::quiet_NaN();
  double p90_error = std::numeric_limits<double>::quiet_NaN();
  double bias = std::numeric_limits<double>::quiet_NaN(); ///< geometric mean of predicted / measured, less 1
  double inside = std::numeric_limits<double>::quiet_NaN(); ///< part of the rows with an interval that lie in it
  bool exact_quantiles = true;                            ///< false: within 0.5 % of the exact ones
  std::vector<ReasonCount> reasons{};                     ///< of rows that were not compared, most frequent first

  [[nodiscard]] std::uint64_t of(Outcome outcome) const { return rows[static_cast<std::size_t>(outcome)]; }
};

/// Rows whose metric we claim.
[[nodiscard]] inline std::uint64_t claimed(const Group& group) {
  return group.of(Outcome::compared) + group.of(Outcome::set_aside) + group.of(Outcome::unpredicted);
}

/// The part of the claimed rows that was predicted, in [0, 1]; NaN where none is claimed.
[[nodiscard]] inline double coverage(const Group& group) {
  const auto predicted = static_cast<double>(group.of(Outcome::compared) + group.of(Outcome::set_aside));
  return claimed(group) > 0 ? predicted / static_cast<double>(claimed(group))
                            : std::numeric_limits<double>::quiet_NaN();
}

struct Report {
  std::vector<std::string> group_by{};
  Group total{};                ///< of all rows; its key is empty
  std::vector<Group> groups{};  ///< sorted by key
  std::vector<Row> set_aside{}; ///< the first ones, at most `most_listed`

  static constexpr std::size_t most_listed = 1000;
};

struct Options {
  /// Columns of the file, or `network`, `device`, `engine` and `quantity` for what names, and the metric's name, were
  /// resolved to. What a file has no column for is empty.
  std::vector<std::string> group_by = {"framework", "version", "metric"};
  std::function<void(const Row&)> on_row{};               ///< called for each row, in the order of the file
  std::function<void(std::uint64_t bytes)> on_progress{}; ///< called now and then with the bytes read so far
};

/// Reads a CSV file of measurements, predicts each row and compares. Memory does not grow with the number of rows: errors'
/// quantiles are exact up to 1024 rows a group and sketched from there; groups beyond 2000 share one, "(others)".
///
/// Necessary columns: framework, hardware, model, weight_format, metric, value. Others are used where they are there:
/// docs/validation.md lists them, and what is read from the column `notes`.
/// Throws ParseError for a file that cannot be read, InvalidSpec for an unknown column in `group_by`.
[[nodiscard]] Report validate(const std::filesystem::path& path, const Options& options = {});

/// The same for a text from elsewhere; `name` stands for the file in messages.
[[nodiscard]] Report validate(std::istream& csv, std::string_view name, const Options& options = {});

} // namespace tokenroof::validation
