#include "tokenroof/nearest.hpp"

#include <array>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tokenroof {
namespace {

using testing::ElementsAre;

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
}

constexpr std::array<std::string_view, 4> names = {"bandwidth_GBps", "capacity_GiB", "usable_GiB", "capacity"};

TEST(NearestNames, BeginningsFirstThenFewEdits) {
  EXPECT_THAT(nearest_names("bandwith_GBps", names), ElementsAre("bandwidth_GBps"));
  EXPECT_THAT(nearest_names("capa", names), ElementsAre("capacity_GiB", "capacity"));
  EXPECT_THAT(nearest_names("capacitx", names), ElementsAre("capacity"));
  EXPECT_THAT(nearest_names("something else", names), ElementsAre());
  EXPECT_THAT(nearest_names("", names), ElementsAre());
}

TEST(NearestNames, EachNameOnceAndAtMostSoMany) {
  constexpr std::array<Spelling, 3> spellings = {
      {{"h100", "h100_sxm"}, {"h100sxm", "h100_sxm"}, {"h100pcie", "h100_pcie"}}};
  EXPECT_THAT(nearest_names("h100", spellings), ElementsAre("h100_sxm", "h100_pcie"));
  EXPECT_THAT(nearest_names("h100", spellings, 1), ElementsAre("h100_sxm"));
}

TEST(NearestNames, AsText) {
  EXPECT_EQ(nearest_as_text({}), "");
  EXPECT_EQ(nearest_as_text(nearest_names("capa", names)), "; nearest: capacity_GiB, capacity");
}

} // namespace
} // namespace tokenroof
