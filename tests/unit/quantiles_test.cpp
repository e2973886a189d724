#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "validation/statistics.hpp"

namespace tokenroof::validation {
namespace {

Quantiles of(const std::vector<double>& values) {
  Quantiles quantiles;
  for (const double value : values) {
    quantiles.add(value);
  }
  return quantiles;
}

TEST(Quantiles, OfNothingAreNone) { EXPECT_TRUE(std::isnan(Quantiles().quantile(0.5))); }

TEST(Quantiles, OfFewAreExact) {
  EXPECT_DOUBLE_EQ(of({3, 1, 2}).quantile(0.5), 2);
  EXPECT_DOUBLE_EQ(of({1, 2, 3, 4}).quantile(0.5), 2.5);
  EXPECT_DOUBLE_EQ(of({0, 10}).quantile(0.9), 9);
  EXPECT_DOUBLE_EQ(of({7}).quantile(0.9), 7);
}

TEST(Quantiles, OfManyAreWithinHalfAPercent) {
  std::mt19937_64 random(20240501);
  std::lognormal_distribution<double> spread(-3, 2);
  std::vector<double> values(100'000);
  std::generate(values.begin(), values.end(), [&] { return spread(random); });
  const Quantiles sketch = of(values);
  EXPECT_FALSE(sketch.exact());
  std::sort(values.begin(), values.end());
  for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    const double exact = values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    EXPECT_NEAR(sketch.quantile(share), exact, 0.005 * exact) << share;
  }
}

TEST(Quantiles, ChangeLittleWhereTheyTurnIntoASketch) {
  std::vector<double> values(Quantiles::most_exact);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 1 + static_cast<double>(i);
  }
  const double exact = of(values).quantile(0.5);
  values.push_back(exact);
  EXPECT_NEAR(of(values).quantile(0.5), exact, 0.006 * exact);
}

TEST(Quantiles, KeepNothingAndTheImmenseApart) {
  std::vector<double> values(Quantiles::most_exact, 0);
  values.resize(2 * values.size() + 1, 1e300);
  EXPECT_DOUBLE_EQ(of(values).quantile(0.2), 0);
  EXPECT_NEAR(of(values).quantile(0.9), Quantiles::largest, 0.005 * Quantiles::largest);
}

} // namespace
} // namespace tokenroof::validation
