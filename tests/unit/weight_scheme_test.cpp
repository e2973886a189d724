#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/network/weight_scheme.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace tokenroof;

std::string format_name(const WeightScheme& scheme, const SchemeFacts& facts, TensorRole role, Count row_length,
                        LayerPosition layer = {}) {
  return std::string(format_of(scheme, facts, role, row_length, layer).name.view());
}

TEST(LayerSelector, MoreBitsAreTheEndsAndEveryThirdBetween) {
  const LayerSelector selector{LayerSelector::Kind::more_bits};
  std::string chosen;
  for (Count layer = 0; layer < 32; ++layer) {
    chosen += selector.contains({layer, 32}) ? 'x' : '.';
  }
  EXPECT_EQ(chosen, "xxxx..x..x..x..x..x..x..x..xxxxx");
}

TEST(LayerSelector, Parts) {
  EXPECT_TRUE((LayerSelector{LayerSelector::Kind::first, 4}.contains({3, 32})));
  EXPECT_FALSE((LayerSelector{LayerSelector::Kind::first, 4}.contains({4, 32})));
  EXPECT_TRUE((LayerSelector{LayerSelector::Kind::first_part, 8}.contains({3, 32})));
  EXPECT_FALSE((LayerSelector{LayerSelector::Kind::first_part, 8}.contains({4, 32})));
  EXPECT_FALSE((LayerSelector{LayerSelector::Kind::middle_part, 8}.contains({3, 32})));
  EXPECT_TRUE((LayerSelector{LayerSelector::Kind::middle_part, 8}.contains({4, 32})));
  EXPECT_FALSE((LayerSelector{LayerSelector::Kind::middle_part, 8}.contains({28, 32})));
}

TEST(WeightScheme, IsFoundWhateverTheCase) {
  EXPECT_EQ(scheme("q4_k_m").name, "Q4_K_M");
  EXPECT_EQ(scheme("BF16").name, "bf16");
  EXPECT_EQ(scheme("F16").name, "ggml-f16");
  EXPECT_EQ(scheme("FP16").name, "fp16");
}

TEST(WeightScheme, UnknownNameSuggestsTheNearest) {
  try {
    (void)scheme("Q4_K_X");
    FAIL() << "no such scheme";
  } catch (const UnknownFormat& error) {
    EXPECT_THAT(error.nearest(), testing::Contains("Q4_K_M"));
  }
}

TEST(WeightScheme, RowsThatBlocksDoNotDivideGetASubstitute) {
  const Format q4_k = *find_format("Q4_K");
  EXPECT_EQ(stored_format(q4_k, 4096).name, "Q4_K");
  EXPECT_EQ(stored_format(q4_k, 896).name, "Q5_0");
  EXPECT_EQ(stored_format(q4_k, 100).name, "fp16");
  EXPECT_EQ(stored_format(*find_format("Q5_K"), 896).name, "Q5_1");
  EXPECT_EQ(stored_format(*find_format("Q6_K"), 896).name, "Q8_0");
  EXPECT_EQ(stored_format(*find_format("IQ2_XS"), 896).name, "IQ4_NL");
  EXPECT_EQ(stored_format(*find_format("TQ1_0"), 896).name, "Q4_0");
  EXPECT_EQ(stored_format(*find_format("int4-g128"), 100).name, "int4-g128") << "ggml's rule, nobody else's";
}

TEST(WeightScheme, MixtureKeepsWhatMattersWider) {
  const WeightScheme mixture = scheme("Q4_K_M");
  const SchemeFacts dense{.layers = 32, .attention_layers = 32, .queries_per_key = 4};
  EXPECT_EQ(format_name(mixture, dense, TensorRole::lm_head, 4096), "Q6_K");
  EXPECT_EQ(format_name(mixture, dense, TensorRole::tied_embedding, 4096), "Q6_K");
  EXPECT_EQ(format_name(mixture, dense, TensorRole::token_embedding, 4096), "Q4_K");
  EXPECT_EQ(format_name(mixture, dense, TensorRole::norm, 4096), "fp32");
  EXPECT_EQ(format_name(mixture, dense, TensorRole::router, 4096), "fp32");
  EXPECT_EQ(format_name(mixture, dense, TensorRole::attention_value, 4096, {0, 32}), "Q6_K");
  EXPECT_EQ(format_name(mixture, dense, TensorRole::attention_value, 4096, {4, 32}), "Q4_K");
  EXPECT_EQ(format_name(mixture, dense, TensorRole::feed_forward_down, 14336, {31, 32}), "Q6_K");
}

