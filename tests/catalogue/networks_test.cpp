#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/named_schemes.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogue/embedded_files.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace {

using namespace tokenroof;

bool has_experts(const Network& network) {
  return std::any_of(network.layers.begin(), network.layers.end(), [](const LayerRun& run) {
    return run.block.feed_forward && std::holds_alternative<MixtureOfExperts>(*run.block.feed_forward);
  });
}

TEST(NetworkCatalogue, HoldsOneFileForEachId) {
  const auto ids = catalogue::network_ids();
  EXPECT_GE(ids.size(), 45U);
  for (const std::string& id : ids) {
    EXPECT_TRUE(catalogue::embedded_file("networks/" + id + ".json")) << id;
  }
}

TEST(NetworkCatalogue, EveryEntryIsReadableAndCited) {
  for (const std::string& id : catalogue::network_ids()) {
    const auto& entry = catalogue::network_entry(id);
    EXPECT_EQ(entry.id, id);
    EXPECT_EQ(entry.network->name, id);
    EXPECT_GT(layer_count(*entry.network), 0) << id;
    EXPECT_FALSE(entry.source.empty()) << id;
    EXPECT_EQ(entry.date.size(), 10U) << id;
    EXPECT_TRUE(entry.confidence == "high" || entry.confidence == "medium" || entry.confidence == "low") << id;
  }
}

TEST(NetworkCatalogue, EveryAliasMeansItsEntry) {
  for (const std::string& id : catalogue::network_ids()) {
    for (const std::string& alias : catalogue::network_entry(id).aliases) {
      EXPECT_EQ(catalogue::network_entry(alias).id, id) << alias;
    }
  }
}

TEST(NetworkCatalogue, CountsEqualPublishedTotals) {
  for (const std::string& id : catalogue::network_ids()) {
    const auto& entry = catalogue::network_entry(id);
    if (entry.published_parameters) {
      EXPECT_EQ(count_parameters(*entry.network).total(), *entry.published_parameters) << id;
      EXPECT_FALSE(entry.published_parameters_source.empty()) << id;
    }
  }
}

TEST(NetworkCatalogue, PartsAddUpToTheInventory) {
  for (const std::string& id : catalogue::network_ids()) {
    const auto network = catalogue::network(id);
    Count sum = 0;
    for (const LayerRun& run : network->layers) {
      for_each_tensor(run.block, *network, [&](const Tensor& tensor) { sum += elements(tensor) * run.count; });
    }
    for_each_outer_tensor(*network, [&](const Tensor& tensor) { sum += elements(tensor); });
    EXPECT_EQ(count_parameters(*network).total(), sum) << id;
  }
}

TEST(NetworkCatalogue, OnlyExpertsMakeActiveDifferFromTotal) {
  for (const std::string& id : catalogue::network_ids()) {
    const auto network = catalogue::network(id);
    const ParameterCount count = count_parameters(*network);
    EXPECT_EQ(count.active() < count.total(), has_experts(*network)) << id;
    EXPECT_LE(count.active_without_embeddings(), count.active()) << id;
  }
}

TEST(NetworkCatalogue, AllExpertsActiveIsTheTotal) {
  for (const std::string& id : catalogue::network_ids()) {
    Network network = *catalogue::network(id);
    for (LayerRun& run : network.layers) {
      if (auto* moe = std::get_if<MixtureOfExperts>(&*run.block.feed_forward)) {
        moe->active = moe->experts;
      }
    }
    const ParameterCount count = count_parameters(network);
    EXPECT_EQ(count.active(), count.total()) << id;
  }
}

TEST(NetworkCatalogue, SixteenBitsAreTwoBytesAParameter) {
  const WeightScheme bf16 = scheme("bf16");
  for (const std::string& id : catalogue::network_ids()) {
    const auto network = catalogue::network(id);
    EXPECT_EQ(weight_bytes(*network, bf16).value(), 2 * static_cast<double>(count_parameters(*network).total())) << id;
  }
}

TEST(NetworkCatalogue, MoreBitsTakeMoreBytes) {
  const std::array names = {"Q4_0", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "ggml-f16"};
  for (const std::string& id : catalogue::network_ids()) {
    const auto network = catalogue::network(id);
    for (std::size_t i = 1; i < names.size(); ++i) {
      EXPECT_LE(weight_bytes(*network, scheme(names[i - 1])), weight_bytes(*network, scheme(names[i])))
          << id << names[i];
    }
  }
}

TEST(NetworkCatalogue, SpellingIsForgiving) {
  for (const char* text :
       {"llama-2-7b", "Llama 2 7B", "LLAMA_2_7B", "meta-llama/Llama-2-7b-hf", "someone/Llama-2-7b-hf"}) {
    EXPECT_EQ(catalogue::network_entry(text).id, "llama-2-7b") << text;
  }
  EXPECT_EQ(catalogue::network_entry("opt-1.3b").id, "opt-1.3b");
  EXPECT_EQ(catalogue::network_entry("opt-13b").id, "opt-13b");
}

TEST(NetworkCatalogue, UnknownNameSuggestsTheNearest) {
  try {
    (void)catalogue::network("llama-2-8b");
    FAIL() << "no such network";
  } catch (const UnknownNetwork& error) {
    EXPECT_EQ(error.id(), "llama-2-8b");
    EXPECT_THAT(error.nearest(), testing::Contains("llama-2-7b"));
  }
  EXPECT_THROW((void)catalogue::network(""), UnknownNetwork);
}

TEST(NetworkCatalogue, IsReadOnceAndFromManyThreads) {
  std::vector<std::thread> threads;
  std::vector<const Network*> seen(8);
  threads.reserve(seen.size());
  for (const Network*& slot : seen) {
    threads.emplace_back([&slot] { slot = &*catalogue::network("qwen3-8b"); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(seen, testing::Each(seen.front()));
}

TEST(NetworkCatalogue, StoredSchemesAreKnown) {
  EXPECT_EQ(catalogue::network_entry("llama-2-7b").weights->name, "fp16");
  for (const char* published_in_fp8 : {"deepseek-v3", "deepseek-v3.1", "deepseek-v3.2", "deepseek-v4-pro"}) {
    EXPECT_EQ(catalogue::network_entry(published_in_fp8).weights->name, "fp8-block") << published_in_fp8;
  }
  EXPECT_EQ(catalogue::network_entry("gpt-oss-20b").weights->name, "mxfp4");
  EXPECT_EQ(catalogue::network_entry("kimi-k2.5").weights->name, "int4-g32");
}

} // namespace
