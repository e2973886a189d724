// Formats by role and layer from what configurations say of quantisation.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/errors.hpp"
#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof {
namespace {

using enum TensorRole;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string config(std::string_view quantisation) {
  return R"({"model_type": "qwen3_moe", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 768, "moe_intermediate_size": 128, "num_experts": 8,
    "num_experts_per_tok": 2, "vocab_size": 512, "tie_word_embeddings": false, "max_position_embeddings": 2048,
    "torch_dtype": "bfloat16", "quantization_config": )" +
         std::string(quantisation) + "}";
}

NetworkReading read(std::string_view quantisation) { return examine_network_text(config(quantisation), "test"); }

/// Names of the formats of a role, one a layer where they differ.
std::vector<std::string> formats(const NetworkReading& reading, TensorRole role) {
  std::vector<std::string> names;
  for (const Format& format : reading.weights->stored->by_role[static_cast<std::size_t>(role)]) {
    names.emplace_back(format.name.view());
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(StoredWeights, TablesHeadAndRoutersStayAsTheyWere) {
  const NetworkReading reading = read(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})");
  EXPECT_EQ(formats(reading, attention_query), Names{"fp8-block"});
  EXPECT_EQ(formats(reading, expert_down), Names{"fp8-block"});
  for (const TensorRole role : {token_embedding, lm_head, router, norm}) {
    EXPECT_EQ(formats(reading, role), Names{"bf16"}) << name(role);
  }
}

TEST(StoredWeights, ModulesLeftAloneByNameGlobAndExpression) {
  const auto query = [](std::string_view list) {
    return formats(read(R"({"quant_method": "fp8", "modules_to_not_convert": [)" + std::string(list) + "]}"),
                   attention_query);
  };
  const Names second = {"fp8", "bf16", "fp8", "fp8"};
  EXPECT_EQ(query(R"("model.layers.1.self_attn")"), second);
  EXPECT_EQ(query(R"("model.layers.1.self_attn.q_proj")"), second);
  EXPECT_EQ(query(R"("model.language_model.layers.1.self_attn*")"), second);
  EXPECT_EQ(query(R"("layers.1.self_attn.q_proj")"), second);
  EXPECT_EQ(query(R"("re:.*layers\\.1\\..*q_proj$")"), second);
  EXPECT_EQ(query(R"("*.self_attn.*")"), Names{"bf16"});
  EXPECT_EQ(query(R"("q_proj")"), Names{"bf16"});
  EXPECT_EQ(query(R"("model.layers.1")"), second);
  EXPECT_EQ(query(R"("k_proj", "model.layers.11.self_attn", "lm_head")"), Names{"fp8"});
}

TEST(StoredWeights, GroupsByClassNameAndExpression) {
  const NetworkReading reading = read(R"({"quant_method": "compressed-tensors", "ignore": ["lm_head", "re:.*mlp.gate$"],
    "kv_cache_scheme": {"num_bits": 8, "type": "float"}, "config_groups": {
      "group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32, "symmetric": true}},
      "group_1": {"targets": ["re:.*self_attn.(q|k)_proj$", "model.layers.2.self_attn.v_proj"],
                  "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}})");
  EXPECT_EQ(formats(reading, expert_up), Names{"int4-g32"});
  EXPECT_EQ(formats(reading, attention_query), Names{"fp8"});
  EXPECT_EQ(formats(reading, attention_value), (Names{"int4-g32", "int4-g32", "fp8", "int4-g32"}));
  EXPECT_EQ(formats(reading, lm_head), Names{"bf16"});
  EXPECT_EQ(reading.kv->name.view(), "fp8");
}

TEST(StoredWeights, AlgorithmsByLayer) {
  const NetworkReading reading =
      read(R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
    "model.language_model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
    "model.language_model.layers.1.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16},
    "lm_head": {"quant_algo": "NVFP4"}, "model.layers.3.self_attn.o_proj": {"quant_algo": "SOMETHING"}}})");
  EXPECT_EQ(formats(reading, attention_query), (Names{"fp8", "bf16", "bf16", "bf16"}));
  EXPECT_EQ(formats(reading, expert_gate), (Names{"bf16", "nvfp4", "bf16", "bf16"}));
  EXPECT_EQ(formats(reading, lm_head), Names{"nvfp4"});
  EXPECT_EQ(formats(reading, attention_output), Names{"bf16"});
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("SOMETHING")));
}

TEST(StoredWeights, ExpertsAloneInMxfp4) {
  const NetworkReading reading = read(R"({"quant_method": "mxfp4", "modules_to_not_convert":
    ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]})");
  EXPECT_EQ(formats(reading, expert_down), Names{"mxfp4"});
  EXPECT_EQ(formats(reading, attention_query), Names{"bf16"});
}

TEST(StoredWeights, ExpertsInFp4BesideAnFp8Network) {
  const NetworkReading reading =
      read(R"({"quant_method": "fp8", "weight_block_size": [128, 128]}, "expert_dtype": "fp4")");
  for (const TensorRole role : {expert_gate, expert_up, expert_down}) {
    EXPECT_EQ(formats(reading, role), Names{"mxfp4"});
  }
  EXPECT_EQ(formats(reading, attention_key), Names{"fp8-block"});
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("expert_dtype")));
}

