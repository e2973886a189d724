// A sweep is predict(), point by point and bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/catalogue_grid.hpp"
#include "tokenroof/sweep/sweep.hpp"

namespace tokenroof {
namespace {

using namespace literals;
using test::all_networks;
using test::deployment;
using test::reference_device;

/// Bitwise, so that two absent values are equal too.
template <class Quantity>
bool same_bits(const Quantity& a, const Quantity& b) {
  return std::bit_cast<std::uint64_t>(a.value()) == std::bit_cast<std::uint64_t>(b.value());
}

TEST(SweepLaws, EveryPointIsThePredictionOfThatPoint) {
  const SweepAxes axes{.batch = {1, 7, 256},
                       .prompt = {1_tok, 2_tok, 1000_tok, 5000_tok},
                       .output = {1_tok, 2_tok, 300_tok},
                       .context_depth = {0_tok, 130_tok, 4096_tok}};
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Deployment d = deployment(network, reference_device());
    std::size_t points = 0;
    sweep(d, axes, [&](const Workload& workload, const Prediction& swept) {
      ++points;
      const Prediction single = predict(d, workload);
      EXPECT_TRUE(same_bits(single.ttft.value, swept.ttft.value));
      EXPECT_TRUE(same_bits(single.tpot.value, swept.tpot.value));
      EXPECT_TRUE(same_bits(single.end_to_end.value, swept.end_to_end.value));
      EXPECT_TRUE(same_bits(single.peak_memory.value, swept.peak_memory.value));
      EXPECT_EQ(single.fits, swept.fits);
    });
    EXPECT_EQ(points, point_count(axes));
  }
}

TEST(SweepLaws, TilesGiveTheScalarCallsBits) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const StepModels models = step_models(deployment(network, reference_device()));
    for (const BoundStep& step :
         {models.decode.at(1, 1_tok), models.decode.at(200, 1_tok), models.prefill().at(2, 700_tok)}) {
      std::vector<double> contexts(1000); // not a multiple of the tile
      std::iota(contexts.begin(), contexts.end(), 37.0);
      std::vector<double> seconds(contexts.size());
      step_times(step, contexts, seconds);
      for (std::size_t i = 0; i < contexts.size(); ++i) {
        ASSERT_TRUE(same_bits(Seconds::from_value(seconds[i]), step.time(Tokens::from_value(contexts[i]))))
            << contexts[i];
      }
    }
  }
}

TEST(SweepLaws, FaultsAreFoundBeforeTheFirstPoint) {
  const Deployment d = deployment(all_networks().front(), reference_device());
  std::size_t points = 0;
  const auto count = [&](const Workload&, const Prediction&) { ++points; };
  EXPECT_THROW(sweep(d, {.batch = {1, 0}}, count), InvalidSpec);
  EXPECT_THROW(sweep(d, {.prompt = {10_tok, Tokens::from_value(-1)}}, count), InvalidSpec);
  EXPECT_THROW(sweep(d, {.output = {Tokens::from_value(1e30)}}, count), InvalidSpec);
  EXPECT_EQ(points, 0U);
  std::vector<double> contexts(3);
  std::vector<double> too_short(2);
  EXPECT_THROW(step_times(step_models(d).decode.at(1, 1_tok), contexts, too_short), InvalidSpec);
}

} // namespace
} // namespace tokenroof
