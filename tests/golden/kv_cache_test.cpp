// Bytes of KV cache that public threads report and that arithmetic confirms; each row names its source.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/memory/ledger.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

Format format(const char* name) { return find_format(name).value(); }

struct PerToken {
  const char* network;
  double bytes;
  const char* source;
};

void PrintTo(const PerToken& c, std::ostream* out) { *out << c.network; }

class KvCachePerToken : public ::testing::TestWithParam<PerToken> {};

TEST_P(KvCachePerToken, IsExact) {
  EXPECT_EQ(kv_cache_per_token(*catalogue::network(GetParam().network), format("bf16")).value(), GetParam().bytes)
      << GetParam().source;
}

INSTANTIATE_TEST_SUITE_P(
    Threads, KvCachePerToken,
    ::testing::Values(PerToken{"llama-3.1-8b", 131072, "vllm issue 10517"},
                      PerToken{"qwen2.5-1.5b", 28672, "vllm issue 14350 (DeepSeek-R1-Distill-Qwen-1.5B, same shape)"},
                      PerToken{"gpt-oss-120b", 73728, "hf-mem issue 60: all 36 layers, as vLLM allocates"},
                      PerToken{"deepseek-v2-lite", 31104, "vllm pull 10927: 27 layers of 512 + 64 elements"},
                      PerToken{"deepseek-v3.2", 61 * (576 * 2 + 132),
                               "sglang pull 11309: an index key of 128 bytes and a scale beside the latent vector"},
                      PerToken{"glm-5.2", 78 * 576 * 2 + 21 * 132, "an index key where tokens are picked anew"},
                      PerToken{"gemma-4-31b", (50 * 16 * 256 + 10 * 4 * 512) * 2 * 2,
                               "hf-mem pull 61: 60 layers, those that see everything with 4 wider heads"},
                      PerToken{"gemma-4-e2b", (12 * 256 + 3 * 512) * 2 * 2, "20 of 35 layers share a cache"},
                      PerToken{"qwen3.5-27b", 16 * 4 * 256 * 2 * 2, "unsloth pull 4757: 16 of 64 layers attend"},
                      PerToken{"kimi-linear-48b-a3b", 7 * 576 * 2, "7 of 27 layers attend"},
                      PerToken{"nemotron-3-nano-30b-a3b", 6 * 2 * 128 * 2 * 2, "6 of 52 layers attend"},
                      PerToken{"llama-3.3-nemotron-super-49b", 49 * 8 * 128 * 2 * 2, "31 of 80 layers do not attend"},
                      PerToken{"falcon-mamba-7b", 0, "a state alone"},
                      PerToken{"llama-3.3-70b", 327680, "vllm issue 12400"},
                      PerToken{"llama-2-7b", 524288, "1 GiB at 2048 tokens"}),
    [](const auto& instance) { return "Case" + std::to_string(instance.index); });

struct AtContext {
  const char* network;
  const char* kv;
  double tokens;
  double gib;
  double tolerance; ///< of the printed figure's last digit
  const char* source;
};

void PrintTo(const AtContext& c, std::ostream* out) { *out << c.network << ", " << c.kv << ", " << c.tokens; }

class KvCacheAtContext : public ::testing::TestWithParam<AtContext> {};

TEST_P(KvCacheAtContext, IsAsReported) {
  const AtContext& c = GetParam();
  const Bytes bytes = kv_cache(*catalogue::network(c.network), format(c.kv), Tokens::from_value(c.tokens));
  EXPECT_NEAR(bytes.value() / 1073741824.0, c.gib, c.tolerance) << c.source;
}

INSTANTIATE_TEST_SUITE_P(
    Threads, KvCacheAtContext,
    ::testing::Values(
        AtContext{"gemma-3-27b", "bf16", 131072, 10.406, 0.001, "unsloth pull 4757: 10 full layers, 52 of 1024"},
        AtContext{"deepseek-v3.1", "bf16", 163840, 10.723, 0.001, "unsloth pull 4757: 61 x 576 x 2"},
        AtContext{"kimi-k2.5", "bf16", 262144, 17.156, 0.001, "unsloth pull 4757"},
        AtContext{"qwen3-0.6b", "bf16", 40960, 4.375, 0, "unsloth pull 4757"},
        AtContext{"qwen3.5-27b", "bf16", 262144, 16.0 + 0.1434, 0.0001, "unsloth pull 4757: 16 layers, states beside"},
        AtContext{"glm-5.1", "bf16", 202752, 16.9673 + 1.9442, 0.0001,
                  "unsloth pull 4757 says 17.18: 79 layers, the prediction module among them, and no index keys"},
        AtContext{"gemma-4-26b-a4b", "fp16", 131072, 2.5 + 0.195, 0.001,
                  "ollama pull 16958: 5 full layers, 25 of 1024"},
        AtContext{"qwen2.5-7b", "fp16", 262144, 14.0, 0, "ollama issue 10128"},
        AtContext{"qwen2.5-7b", "Q8_0", 262144, 7.4375, 0, "ollama issue 10128: 34 bytes for 32 elements"},
        AtContext{"llama-3.1-70b", "fp16", 131072, 40.0, 0, "how-to pages say 340 GB, having missed the grouped heads"},
        AtContext{"llama-2-70b", "fp16", 2048, 0.625, 0, "how-to pages say 5.24 GB: 0.67 GB is right"},
        AtContext{"llama-2-7b", "fp16", 2048, 1.0, 0, "1,073,741,824 B"}),
    [](const auto& instance) { return "Case" + std::to_string(instance.index); });

// sglang pull 11309: 43.67 GiB for 975,424 tokens; fp8 latent vectors with scales and a 16-bit rotary part are 656 bytes.
TEST(KvCache, LatentVectorsInFp8) {
  const Network& network = *catalogue::network("deepseek-v3.2");
  const BytesPerToken per_token = kv_cache_per_token(network, format("fp8-latent"));
  EXPECT_EQ(per_token.value(), 61 * (656 + 132));
  EXPECT_NEAR(per_token.value() * 975424 / 1073741824.0, 43.67, 0.005);
}

// vllm issue 10517: 1952 blocks of 16 tokens in a pool of 3.81 GiB.
TEST(KvCache, TokensInAPool) {
  const BytesPerToken per_token = kv_cache_per_token(*catalogue::network("llama-3.1-8b"), format("bf16"));
  const double blocks = std::floor((3.8125_GiB / (per_token * 16_tok)).value());
  EXPECT_EQ(blocks * 16, 31232);
}

// vllm issue 10517: the profiled peak above the weights grows by 111.2 kB a token at 20k tokens and 110.8 kB at 29k.
TEST(Activations, PerTokenAsProfiled) {
  const Deployment deployment{.network = catalogue::network("llama-3.1-8b")};
  EXPECT_NEAR(activation_bytes_per_token(deployment).value(), 111.0e3, 0.5e3);
}

TEST(KvCache, ContextWhereItOutgrowsTheWeights) {
  const Shared<Network> network = catalogue::network("llama-2-7b");
  const Bytes weights = weight_bytes(*network, scheme("fp16"));
  const Tokens context = context_where_cache_exceeds(*network, format("fp16"), weights);
  EXPECT_EQ(context, 25706_tok); // 13,476,831,232 B at 524,288 B a token
  EXPECT_GT(kv_cache(*network, format("fp16"), context), weights);
  EXPECT_LE(kv_cache(*network, format("fp16"), context - 1_tok), weights);
}

} // namespace
