/// @file
/// Columns of text that line up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokenroof::report {

enum class Align : unsigned char {
  left,
  right,
  unit, ///< left, one space behind the number in the column before
};

/// Rows of cells; columns are as wide as their widest cell, two spaces apart. Nothing is padded at a line's end.
class Table {
public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// All rows, each indented by that many spaces and ended by a newline. With a width, the last column is wrapped to end
  /// there: beside the others, or below them where they leave it no room.
  [[nodiscard]] std::string str(std::size_t indent = 0, std::size_t width = 0) const;

private:
  using Row = std::vector<std::string>;

  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::string padded(const Row& row, std::size_t column, std::size_t width) const;

  std::vector<Align> columns_;
  std::vector<Row> rows_{};
};

/// Columns a text takes in a terminal: code points of UTF-8, escape sequences aside.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The text, broken between words so that no line is wider than `room`, unless one word is. Lines after the first begin
/// with `indent` spaces, which `room` does not count.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t room, std::size_t indent);

/// "8.03 B", "494 M": counts of parameters.
[[nodiscard]] std::string count_text(double count);

/// "41 %"; "< 1 %" for what would round to nothing.
[[nodiscard]] std::string percent_text(double share);

} // namespace tokenroof::report
