#include "tokenroof/integrations/eigen.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace {

using tokenroof::integrations::as_array;
using tokenroof::integrations::as_table;

TEST(Eigen, SeesAColumnWithoutACopy) {
  const std::vector<double> ttft = {0.2, 0.4};
  const std::vector<double> tpot = {0.01, 0.03};
  EXPECT_EQ(as_array(ttft).data(), ttft.data());
  EXPECT_DOUBLE_EQ((as_array(ttft) + 10 * as_array(tpot)).maxCoeff(), 0.7);
}

TEST(Eigen, WritesThroughAMutableView) {
  std::vector<double> column = {1, 2, 3};
  as_array(std::span<double>(column)) *= 2;
  EXPECT_EQ(column, (std::vector<double>{2, 4, 6}));
}

TEST(Eigen, SeesAColumnOverAGridAsATable) {
  const std::vector<double> column = {1, 2, 3, 4, 5, 6};
  const auto table = as_table(column, 2);
  EXPECT_EQ(table.cols(), 3);
  EXPECT_EQ(table(1, 0), 4);
}

TEST(Eigen, TakesAnEmptyColumn) {
  EXPECT_EQ(as_array(std::span<const double>()).size(), 0);
  EXPECT_EQ(as_table({}, 0).size(), 0);
}

} // namespace
