#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/network/weight_scheme.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/parameters.hpp"

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

std::vector<std::string> suggestions(std::string_view name) {
  try {
    (void)scheme(name);
  } catch (const UnknownFormat& error) {
    return {error.nearest().begin(), error.nearest().end()};
  }
  ADD_FAILURE() << name << " is a scheme";
  return {};
}

TEST(WeightScheme, WhatPeopleWriteLeadsToWhatTheyMean) {
  using testing::IsSupersetOf;
  EXPECT_THAT(suggestions("int4"), IsSupersetOf({"int4-g128", "Q4_K_M"}));
  EXPECT_THAT(suggestions("INT4"), IsSupersetOf({"int4-g128", "Q4_K_M"}));
  EXPECT_THAT(suggestions("q4"), IsSupersetOf({"Q4_K_M", "Q4_0"}));
  EXPECT_THAT(suggestions("q4_k"), IsSupersetOf({"Q4_K_M", "Q4_K_S"}));
  EXPECT_THAT(suggestions("fp4"), IsSupersetOf({"nvfp4", "mxfp4"}));
  EXPECT_THAT(suggestions("4bit"), IsSupersetOf({"int4-g128", "Q4_K_M", "mlx-4bit"}));
  EXPECT_THAT(suggestions("8bit"), IsSupersetOf({"fp8", "int8", "Q8_0"}));
  EXPECT_THAT(suggestions("gptq-4bit"), testing::Contains("int4-g128"));
  EXPECT_THAT(suggestions("iq2"), IsSupersetOf({"IQ2_M", "IQ2_XS"}));
  EXPECT_THAT(suggestions("no such thing"), testing::IsEmpty());
}

TEST(WeightScheme, AliasesAndHintsMeanSchemes) {
  for (const auto& [alias, meant] : scheme_aliases) {
    EXPECT_EQ(scheme(alias).name, meant);
  }
  for (const auto& [hint, meant] : detail::scheme_hints) {
    EXPECT_FALSE(find_scheme(hint)) << hint;
    EXPECT_TRUE(find_scheme(meant)) << meant;
  }
}

