// Whatever is written as RFC 4180 says is read back.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "readers/csv_reader.hpp"
#include "tokenroof/errors.hpp"

namespace {

using tokenroof::readers::CsvReader;

/// Texts rich in what CSV gives a meaning to.
rc::Gen<std::string> awkward_texts() {
  return rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,\"\n\r \xC3\xA9;")));
}

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) {
    text += c == '"' ? "\"\"" : std::string(1, c);
  }
  return text + '"';
}

std::vector<std::vector<std::string>> read(const std::string& text) {
  std::istringstream in(text);
  CsvReader reader(in, "rows.csv");
  std::vector<std::vector<std::string>> rows;
  for (std::vector<std::string> fields; reader.next(fields);) {
    rows.push_back(fields);
  }
  return rows;
}

RC_GTEST_PROP(CsvReader, ReadsBackWhatWasQuoted, ()) {
  const auto rows = *rc::gen::container<std::vector<std::vector<std::string>>>(
      rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(awkward_texts())));
  const std::string line_end = *rc::gen::element<std::string>("\n", "\r\n");
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i == 0 ? "" : ",") + quoted(row[i]);
    }
    text += line_end;
  }
  RC_ASSERT(read(text) == rows);
}

RC_GTEST_PROP(CsvReader, ReadsAnythingOrNamesALine, ()) {
  const std::string text = *awkward_texts();
  try {
    std::size_t bytes = 0;
    for (const auto& row : read(text)) {
      for (const std::string& field : row) {
        bytes += field.size();
      }
    }
    RC_ASSERT(bytes <= text.size());
  } catch (const tokenroof::ParseError& error) {
    RC_ASSERT(error.position().rfind("line ", 0) == 0U);
  }
}

} // namespace
