/// @file
/// CSV from files that nobody vouches for, row by row in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace tokenroof::readers {

/// What a row may be at most.
struct CsvLimits {
  std::size_t field_bytes = std::size_t{64} << 10;
  std::size_t row_bytes = std::size_t{1} << 20;
  std::size_t fields = 1024;
};

/// Reads RFC 4180 @cite rfc4180: fields between commas, quoted ones with line ends, commas and doubled quotes in them.
/// Beyond it: a line may end in LF alone, a byte order mark in front and empty lines are skipped.
class CsvReader {
public:
  /// `name` stands for the file in messages; `in` must outlive the reader and should be binary.
  CsvReader(std::istream& in, std::string name, const CsvLimits& limits = {});

  /// Replaces `fields` by those of the next row; false where there is none.
  /// Throws ParseError, naming the line, for what is no CSV or exceeds the limits.
  [[nodiscard]] bool next(std::vector<std::string>& fields);

  /// The line, from 1, in which the last row began.
  [[nodiscard]] std::uint64_t line() const noexcept { return row_line_; }
  /// Bytes of the file that have been looked at.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Throws ParseError for the last row.
  [[noreturn]] void fail(std::string_view reason) const;

private:
  static constexpr int end_of_file = -1;

  [[nodiscard]] int get();
  void skip_byte_order_mark();
  /// Reads the row that begins with `c`; each reads up to the separator behind a field, and returns it.
  void read_row(std::vector<std::string>& fields, int c);
  [[nodiscard]] int read_plain(std::string& field, int c);
  [[nodiscard]] int read_quoted(std::string& field);
  void append(std::string& field, int c);
  [[nodiscard]] int after_line_end(int c);
  [[noreturn]] void fail_at(std::uint64_t line, std::string_view reason) const;

  std::streambuf& in_;
  std::string name_;
  CsvLimits limits_;
  std::uint64_t line_ = 1;
  std::uint64_t row_line_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t row_begin_ = 0;
};

} // namespace tokenroof::readers
