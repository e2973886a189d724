// What fits, fits; what is said not to fit does not: over every network and every engine of the catalogue.
#include <cmath>

#include <gtest/gtest.h>

#include "support/catalogue_grid.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/memory/capacity.hpp"

namespace tokenroof::test {
namespace {

using namespace tokenroof::literals;

Deployment on(const Shared<Network>& network, const std::string& engine) {
  Deployment result = deployment(network, reference_device());
  result.engine = catalogue::engine(engine);
  return result;
}

template <class Try>
void for_each_pair(Try&& attempt) {
  for (const std::string& engine : catalogue::engine_ids()) {
    for (const Shared<Network>& network : all_networks()) {
      SCOPED_TRACE(network->name + ", " + engine);
      attempt(on(network, engine));
    }
  }
}

StageLayers all_layers(const Deployment& d) { return {0, layer_count(*d.network)}; }

TEST(CapacityLaws, NoLayoutTakesLessThanTheCacheNeedsNorShrinksWithLength) {
  for_each_pair([](const Deployment& d) {
    Bytes shorter;
    for (const Tokens& tokens : {1_tok, 100_tok, 5000_tok, 100000_tok}) {
      const Bytes allocated = allocated_sequence_bytes(d, tokens, all_layers(d));
      const Bytes needed = sequence_bytes(*d.network, d.kv, d.activations, tokens, 1, all_layers(d));
      EXPECT_GE(allocated.value(), needed.value() * (1 - 1e-12));
      EXPECT_GE(allocated, shorter);
      shorter = allocated;
    }
  });
}

TEST(CapacityLaws, TheLongestContextFitsAndOneMoreBlockDoesNot) {
  for_each_pair([](const Deployment& d) {
    const Capacity room = capacity_of(d, 8.0_GiB, 1000_tok);
    if (!room.context) {
      return; // nothing grows without end
    }
    EXPECT_LE(allocated_sequence_bytes(d, *room.context, all_layers(d)), 8.0_GiB);
    EXPECT_GT(allocated_sequence_bytes(d, *room.context + 1_tok, all_layers(d)), 8.0_GiB);
  });
}

TEST(CapacityLaws, AsManySequencesFitAsAreSaidTo) {
  for_each_pair([](const Deployment& d) {
    const Capacity room = capacity_of(d, 8.0_GiB, 1000_tok);
    const Bytes one = allocated_sequence_bytes(d, 1000_tok, all_layers(d));
    if (one > Bytes()) {
      EXPECT_LE((one * std::floor(room.sequences)).value(), (8.0_GiB).value() * (1 + 1e-12));
    }
  });
}

TEST(CapacityLaws, AWorkloadFitsExactlyIfItsSequencesDo) {
  for_each_pair([](Deployment d) {
    d.cluster.device.memory_variants[0].capacity = Bytes::from_value(2e13);
    const Workload one{.batch = 1, .prompt = 700_tok, .output = 300_tok};
    const Capacity room = capacity(d, one, d.cluster.device.memory_variants[0]);
    const Ledger items = ledger(d, one);
    const Bytes cache = items[LedgerItem::kv_cache] + items[LedgerItem::kv_padding];
    EXPECT_EQ(peak(items) <= memory_budget(d, items, d.cluster.device.memory_variants[0]), cache <= room.cache);
  });
}

TEST(CapacityLaws, LargerPassesNeverTakeLess) {
  for_each_pair([](Deployment d) {
    Bytes smaller_pass;
    for (const Tokens& rows : {64_tok, 512_tok, 4096_tok}) {
      d.settings.batched_tokens = rows;
      const Ledger items = ledger(d, {.batch = 8, .prompt = 1000_tok, .output = 10_tok});
      const Bytes live = items[LedgerItem::activations] + items[LedgerItem::logits];
      EXPECT_GE(live, smaller_pass);
      smaller_pass = live;
    }
  });
}

} // namespace
} // namespace tokenroof::test
