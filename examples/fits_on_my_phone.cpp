// A unit test that keeps a model within the phone it is meant for: it fails when someone picks a larger one.
#include <gtest/gtest.h>

#include "tokenroof/integrations/gtest.hpp"
#include "tokenroof/tokenroof.hpp"

namespace {

using namespace tokenroof::literals;

tokenroof::Prediction on_phone(const char* network, const char* weights) {
  const tokenroof::Deployment deployment{
      .network = tokenroof::catalogue::network(network),
      .cluster = {.device = tokenroof::catalogue::device("snapdragon_8_elite", 12_GiB)},
      .engine = tokenroof::catalogue::engine("executorch"),
      .weights = tokenroof::scheme(weights),
  };
  return tokenroof::predict(deployment, {.batch = 1, .prompt = 512_tok, .output = 128_tok});
}

TEST(Phone, OurAssistantFitsAndIsFluent) {
  const auto p = on_phone("llama-3.2-3b", "Q4_0");
  EXPECT_TRUE(p.fits);
  EXPECT_LT(p.tpot, 100.0_ms); // faster than people read
  EXPECT_LT(p.peak_memory, 4.0_GB);
}

TEST(Phone, TheUnquantisedOneWouldNotFit) {
  const auto p = on_phone("llama-3.1-8b", "fp16");
  EXPECT_FALSE(p.fits);
  EXPECT_FALSE(p.tpot < 100.0_ms); // what cannot run has no time
  EXPECT_GT(p.shortfall, 5.0_GB);
}

} // namespace
