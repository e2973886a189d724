#include "readers/csv_reader.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text, const CsvLimits& limits = {}) {
  std::istringstream in(text);
  CsvReader reader(in, "rows.csv", limits);
  Rows rows;
  for (std::vector<std::string> fields; reader.next(fields);) {
    rows.push_back(fields);
  }
  return rows;
}

std::string error_of(const std::string& text, const CsvLimits& limits = {}) {
  try {
    (void)rows_of(text, limits);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvReader, SplitsFieldsAndRows) {
  EXPECT_THAT(rows_of("a,b\n1,\n,2\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", ""), ElementsAre("", "2")));
}

TEST(CsvReader, NeedsNoLineEndAtTheEnd) { EXPECT_EQ(rows_of("a,b\n1,2"), rows_of("a,b\n1,2\n")); }

TEST(CsvReader, TakesEitherLineEnd) { EXPECT_EQ(rows_of("a,b\r\n1,2\r\n"), rows_of("a,b\n1,2\n")); }

TEST(CsvReader, QuotedFieldsHoldWhatSeparates) {
  EXPECT_THAT(rows_of("\"a,b\",\"line\none\",\"say \"\"so\"\"\"\n"),
              ElementsAre(ElementsAre("a,b", "line\none", "say \"so\"")));
  EXPECT_THAT(rows_of("\"\",x\n"), ElementsAre(ElementsAre("", "x")));
}

TEST(CsvReader, SkipsEmptyLinesAndTheByteOrderMark) {
  EXPECT_THAT(rows_of("\xEF\xBB\xBF"
                      "a\n\n\r\nb\n\n"),
              ElementsAre(ElementsAre("a"), ElementsAre("b")));
  EXPECT_THAT(rows_of(""), IsEmpty());
  EXPECT_THAT(rows_of("\n\n"), IsEmpty());
}

TEST(CsvReader, CountsLinesWithinQuotes) {
  std::istringstream in("a\n\"1\n2\"\nb\n");
  CsvReader reader(in, "rows.csv");
  std::vector<std::string> fields;
  std::vector<std::uint64_t> lines;
  while (reader.next(fields)) {
    lines.push_back(reader.line());
  }
  EXPECT_THAT(lines, ElementsAre(1, 2, 4));
  EXPECT_EQ(reader.bytes(), 10U);
}

TEST(CsvReader, FaultsAreNamedWithTheirLine) {
  EXPECT_THAT(error_of("a,b\n1,\"2\n"), AllOf(HasSubstr("rows.csv (line 2)"), HasSubstr("never closes")));
  EXPECT_THAT(error_of("a\nb\n\"1\"2\n"), AllOf(HasSubstr("line 3"), HasSubstr("follows the closing quote")));
  EXPECT_THAT(error_of("a\n1\"2\n"), AllOf(HasSubstr("line 2"), HasSubstr("not quoted")));
  EXPECT_THAT(error_of(std::string("a\n\0\n", 4)), AllOf(HasSubstr("line 2"), HasSubstr("NUL")));
  EXPECT_THAT(error_of("a\n\x1b[31m\n"), AllOf(HasSubstr("line 2"), HasSubstr("control character 27")));
  EXPECT_EQ(rows_of("a\tb\n").size(), 1U);
  EXPECT_THAT(error_of("\xEF\xBB,"), HasSubstr("byte order mark"));
}

TEST(CsvReader, WhatARowMayBeIsBounded) {
  const CsvLimits limits{.field_bytes = 4, .row_bytes = 12, .fields = 3};
  EXPECT_EQ(rows_of("abcd,abcd\n", limits).size(), 1U);
  EXPECT_THAT(error_of("abcde\n", limits), HasSubstr("longer than 4 bytes"));
  EXPECT_THAT(error_of("\"abcde", limits), HasSubstr("longer than 4 bytes"));
  EXPECT_THAT(error_of("abcd,abcd,abcd\n", limits), HasSubstr("longer than 12 bytes"));
  EXPECT_THAT(error_of(",,,\n", limits), HasSubstr("more than 3 fields"));
}

} // namespace
} // namespace tokenroof::readers