TEST(StoredWeights, MlxQuantisesTablesAndHasExceptions) {
  const NetworkReading reading = read(R"({"bits": 4, "group_size": 64,
    "model.layers.2.mlp.gate": {"bits": 8, "group_size": 64}, "model.layers.0.mlp.switch_mlp.down_proj": false})");
  EXPECT_EQ(formats(reading, token_embedding), Names{"mlx-4bit"});
  EXPECT_EQ(formats(reading, router), (Names{"mlx-4bit", "mlx-4bit", "mlx-8bit", "mlx-4bit"}));
  EXPECT_EQ(formats(reading, expert_down), (Names{"bf16", "mlx-4bit", "mlx-4bit", "mlx-4bit"}));
}

TEST(StoredWeights, QuarkHasAConfigurationForAllAndForSome) {
  const NetworkReading reading = read(R"({"quant_method": "quark", "exclude": ["lm_head", "*.mlp.gate"],
    "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}},
    "layer_quant_config": {"*k_proj": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"},
                                       "output_tensors": {"dtype": "fp8_e4m3"}}}})");
  EXPECT_EQ(formats(reading, attention_query), Names{"mxfp4"});
  EXPECT_EQ(formats(reading, attention_key), Names{"fp8"});
  EXPECT_EQ(reading.kv->name.view(), "fp8");
}

TEST(StoredWeights, GptqMayHaveOtherBitsForSomeModules) {
  const NetworkReading reading = read(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": true,
    "dynamic": {"-:.*self_attn.*": {}, "+:.*down_proj": {"bits": 8}}})");
  EXPECT_EQ(formats(reading, attention_key), Names{"bf16"});
  EXPECT_EQ(formats(reading, expert_down), Names{"int8-g128"});
  EXPECT_EQ(formats(reading, expert_up), Names{"int4-g128"});
  EXPECT_EQ(formats(reading, lm_head), Names{"int4-g128"});
}

TEST(StoredWeights, WhatIsNotUnderstoodIsSaid) {
  const NetworkReading reading = read(
      R"({"quant_method": "fp8", "ignored_layers": ["re:(?!x).*", "model.layers.0.somebodys_own", "model.vision_tower",
          "model.layers.0.input_layernorm", "mtp.layers.0*", "gate", "model.layers.4.self_attn"]})");
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("(?!x)")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("'model.layers.0.somebodys_own'")));
  EXPECT_THAT(reading.assumptions, Each(Not(HasSubstr("more"))));
  for (const char* unknown : {R"({"quant_method": "somebody's own"})", R"({"quant_method": "gptq", "bits": 5})",
                              R"({"quant_algo": "MIXED_PRECISION"})", R"({"quant_method": "compressed-tensors"})",
                              R"({"quant_method": "quark"})", R"({})"}) {
    const NetworkReading none = read(unknown);
    EXPECT_FALSE(none.weights) << unknown;
    EXPECT_THAT(none.assumptions, Contains(HasSubstr("not understood"))) << unknown;
  }
}

/// Assumptions beyond those of a usual statement.
std::size_t notes_of(std::string_view quantisation) {
  return read(quantisation).assumptions.size() - read(R"({"quant_method": "fp8"})").assumptions.size();
}

TEST(StoredWeights, NumbersThatCannotBeAreSaid) {
  for (const char* impossible : {
           R"({"quant_method": "gptq", "bits": 4, "group_size": 0})",
           R"({"quant_method": "gptq", "bits": 4, "group_size": 4611686018427387904})",
           R"({"quant_method": "awq", "bits": 4, "group_size": "128"})",
           R"({"quant_method": "gptq", "bits": "4", "group_size": 128})",
           R"({"quant_method": "fp8", "weight_block_size": [0, 0]})",
           R"({"quant_method": "fp8", "weight_block_size": 128})",
           R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "load_in_8bit": true})",
           R"("fp8")",
       }) {
    EXPECT_EQ(notes_of(impossible), 1U) << impossible;
  }
  for (const char* usual : {
           R"({"quant_method": "gptq", "bits": 4, "group_size": -1})",
           R"({"quant_method": "awq", "bits": 4, "group_size": 128})",
           R"({"quant_method": "fp8", "weight_block_size": null})",
           R"({"quant_method": "fp8", "weight_block_size": [128, 128]})",
       }) {
    EXPECT_EQ(notes_of(usual), 0U) << usual;
  }
}

TEST(StoredWeights, ListsThatTakeTooLongAreRefused) {
  std::string list;
  for (int i = 0; i < 20'000; ++i) {
    list += (i == 0 ? "\"re:" : ", \"re:") + std::string("(.*a)*(.*b)*(.*c)*") + std::to_string(i) + "\"";
  }
  EXPECT_THROW((void)read(R"({"quant_method": "fp8", "ignored_layers": [)" + list + "]}"), InvalidSpec);
}

} // namespace
} // namespace tokenroof
