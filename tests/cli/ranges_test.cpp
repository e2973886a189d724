#include "cli/ranges.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/errors.hpp"

namespace tokenroof::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string reason(const std::string& text) {
  try {
    return "accepted, " + std::to_string(parse_values("batch", text).size()) + " values";
  } catch (const InvalidSpec& error) {
    EXPECT_EQ(error.field(), "batch");
    return error.reason();
  }
}

TEST(Ranges, ListsAreTakenAsTheyStand) {
  EXPECT_THAT(parse_values("batch", "7"), ElementsAre(7));
  EXPECT_THAT(parse_values("batch", "8,1,-3,8"), ElementsAre(8, 1, -3, 8));
}

TEST(Ranges, ABareRangeGoesInStepsOfOne) {
  EXPECT_THAT(parse_values("batch", "3..6"), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(parse_values("batch", "5..5"), ElementsAre(5));
}

TEST(Ranges, StepsAndRatiosStopAtTheLastValueWithinReach) {
  EXPECT_THAT(parse_values("batch", "0..4096+1024"), ElementsAre(0, 1024, 2048, 3072, 4096));
  EXPECT_THAT(parse_values("batch", "0..10+4"), ElementsAre(0, 4, 8));
  EXPECT_THAT(parse_values("batch", "512..4096*2"), ElementsAre(512, 1024, 2048, 4096));
  EXPECT_THAT(parse_values("batch", "1..100*4"), ElementsAre(1, 4, 16, 64));
}

TEST(Ranges, ARangeGoesOnAsTheListBegan) {
  EXPECT_THAT(parse_values("batch", "1,2,4..64"), ElementsAre(1, 2, 4, 8, 16, 32, 64));
  EXPECT_THAT(parse_values("batch", "1,2,3..6"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(parse_values("batch", "10,20,30..50"), ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(parse_values("batch", "1,3,9..81,100"), ElementsAre(1, 3, 9, 27, 81, 100));
}

TEST(Ranges, WhatCouldMeanTwoThingsIsRefused) {
  EXPECT_THAT(reason("2,4..64"), HasSubstr("A..B*RATIO"));
  EXPECT_THAT(reason("1,5,7..64"), HasSubstr("A..B*RATIO"));
  EXPECT_THAT(reason("4,2,1..64"), HasSubstr("A..B*RATIO"));
  EXPECT_THAT(reason("3,3,3..64"), HasSubstr("A..B*RATIO"));
}

TEST(Ranges, NothingElseIsANumber) {
  for (const char* text : {"", ",", "1,", "a", "1e3", "0x10", "1.5", " 1", "1 ", "1..", "..2", "1..2*", "1..2+x", "nan",
                           "1...2", "99999999999999999999", "1..99999999999999999999*2", "1;2"}) {
    EXPECT_THAT(reason(text), testing::Not(HasSubstr("accepted"))) << text;
  }
}

TEST(Ranges, StepsMustLeadUpwards) {
  EXPECT_THAT(reason("8..1"), HasSubstr("empty"));
  EXPECT_THAT(reason("1..8*1"), HasSubstr("2 or more"));
  EXPECT_THAT(reason("1..8*-2"), HasSubstr("2 or more"));
  EXPECT_THAT(reason("1..8+0"), HasSubstr("1 or more"));
  EXPECT_THAT(reason("0..8*2"), HasSubstr("start at 1"));
}

TEST(Ranges, TheNumberOfValuesIsBounded) {
  EXPECT_EQ(reason("1..1000000"), "accepted, 1000000 values");
  EXPECT_THAT(reason("1..1000001"), HasSubstr("more than 1000000"));
  EXPECT_THAT(reason("1..4000000000000000000"), HasSubstr("more than 1000000"));
  EXPECT_EQ(reason("1..4000000000000000000*2"), "accepted, 62 values");
  EXPECT_EQ(reason("4000000000000000000..4000000000000000000+4000000000000000000"), "accepted, 1 values");
}

} // namespace
} // namespace tokenroof::cli
