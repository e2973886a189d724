// What tensors of checkpoints are for, by name.
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "readers/module_names.hpp"

namespace tokenroof::readers {
namespace {

using enum TensorRole;
using Roles = std::vector<TensorRole>;
using Part = TensorMeaning::Part;

void expect_tensor(std::string_view name, const Roles& roles, std::optional<Count> layer, Part part = Part::whole) {
  const TensorMeaning meaning = meaning_of_tensor(name);
  EXPECT_EQ(meaning.roles, roles) << name;
  EXPECT_EQ(meaning.layer, layer) << name;
  EXPECT_EQ(meaning.part, part) << name;
}

TEST(ModuleNames, TensorsInAndOutsideTheLayers) {
  expect_tensor("model.embed_tokens.weight", {token_embedding}, std::nullopt);
  expect_tensor("lm_head.bias", {head_bias}, std::nullopt);
  expect_tensor("transformer.h.7.attn.c_proj.weight", {attention_output}, 7);
  expect_tensor("transformer.h.7.mlp.c_proj.weight", {feed_forward_down}, 7);
  expect_tensor("model.language_model.layers.3.mlp.experts.12.down_proj.weight", {expert_down}, 3);
  expect_tensor("model.layers.3.mlp.shared_experts.up_proj.weight", {shared_expert_up}, 3);
  expect_tensor("model.layers.3.mlp.gate.e_score_correction_bias", {router_bias}, 3);
  expect_tensor("model.layers.3.self_attn.kv_b_proj.weight", {latent_key_up, latent_value_up}, 3);
  expect_tensor("model.layers.3.self_attn.indexer.wq_b.weight", {indexer_query}, 3);
  expect_tensor("model.layers.3.self_attn.q_norm.weight", {norm}, 3);
  expect_tensor("backbone.layers.0.mixer.A_log", {state_parameters}, 0);
  expect_tensor("model.layers.0.linear_attn.conv1d.bias", {state_parameters}, 0);
}

TEST(ModuleNames, PartsOfQuantisedMatrices) {
  expect_tensor("model.layers.0.mlp.up_proj.qweight", {feed_forward_up}, 0, Part::packed);
  expect_tensor("model.layers.0.mlp.up_proj.g_idx", {feed_forward_up}, 0, Part::companion);
  expect_tensor("model.layers.0.mlp.up_proj.weight.quant_state.bitsandbytes__nf4", {feed_forward_up}, 0,
                Part::companion);
  expect_tensor("model.layers.0.mlp.experts.gate_up_proj_blocks", {expert_gate, expert_up}, 0, Part::packed);
  expect_tensor("model.layers.0.mlp.experts.gate_up_proj_scales", {expert_gate, expert_up}, 0, Part::companion);
  expect_tensor("model.layers.0.mlp.experts.down_proj_bias", {expert_bias}, 0);
}

TEST(ModuleNames, WhatIsNoPartOfTheNetworkIsCalledByItsName) {
  EXPECT_EQ(meaning_of_tensor("visual.blocks.0.mlp.fc1.weight").other, "encoders of images or sound");
  EXPECT_EQ(meaning_of_tensor("model.layers.0.self_attn.rotary_emb.inv_freq").other, "rotary tables");
  EXPECT_EQ(meaning_of_tensor("mtp.layers.0.mlp.up_proj.weight").other, "multi-token prediction modules");
  for (const char* name :
       {"", ".", "layers", "layers.", "layers.1", "a.weight", "layers.99999999999999999999.mlp", "_bias"}) {
    EXPECT_FALSE(meaning_of_tensor(name).other.empty()) << name;
  }
}

} // namespace
} // namespace tokenroof::readers