TEST(WeightScheme, NoNameMeansTwo) {
  std::set<std::string> names;
  for (const WeightScheme& entry : weight_schemes()) {
    EXPECT_TRUE(names.insert(detail::lower_case(entry.name)).second) << entry.name.view();
  }
  for (const auto& [alias, meant] : scheme_aliases) {
    EXPECT_TRUE(names.insert(detail::lower_case(alias)).second) << alias;
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

constexpr SchemeFacts dense_of_32{.layers = 32, .attention_layers = 32, .queries_per_key = 1};

TEST(Mixture, SharedKeysMakeValuesWider) {
  SchemeFacts shared = dense_of_32;
  shared.queries_per_key = 4;
  for (const auto& [name, alone, with_others] : std::vector<std::array<const char*, 3>>{{"Q2_K", "Q3_K", "Q4_K"},
                                                                                        {"Q2_K_S", "Q2_K", "Q4_K"},
                                                                                        {"IQ1_S", "Q2_K", "Q4_K"},
                                                                                        {"IQ2_XS", "Q2_K", "Q4_K"},
                                                                                        {"IQ2_M", "IQ3_S", "Q4_K"},
                                                                                        {"IQ3_XXS", "IQ3_XXS", "Q4_K"},
                                                                                        {"IQ3_S", "IQ3_S", "Q4_K"},
                                                                                        {"IQ3_M", "Q4_K", "Q4_K"},
                                                                                        {"IQ4_XS", "IQ4_XS", "Q5_K"},
                                                                                        {"IQ4_NL", "IQ4_NL", "Q5_K"}}) {
    EXPECT_EQ(format_name(scheme(name), dense_of_32, TensorRole::attention_value, 4096, {9, 32}), alone) << name;
    EXPECT_EQ(format_name(scheme(name), shared, TensorRole::attention_value, 4096, {9, 32}), with_others) << name;
  }
}

TEST(Mixture, FirstLayersAreWider) {
  const auto format = [](const char* name, TensorRole role, Count layer) {
    return format_name(scheme(name), dense_of_32, role, 4096, {layer, 32});
  };
  EXPECT_EQ(format("Q3_K_M", TensorRole::attention_value, 1), "Q5_K");
  EXPECT_EQ(format("Q3_K_M", TensorRole::attention_value, 2), "Q4_K");
  EXPECT_EQ(format("Q3_K_M", TensorRole::feed_forward_down, 1), "Q5_K");
  EXPECT_EQ(format("Q3_K_M", TensorRole::feed_forward_down, 2), "Q4_K");
  EXPECT_EQ(format("Q2_K_S", TensorRole::feed_forward_down, 3), "Q4_K");
  EXPECT_EQ(format("Q2_K_S", TensorRole::feed_forward_down, 4), "Q2_K");
  EXPECT_EQ(format("IQ1_M", TensorRole::feed_forward_down, 3), "Q2_K");
  EXPECT_EQ(format("IQ2_S", TensorRole::feed_forward_down, 3), "IQ3_S");
  EXPECT_EQ(format("IQ4_XS", TensorRole::feed_forward_down, 3), "IQ4_XS");
  EXPECT_EQ(format("IQ4_XS-no-imatrix", TensorRole::feed_forward_down, 3), "Q5_K");
  EXPECT_EQ(format("Q4_0-imatrix", TensorRole::feed_forward_down, 3), "Q4_1");
  EXPECT_EQ(format("Q5_0-imatrix", TensorRole::feed_forward_down, 3), "Q5_1");
  EXPECT_EQ(format("IQ3_XS", TensorRole::feed_forward_up, 3), "IQ3_S");
  EXPECT_EQ(format("IQ3_XS", TensorRole::feed_forward_gate, 4), "IQ3_XXS");
}

TEST(Mixture, EightExpertsHaveCheapAttention) {
  const SchemeFacts eight{.layers = 32, .attention_layers = 32, .queries_per_key = 4, .experts = 8};
  for (const char* name : {"Q4_0", "Q5_K_M", "Q3_K_L", "Q6_K", "IQ3_XXS", "TQ1_0"}) {
    EXPECT_EQ(format_name(scheme(name), eight, TensorRole::attention_key, 4096), "Q8_0") << name;
    EXPECT_EQ(format_name(scheme(name), eight, TensorRole::attention_value, 4096), "Q8_0") << name;
  }
  for (const char* name : {"Q2_K", "Q3_K_S", "Q3_K_M", "Q4_K_S", "Q4_K_M", "IQ1_S", "IQ2_M", "IQ3_XXS", "IQ3_XS",
                           "IQ3_S", "IQ3_M", "IQ4_NL", "IQ4_XS"}) {
    EXPECT_EQ(format_name(scheme(name), eight, TensorRole::attention_output, 4096), "Q5_K") << name;
  }
  EXPECT_EQ(format_name(scheme("Q3_K_L"), eight, TensorRole::attention_output, 4096), "Q3_K");
  EXPECT_EQ(format_name(scheme("IQ2_XXS"), eight, TensorRole::attention_key, 4096), "Q4_K");
  EXPECT_EQ(format_name(scheme("IQ3_M"), eight, TensorRole::expert_down, 14336, {31, 32}), "Q4_K");
  EXPECT_EQ(format_name(scheme("ggml-f16"), eight, TensorRole::attention_key, 4096), "fp16");
}

TEST(Mixture, FalconKeepsItsOutputsAndHasAnOwnHead) {
  const SchemeFacts falcon = scheme_facts(*catalogue::network("falcon-40b"));
  EXPECT_TRUE(holds(SchemeCondition::falcon, falcon));
  const auto format = [&](const char* name, TensorRole role, Count layer = 0) {
    return format_name(scheme(name), falcon, role, 8192, {layer, 60});
  };
  EXPECT_EQ(format("Q4_K_M", TensorRole::lm_head), "Q8_0");
  EXPECT_EQ(format("Q4_K_M", TensorRole::attention_query), "Q5_K");
  EXPECT_EQ(format("Q4_K_M", TensorRole::feed_forward_down, 2), "Q6_K");
  EXPECT_EQ(format("Q4_K_M", TensorRole::feed_forward_down, 3), "Q5_K");
  EXPECT_EQ(format("Q4_K_M", TensorRole::feed_forward_down, 8), "Q4_K");
  EXPECT_EQ(format("Q4_K_S", TensorRole::feed_forward_down), "Q4_K");
  EXPECT_EQ(format("Q3_K_M", TensorRole::feed_forward_down, 8), "Q3_K");
  EXPECT_EQ(format("Q3_K_L", TensorRole::attention_output), "Q4_K");
  EXPECT_EQ(format("Q2_K", TensorRole::attention_output), "Q2_K");
}

TEST(Mixture, NoOtherNetworkIsTakenForFalcon) {
  for (const std::string& id : catalogue::network_ids()) {
    const bool falcon = holds(SchemeCondition::falcon, scheme_facts(*catalogue::network(id)));
    const bool other_architecture = id.starts_with("falcon-h1") || id.starts_with("falcon-mamba");
    EXPECT_EQ(falcon, id.starts_with("falcon-") && !other_architecture) << id;
  }
}

TEST(Mixture, NarrowOnesHaveWiderTables) {
  const auto format = [](const char* name, TensorRole role) {
    return format_name(scheme(name), dense_of_32, role, 4096);
  };
  EXPECT_EQ(format("IQ2_XXS", TensorRole::token_embedding), "Q2_K");
  EXPECT_EQ(format("IQ2_M", TensorRole::token_embedding), "IQ3_S");
  EXPECT_EQ(format("IQ3_XXS", TensorRole::token_embedding), "IQ3_S");
  EXPECT_EQ(format("IQ3_XXS", TensorRole::lm_head), "Q5_K");
  EXPECT_EQ(format("IQ1_S", TensorRole::tied_embedding), "Q5_K");
  EXPECT_EQ(format("TQ1_0", TensorRole::token_embedding), "Q4_K");
  EXPECT_EQ(format("TQ2_0", TensorRole::lm_head), "Q6_K");
}

TEST(Mixture, ExpertsAndLatentProjectionsAreMxfp4InMxfp4Moe) {
  const SchemeFacts facts{.layers = 61, .experts = 256};
  const auto format = [&](TensorRole role) { return format_name(scheme("MXFP4_MOE"), facts, role, 2048); };
  EXPECT_EQ(format(TensorRole::expert_down), "mxfp4");
  EXPECT_EQ(format(TensorRole::latent_key_up), "mxfp4");
  EXPECT_EQ(format(TensorRole::shared_expert_down), "Q8_0");
  EXPECT_EQ(format(TensorRole::attention_output), "Q8_0");
  EXPECT_EQ(format(TensorRole::lm_head), "Q8_0");
  EXPECT_EQ(format(TensorRole::router), "fp32");
}

TEST(WeightScheme, PhonesAndMacsQuantiseTables) {
  const SchemeFacts facts{.layers = 2};
  EXPECT_EQ(format_name(scheme("mlx-4bit"), facts, TensorRole::token_embedding, 64), "mlx-4bit");
  EXPECT_EQ(format_name(scheme("mlx-4bit"), facts, TensorRole::norm, 64), "bf16");
  EXPECT_EQ(format_name(scheme("8da4w"), facts, TensorRole::lm_head, 64), "int8-row");
  EXPECT_EQ(format_name(scheme("w4a16"), facts, TensorRole::feed_forward_up, 64), "int4-row");
  EXPECT_EQ(format_name(scheme("w4a16"), facts, TensorRole::lm_head, 64), "int8-row");
  EXPECT_EQ(bits_per_element(*find_format("mlx-4bit")), 4.5);
  EXPECT_EQ(bits_per_element(*find_format("int3-g128")), 3 + (16 + 3) / 128.0);
}

TEST(WeightScheme, EverySchemeFitsEveryNetwork) {
  for (const std::string& id : catalogue::network_ids()) {
    const Network& network = *catalogue::network(id);
    const auto parameters = static_cast<double>(count_parameters(network).total());
    for (const WeightScheme& entry : weight_schemes()) {
      const double bits = 8 * weight_bytes(network, entry).value() / parameters;
      EXPECT_GT(bits, 1.5) << id << ' ' << entry.name.view();
      EXPECT_LE(bits, 32) << id << ' ' << entry.name.view();
    }
  }
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
