#include "readers/json_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

std::string position_of_error(std::string_view text, const JsonLimits& limits = {}) {
  try {
    (void)parse_json(text, "test.json", limits);
  } catch (const ParseError& error) {
    EXPECT_EQ(error.path(), "test.json");
    return error.position();
  }
  return "accepted";
}

TEST(JsonFile, ParsesWhatIsValid) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2.5, "]["], "b": null})", "test.json")["a"][2], "][");
  EXPECT_EQ(parse_json(R"({"a": 1, "a": 2})", "test.json")["a"], 2);
}

TEST(JsonFile, NamesThePositionWhereTheTextBreaksOff) {
  EXPECT_EQ(position_of_error(R"({"a": )"), "byte 7");
  EXPECT_EQ(position_of_error(R"({"a": "no end)"), "byte 14");
  EXPECT_EQ(position_of_error(""), "byte 1");
  EXPECT_EQ(position_of_error("{} x"), "byte 4");
}

TEST(JsonFile, RejectsDeepNestingBeforeParsing) {
  EXPECT_EQ(position_of_error(std::string(100'000, '[')), "byte 64");
  EXPECT_EQ(position_of_error(std::string(64, '[') + std::string(64, ']')), "accepted");
}

TEST(JsonFile, BracketsInStringsAreNotNesting) {
  EXPECT_EQ(position_of_error('"' + std::string(1000, '[') + '"'), "accepted");
  EXPECT_EQ(position_of_error(R"("\"[[[")", {.depth = 1}), "accepted");
}

TEST(JsonFile, BoundsBytesAndValues) {
  EXPECT_EQ(position_of_error("[1, 2, 3]", {.bytes = 4}), "byte 4");
  EXPECT_EQ(position_of_error("[1,2,3,4]", {.values = 4}), "byte 6");
}

TEST(JsonFile, NumberTooLargeForADoubleIsAnError) { EXPECT_NE(position_of_error("[1e999]"), "accepted"); }

TEST(JsonFile, InvalidUtf8IsAnError) { EXPECT_NE(position_of_error("\"\xff\""), "accepted"); }

TEST(JsonFile, NonFiniteTokensAreAnOption) {
  constexpr std::string_view text = R"({"a": [0.0, Infinity], "b": NaN, "c": -Infinity, "NaN": "Infinity"})";
  EXPECT_EQ(position_of_error(text), "byte 13");
  const nlohmann::json value = parse_json(text, "test.json", {.allow_non_finite = true});
  EXPECT_EQ(value["a"][1], "Infinity");
  EXPECT_EQ(value["b"], "NaN");
  EXPECT_EQ(value["c"], "-Infinity");
  EXPECT_EQ(value["NaN"], "Infinity");
}

TEST(JsonFile, PositionsCountFromTheOriginalText) {
  EXPECT_EQ(position_of_error("[NaN, x]", {.allow_non_finite = true}), "byte 7");
  EXPECT_EQ(position_of_error("[Infinity, x]", {.allow_non_finite = true}), "byte 12");
}

TEST(JsonFile, MessagesAreShortHoweverLongTheText) {
  for (const std::string& text : {"[" + std::string(100'000, '9') + "]", "[\"" + std::string(100'000, 'a'),
                                  "[\"" + std::string(100'000, 'a') + "\" x"}) {
    try {
      (void)parse_json(text, "test.json");
      FAIL() << "accepted";
    } catch (const ParseError& error) {
      EXPECT_LT(std::string(error.what()).size(), 300U);
    }
  }
}

TEST(JsonFile, ReadsFiles) {
  const auto path = std::filesystem::temp_directory_path() / "tokenroof_json_file_test.json";
  std::ofstream(path) << R"({"a": 7})";
  EXPECT_EQ(read_json(path)["a"], 7);
  EXPECT_THROW((void)read_json(path, {.bytes = 3}), ParseError);
  std::filesystem::remove(path);
  EXPECT_THROW((void)read_json(path), ParseError);
  EXPECT_THROW((void)read_json(std::filesystem::temp_directory_path()), ParseError);
}

} // namespace
} // namespace tokenroof::readers
