// Networks whose configuration cannot be read yet are built by hand. Published totals: the models' safetensors indices.
#include <gtest/gtest.h>

#include "tokenroof/network/parameters.hpp"

namespace {

using namespace tokenroof;

Network lfm2() {
  const DenseFeedForward dense{.width = 8192};
  const GroupedQueryAttention attention{
      .heads = 32, .kv_heads = 8, .head_dim = 64, .value_head_dim = 64, .query_key_norm = QueryKeyNorm::per_head};
  return {.name = "LFM2-1.2B",
          .hidden = 2048,
          .vocabulary = 65536,
          .tied_embeddings = true,
          .layers = {{Block{.mixers = {ShortConvolution{}}, .feed_forward = dense}, 10},
                     {Block{.mixers = {attention}, .feed_forward = dense}, 6}}};
}

Network qwen3_next() {
  const MixtureOfExperts experts{.experts = 512, .active = 10, .width = 512, .shared_width = 512, .shared_gate = true};
  const LinearAttention linear{.key_heads = 16, .value_heads = 32, .key_head_dim = 128, .value_head_dim = 128};
  const GroupedQueryAttention attention{.heads = 16,
                                        .kv_heads = 2,
                                        .head_dim = 256,
                                        .value_head_dim = 256,
                                        .output_gate = true,
                                        .query_key_norm = QueryKeyNorm::per_head};
  Network network{.name = "Qwen3-Next-80B-A3B", .hidden = 2048, .vocabulary = 151936, .prediction_heads = 1};
  for (int group = 0; group < 12; ++group) {
    network.layers.push_back({Block{.mixers = {linear}, .feed_forward = experts}, 3});
    network.layers.push_back({Block{.mixers = {attention}, .feed_forward = experts}, 1});
  }
  return network;
}

TEST(HybridCounts, Lfm2) { EXPECT_EQ(count_parameters(lfm2()).total(), 1'170'340'608); }

TEST(HybridCounts, Qwen3Next) {
  const ParameterCount count = count_parameters(qwen3_next());
  EXPECT_EQ(count.total(), 79'674'391'296);
  EXPECT_EQ(count.total() + count.prediction, 81'324'862'720);
  EXPECT_EQ(count.active(), 3'874'929'408);
}

// Worked out by hand: hidden 4, two heads of 2, state 3, one group; in 4*(4+4+6+2), convolution 10*4 + 10, out 4*4,
// A, D, step bias 3*2, gated norm 4, two norms of 4.
TEST(HybridCounts, StateSpace) {
  const Block block{.mixers = {StateSpace{.heads = 2, .head_dim = 2, .state = 3}}, .norms = 2};
  const Network network{.hidden = 4, .vocabulary = 5, .tied_embeddings = true, .layers = {{block, 1}}};
  const ParameterCount count = count_parameters(network);
  EXPECT_EQ(count.attention, 4 * 16 + 40 + 10 + 16 + 6);
  EXPECT_EQ(count.norms, 4 + 2 * 4 + 4);
  EXPECT_EQ(count.embedding, 20);
}

} // namespace
