// Bytes of all tensors as llama-bench prints them (`model_size`), rotary frequency tables aside.
#include <initializer_list>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace {

using namespace tokenroof;

struct Shape {
  Count hidden;
  Count layers;
  Count heads;
  Count kv_heads;
  Count width;
  Count vocabulary;
  bool tied = false;
  bool bias = false;
};

Network llama(const Shape& shape) {
  const Count head_dim = shape.hidden / shape.heads;
  const GroupedQueryAttention attention{.heads = shape.heads,
                                        .kv_heads = shape.kv_heads,
                                        .head_dim = head_dim,
                                        .value_head_dim = head_dim,
                                        .query_bias = shape.bias,
                                        .key_bias = shape.bias,
                                        .value_bias = shape.bias};
  return {
      .hidden = shape.hidden,
      .vocabulary = shape.vocabulary,
      .tied_embeddings = shape.tied,
      .layers = {{Block{.mixers = {attention}, .feed_forward = DenseFeedForward{.width = shape.width}}, shape.layers}}};
}

const Network llama_7b = llama({4096, 32, 32, 32, 11008, 32000});
const Network llama_13b = llama({5120, 40, 40, 40, 13824, 32000});
const Network llama3_8b = llama({4096, 32, 32, 8, 14336, 128256});
const Network llama_70b = llama({8192, 80, 64, 8, 28672, 128256});
const Network llama32_1b = llama({2048, 16, 32, 8, 8192, 128256, true});
const Network qwen25_7b = llama({3584, 28, 28, 4, 18944, 152064, false, true});

double bytes(const Network& network, std::string_view name) { return weight_bytes(network, scheme(name)).value(); }

TEST(WeightBytes, EqualLlamaBench) {
  EXPECT_EQ(bytes(llama_7b, "Q4_0"), 3'825'065'984);
  EXPECT_EQ(bytes(llama_7b, "Q4_K_M"), 4'080'263'168);
  EXPECT_EQ(bytes(llama_13b, "Q4_0"), 7'365'089'280);
  EXPECT_EQ(bytes(llama3_8b, "ggml-f16"), 16'061'054'976);
  EXPECT_EQ(bytes(llama3_8b, "Q4_K_M"), 4'912'898'048);
  EXPECT_EQ(bytes(llama_70b, "Q4_K_M"), 42'512'531'456);
  EXPECT_EQ(bytes(llama32_1b, "Q4_K_M"), 799'862'784);
  EXPECT_EQ(bytes(qwen25_7b, "Q4_K_M"), 4'677'120'000);
}

TEST(WeightBytes, SixteenBitCheckpointIsTwoBytesAParameter) {
  EXPECT_EQ(bytes(llama3_8b, "bf16"), 2 * 8'030'261'248.0);
  EXPECT_EQ(bytes(llama3_8b, "fp16"), 2 * 8'030'261'248.0);
}

WeightScheme ggml_scheme(std::string_view format, std::initializer_list<SchemeRule> rules) {
  WeightScheme scheme{.format = *find_format(format), .vectors = *find_format("fp32")};
  for (const SchemeRule& rule : rules) {
    scheme.rules[scheme.rule_count++] = rule;
  }
  return scheme;
}

// Schemes without a name of their own yet, said in rules.
TEST(WeightBytes, ExpertsInMxfp4OthersInF16) {
  const WeightScheme scheme =
      ggml_scheme("fp16", {{.roles = {TensorRole::router}, .format = *find_format("fp32")},
                           {.roles = {TensorRole::expert_gate, TensorRole::expert_up, TensorRole::expert_down},
                            .format = *find_format("mxfp4")}});
  EXPECT_EQ(weight_bytes(*catalogue::network("gpt-oss-20b"), scheme).value(), 13'779'630'336);
}

TEST(WeightBytes, Iq3M) {
  const WeightScheme scheme = ggml_scheme(
      "IQ3_S", {{.roles = {TensorRole::lm_head}, .format = *find_format("Q6_K")},
                {.roles = {TensorRole::attention_value, TensorRole::attention_output}, .format = *find_format("Q4_K")},
                {.roles = {TensorRole::feed_forward_down},
                 .format = *find_format("Q4_K"),
                 .layers = {LayerSelector::Kind::first_part, 8}}});
  Network unfused = *catalogue::network("phi-4"); // the file's queries, keys and values are three tensors
  for (LayerRun& run : unfused.layers) {
    std::get<GroupedQueryAttention>(run.block.mixers.front()).fused = false;
  }
  EXPECT_EQ(weight_bytes(unfused, scheme).value(), 6'736'199'680);
}

} // namespace
