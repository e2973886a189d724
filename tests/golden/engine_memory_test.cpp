// Memory as engines' own logs and issue threads state it.
#include <gtest/gtest.h>

#include "tokenroof/catalogue.hpp"
#include "tokenroof/memory/capacity.hpp"
#include "tokenroof/memory/ledger.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof {
namespace {

using namespace literals;

constexpr double gib = 1073741824.0;

Deployment served(std::string_view network, std::string_view engine, std::string_view device = "h100_sxm") {
  return {.network = catalogue::network(network),
          .cluster = {.device = catalogue::device(device)},
          .engine = catalogue::engine(engine)};
}

Capacity pool(std::string_view network, std::string_view engine, double cache_gib, Tokens length) {
  return capacity_of(served(network, engine), Bytes::from_value(cache_gib * gib), length);
}

struct Log {
  const char* network;
  double cache_gib;
  double blocks;
  double tokens;
  double sequences; ///< of 8192 tokens
};

class PoolOfALog : public ::testing::TestWithParam<Log> {};

// The logs print the pool in hundredths of a GiB.
TEST_P(PoolOfALog, HasItsBlocksTokensAndSequences) {
  const Log& log = GetParam();
  const Capacity capacity = pool(log.network, "vllm", log.cache_gib, 8192_tok);
  const double rounding = 0.0051 / log.cache_gib;
  ASSERT_TRUE(capacity.blocks && capacity.tokens);
  EXPECT_NEAR(*capacity.blocks, log.blocks, rounding * log.blocks + 1);
  EXPECT_NEAR(capacity.tokens->value(), log.tokens, rounding * log.tokens + 16);
  EXPECT_NEAR(capacity.sequences, log.sequences, rounding * log.sequences + 0.01);
}

// llm-d-incubation/llm-d-planner pull request 205: vLLM 0.19 on H100.
INSTANTIATE_TEST_SUITE_P(Vllm, PoolOfALog,
                         ::testing::Values(Log{"llama-3.1-8b", 58.11, 29751, 476016, 58.11},
                                           Log{"gemma-2-9b", 54.12, 21110, 168880, 20.60},
                                           Log{"gemma-3-12b", 47.72, 48867, 130304, 15.88},
                                           Log{"gemma-3-27b", 19.53, 15997, 36560, 4.46},
                                           Log{"deepseek-v2-lite", 43.61, 94097, 1505552, 183.78},
                                           Log{"qwen3-30b-a3b", 15.41, 10518, 168288, 20.54}));

// alvarobartt/hf-mem issue 60: gpt-oss-120b in vLLM holds 78,384 tokens in 5.38 GiB, 73,728 bytes each.
TEST(EngineMemory, PagesOfFullAndWindowedLayersAreShared) {
  const Capacity capacity = pool("gpt-oss-120b", "vllm", 5.38, 8192_tok);
  EXPECT_NEAR(capacity.tokens->value(), 78384, 75);
  EXPECT_NEAR(capacity.cache.value() / capacity.tokens->value(), 73728, 20);
}

// vllm-project/vllm issue 10517: Llama-3.1-8B on an RTX 3090. A limit of 20,000 tokens leaves room for one request of
// 20,000; one of 29,000 raises the peak so far that 23,648 remain; chunks of 2,048 leave more than either.
TEST(EngineMemory, MoreBatchedTokensLeaveLessCache) {
  Deployment deployment = served("llama-3.1-8b", "vllm@2024", "rtx_3090");
  const MemoryVariant visible{.capacity = 23.58_GiB};
  const auto room = [&](Tokens batched) {
    deployment.settings.batched_tokens = batched;
    return capacity(deployment, {.batch = 1, .prompt = batched, .output = 1_tok}, visible).tokens.value_or(Tokens());
  };
  const auto peak_above_weights = [&](Tokens batched) {
    return layers_peak(deployment, {.rows = batched}).total().value() / gib;
  };
  EXPECT_NEAR(peak_above_weights(29000_tok), 17.98 - 14.9888, 0.1);
  EXPECT_LT(room(29000_tok), 29000_tok);
  EXPECT_GT(room(20000_tok), 20000_tok);
  EXPECT_GT(room(2048_tok), 35000_tok);
}

// vllm-project/vllm issue 14350: 28,672 bytes a token of grouped heads, not 172,032.
TEST(EngineMemory, FixedAndGrowingPartsAreApart) {
  const Capacity grouped = pool("qwen2.5-1.5b", "vllm", 4, 4096_tok);
  EXPECT_EQ(grouped.per_token.value(), 28672);
  EXPECT_EQ(grouped.fixed_per_sequence, Bytes());
}

// llama.cpp's cells of a windowed layer: its window and one micro-batch, in steps of 256.
TEST(EngineMemory, SlotsKeepTheWindowAndAPass) {
  const Deployment deployment = served("gemma-3-27b", "llama.cpp-cuda");
  const StageLayers all{0, layer_count(*deployment.network)};
  const double cell = 2.0 * 16 * 128 * 2;
  const double bytes = allocated_sequence_bytes(deployment, 32768_tok, all).value();
  EXPECT_EQ(bytes, cell * (10 * 32768 + 52 * (1024 + 512)));
}

// XiongjieDai/GPU-Benchmarks-on-LLM-Inference: compute buffers in logs of llama.cpp without flash attention.
TEST(EngineMemory, ComputeBuffersOfLlamaCpp) {
  const auto buffer = [](std::string_view network, Tokens context) {
    const Deployment deployment = served(network, "llama.cpp-cuda@2024-05", "rtx_3090");
    return activation_peak(deployment, {.rows = 512_tok, .context = context}, true).total().value() / 1048576.0;
  };
  EXPECT_NEAR(buffer("llama-2-7b", 512_tok), 73.69, 0.02 * 73.69);
  EXPECT_NEAR(buffer("llama-2-13b", 512_tok), 78.19, 0.02 * 78.19);
  EXPECT_NEAR(buffer("llama-2-70b", 512_tok), 148.19, 0.02 * 148.19);
  EXPECT_NEAR(buffer("llama-3-8b", 8192_tok), 560.0, 0.02 * 560.0);
  EXPECT_NEAR(buffer("llama-3-8b", 512_tok), 258.5, 0.02 * 258.5);
}

// The cache is what is left of the fraction beside weights, activations and what lies outside the allocator, to 0.01 GiB.
TEST(EngineMemory, CacheLeftByVllm) {
  Deployment deployment = served("llama-3.1-8b", "vllm");
  deployment.settings = {.batched_tokens = 8192_tok, .most_sequences = 1024, .memory_fraction = 0.95};
  const Workload one{.batch = 1, .prompt = 8191_tok, .output = 1_tok};
  const Ledger items = ledger(deployment, one);
  EXPECT_NEAR(items[LedgerItem::weights].value() / gib, 14.99, 0.05);
  EXPECT_NEAR((items[LedgerItem::activations] + items[LedgerItem::logits]).value() / gib, 1.89, 0.03 * 1.89);
  EXPECT_NEAR(items[LedgerItem::graphs].value() / gib, 0.91, 0.1 * 0.91);
  const Capacity room = capacity(deployment, one, *memory(deployment.cluster.device));
  EXPECT_NEAR(room.cache.value() / gib, 58.11, 0.01 * 58.11);
}

} // namespace
} // namespace tokenroof
