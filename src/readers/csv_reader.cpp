#include "readers/csv_reader.hpp"

#include <streambuf>
#include <utility>

#include "readers/printable.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {

namespace {

[[nodiscard]] bool ends_line(int c) { return c == '\n' || c == '\r'; }

} // namespace

CsvReader::CsvReader(std::istream& in, std::string name, const CsvLimits& limits)
    : in_(*in.rdbuf()), name_(std::move(name)), limits_(limits) {
  skip_byte_order_mark();
}

bool CsvReader::next(std::vector<std::string>& fields) {
  row_begin_ = bytes_;
  int c = get();
  while (ends_line(c)) {
    (void)after_line_end(c);
    row_begin_ = bytes_;
    c = get();
  }
  if (c == end_of_file) {
    fields.clear();
    return false;
  }
  row_line_ = line_;
  read_row(fields, c);
  return true;
}

void CsvReader::fail(std::string_view reason) const { fail_at(row_line_, reason); }

void CsvReader::fail_at(std::uint64_t line, std::string_view reason) const {
  throw ParseError(name_, "line " + std::to_string(line), reason);
}

int CsvReader::get() {
  const auto c = in_.sbumpc();
  if (c == std::streambuf::traits_type::eof()) {
    return end_of_file;
  }
  ++bytes_;
  return c;
}

void CsvReader::skip_byte_order_mark() {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (in_.sgetc() != std::streambuf::traits_type::to_int_type(mark[0])) {
    return;
  }
  for (const char expected : mark) {
    if (get() != std::streambuf::traits_type::to_int_type(expected)) {
      fail_at(1, "begins with a part of a byte order mark");
    }
  }
}

int CsvReader::after_line_end(int c) {
  if (c == '\r' && in_.sgetc() == '\n') {
    c = get();
  }
  ++line_;
  return c;
}

void CsvReader::append(std::string& field, int c) {
  if (c == '\0') {
    fail_at(line_, "holds a NUL byte, which no text does");
  }
  if (is_control(static_cast<char>(c)) && c != '\t' && !ends_line(c)) {
    fail_at(line_, "holds the control character " + std::to_string(c) + ", which a terminal would obey");
  }
  if (field.size() == limits_.field_bytes) {
    fail_at(row_line_, "a field is longer than " + std::to_string(limits_.field_bytes) + " bytes");
  }
  if (bytes_ - row_begin_ > limits_.row_bytes) {
    fail_at(row_line_, "a row is longer than " + std::to_string(limits_.row_bytes) + " bytes");
  }
  field += static_cast<char>(c);
}

int CsvReader::read_plain(std::string& field, int c) {
  while (c != ',' && !ends_line(c) && c != end_of_file) {
    if (c == '"') {
      fail_at(line_, "a quote within a field that is not quoted");
    }
    append(field, c);
    c = get();
  }
  return c;
}

int CsvReader::read_quoted(std::string& field) {
  const std::uint64_t opened = line_;
  for (int c = get();; c = get()) {
    if (c == end_of_file) {
      fail_at(opened, "a quote opens here and never closes");
    }
    if (c == '"') {
      c = get();
      if (c != '"') {
        return c;
      }
    } else if (c == '\n') {
      ++line_;
    }
    append(field, c);
  }
}

void CsvReader::read_row(std::vector<std::string>& fields, int c) {
  std::size_t count = 0;
  while (true) {
    if (count == limits_.fields) {
      fail_at(row_line_, "a row has more than " + std::to_string(limits_.fields) + " fields");
    }
    if (count == fields.size()) {
      fields.emplace_back();
    }
    std::string& field = fields[count++];
    field.clear(); // its memory serves row after row
    c = c == '"' ? read_quoted(field) : read_plain(field, c);
    if (c != ',') {
      break;
    }
    c = get();
  }
  fields.resize(count);
  if (c != end_of_file && !ends_line(c)) {
    fail_at(line_, "something follows the closing quote of a field");
  }
  if (ends_line(c)) {
    (void)after_line_end(c);
  }
}

} // namespace tokenroof::readers