TEST(WeightScheme, MixtureAsksAboutTheNetwork) {
  const WeightScheme mixture = scheme("Q4_K_M");
  const SchemeFacts eight{.layers = 32, .attention_layers = 32, .queries_per_key = 4, .experts = 8};
  EXPECT_EQ(format_name(mixture, eight, TensorRole::attention_value, 4096, {4, 32}), "Q8_0");
  EXPECT_EQ(format_name(mixture, eight, TensorRole::attention_output, 4096), "Q5_K");
  const SchemeFacts eighty{.layers = 80, .attention_layers = 80, .queries_per_key = 8};
  EXPECT_EQ(format_name(mixture, eighty, TensorRole::attention_value, 8192, {11, 80}), "Q5_K");
  const SchemeFacts fused{.layers = 32, .attention_layers = 32, .fused = true};
  EXPECT_EQ(format_name(mixture, fused, TensorRole::attention_value, 3072, {0, 32}), "Q5_K");
}

TEST(WeightScheme, CheckpointsKeepTablesAndRoutersAtSixteenBits) {
  const SchemeFacts facts{.layers = 2, .experts = 8};
  EXPECT_EQ(format_name(scheme("fp8"), facts, TensorRole::lm_head, 64), "bf16");
  EXPECT_EQ(format_name(scheme("fp8"), facts, TensorRole::router, 64), "bf16");
  EXPECT_EQ(format_name(scheme("fp8"), facts, TensorRole::expert_up, 64), "fp8");
  EXPECT_EQ(format_name(scheme("awq"), facts, TensorRole::norm, 64), "fp16");
  EXPECT_EQ(format_name(scheme("mxfp4"), facts, TensorRole::expert_up, 64), "mxfp4");
  EXPECT_EQ(format_name(scheme("mxfp4"), facts, TensorRole::attention_query, 64), "bf16");
  EXPECT_EQ(format_name(scheme("mxfp4"), {.layers = 2}, TensorRole::attention_query, 64), "mxfp4");
}

TEST(WeightScheme, FormatsOfARunAddUpToItsLayers) {
  const WeightScheme mixture = scheme("Q4_K_M");
  const SchemeFacts facts{.layers = 32, .attention_layers = 32};
  const Tensor down{TensorRole::feed_forward_down, 4096, 14336};
  Count wide = 0;
  Count all = 0;
  for_each_format(mixture, facts, down, {.first = 0, .count = 32}, [&](const Format& format, Count layers) {
    all += layers;
    wide += format.name == "Q6_K" ? layers : 0;
  });
  EXPECT_EQ(all, 32);
  EXPECT_EQ(wide, 16);
}

TEST(Storage, BlocksThatSpanRowsAreNotPadded) {
  EXPECT_EQ(storage(*find_format("fp8-block"), 128, 128).value(), 16388);
  EXPECT_EQ(storage(*find_format("fp8-block"), 1024, 7168).value(), 1024.0 * 7168 * 16388 / 16384);
  EXPECT_EQ(storage(*find_format("Q4_0"), 2, 33).value(), 2 * 2 * 18);
}

TEST(Storage, EachRowMayHaveAScaleOfItsOwn) {
  EXPECT_EQ(storage(*find_format("IQ4_KS"), 1, 4096).value(), 4 + 16 * 136);
  EXPECT_EQ(storage(*find_format("IQ4_KS"), 3, 256).value(), 3 * (4 + 136));
}

// As the pull requests that add them to ik_llama.cpp say; scales of rows aside.
TEST(Format, BitsOfIkLlamaTypes) {
  const std::vector<std::pair<std::string_view, double>> published = {
      {"IQ1_KT", 1.75},  {"IQ2_K", 2.375},   {"IQ2_KS", 2.1875}, {"IQ2_KL", 2.6875}, {"IQ2_KT", 2.125},
      {"IQ3_K", 3.4375}, {"IQ3_KS", 3.1875}, {"IQ3_KT", 3.125},  {"IQ4_K", 4.5},     {"IQ4_KS", 4.25},
      {"IQ4_KSS", 4.0},  {"IQ5_K", 5.5},     {"IQ5_KS", 5.25},   {"IQ6_K", 6.625},   {"Q6_0", 6.5},
      {"IQ1_BN", 1.625}, {"IQ2_BN", 2.0},    {"IQ4_KT", 4.0}};
  for (const auto& [name, bits] : published) {
    EXPECT_EQ(bits_per_element(find_format(name).value()), bits) << name;
  }
}

} // namespace
