// Networks from GGUF files, and the bytes of their tensors.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "readers/gguf.hpp"
#include "support/gguf_network.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::readers {
namespace {

using test::as_bytes;
using test::GgufWriter;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

NetworkReading read(const GgufWriter& out) { return parse_gguf(as_bytes(out.bytes()), "test.gguf"); }

double bytes(const NetworkReading& reading) { return weight_bytes(reading.network, reading.weights.value()).value(); }

std::string complaint(const GgufWriter& out) {
  try {
    (void)read(out);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

constexpr Count hidden = 256;

GroupedQueryAttention attention() { return {.heads = 4, .kv_heads = 2, .head_dim = 64, .value_head_dim = 64}; }

Network small(Block block, Count layers = 2) {
  return {.name = "small",
          .hidden = hidden,
          .vocabulary = 512,
          .context_limit = Tokens::from_value(2048),
          .layers = {{std::move(block), layers}}};
}

Network dense() { return small({.mixers = {attention()}, .feed_forward = DenseFeedForward{.width = 768}}); }

/// Reads the file of that network, whose bytes must be the table's.
NetworkReading round_trip(const Network& network, std::string_view format = "Q4_K_M") {
  const GgufWriter out = test::gguf_of(network, scheme(format));
  NetworkReading reading = read(out);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_EQ(reading.weights->stored->other.value(), 0);
  EXPECT_EQ(reading.network, network);
  return reading;
}

GgufWriter start(std::uint32_t blocks = 1) {
  GgufWriter out;
  out.text("general.architecture", "llama").number("llama.block_count", blocks);
  out.number("llama.embedding_length", hidden).number("llama.attention.head_count", 4);
  out.tensor("token_embd.weight", {hidden, 512}, 1, 2 * hidden * 512)
      .tensor("output_norm.weight", {hidden}, 0, 4 * hidden);
  return out;
}

GgufWriter& add_attention(GgufWriter& out, const std::string& place = "blk.0.") {
  for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_output.weight"}) {
    out.tensor(place + name, {hidden, hidden}, 1, 2 * hidden * hidden);
  }
  out.tensor(place + "attn_norm.weight", {hidden}, 0, 4 * hidden);
  return out.tensor(place + "ffn_norm.weight", {hidden}, 0, 4 * hidden);
}

GgufWriter& add_dense(GgufWriter& out, const std::string& place = "blk.0.") {
  out.tensor(place + "ffn_gate.weight", {hidden, 512}, 1, 2 * hidden * 512);
  out.tensor(place + "ffn_up.weight", {hidden, 512}, 1, 2 * hidden * 512);
  return out.tensor(place + "ffn_down.weight", {512, hidden}, 1, 2 * hidden * 512);
}

GgufWriter one_layer() {
  GgufWriter out = start();
  add_attention(out);
  add_dense(out);
  return out;
}

TEST(Gguf, ReadsADenseNetwork) {
  const NetworkReading reading = round_trip(dense());
  EXPECT_THAT(reading.assumptions, IsEmpty());
  EXPECT_EQ(reading.network.context_limit.value(), 2048);
}

TEST(Gguf, NoHeadMeansTiedEmbeddings) {
  Network tied = dense();
  tied.tied_embeddings = true;
  round_trip(tied);
}

TEST(Gguf, ReadsBiasesNormsGatesAndSinks) {
  GroupedQueryAttention full = attention();
  full.query_bias = full.key_bias = full.value_bias = full.output_bias = true;
  full.sinks = full.output_gate = true;
  for (const QueryKeyNorm norm : {QueryKeyNorm::none, QueryKeyNorm::per_head, QueryKeyNorm::per_model}) {
    full.query_key_norm = norm;
    Network network = small({.mixers = {full},
                             .feed_forward = DenseFeedForward{.width = 512, .gated = false, .bias = true},
                             .normalisation = {.bias = true},
                             .norms = 4});
    network.normalisation.bias = true;
    network.head_bias = true;
    network.embedding_norm = true;
    network.learned_positions = 128;
    round_trip(network);
  }
}

TEST(Gguf, OneNormBeforeBothMeansParallel) {
  Block block = dense().layers[0].block;
  block.norms = 1;
  block.parallel = true;
  round_trip(small(block));
}

TEST(Gguf, ProjectionsMayBeOneTensor) {
  GroupedQueryAttention fused = attention();
  fused.fused = true;
  fused.query_bias = fused.key_bias = fused.value_bias = true;
  round_trip(small({.mixers = {fused}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, GateAndUpProjectionMayBeOneTensor) {
  const Network network = dense();
  GgufWriter out;
  out.text("general.architecture", "phi3").number("phi3.block_count", 1).number("phi3.embedding_length", hidden);
  out.number("phi3.attention.head_count", 4).number("phi3.attention.head_count_kv", 2);
  out.tensor("token_embd.weight", {hidden, 512}, 1, 2 * hidden * 512)
      .tensor("output_norm.weight", {hidden}, 0, 4 * hidden);
  out.tensor("blk.0.attn_norm.weight", {hidden}, 0, 4 * hidden)
      .tensor("blk.0.ffn_norm.weight", {hidden}, 0, 4 * hidden);
  out.tensor("blk.0.attn_qkv.weight", {hidden, 512}, 12, 144 * 512);
  out.tensor("blk.0.attn_output.weight", {hidden, hidden}, 14, 210 * hidden);
  out.tensor("blk.0.ffn_up.weight", {hidden, 2 * 768}, 13, 176 * 2 * 768);
  out.tensor("blk.0.ffn_down.weight", {768, hidden}, 14, 3 * 210 * hidden);
  const NetworkReading reading = read(out);
  Block block = network.layers[0].block;
  std::get<GroupedQueryAttention>(block.mixers[0]).fused = true;
  EXPECT_EQ(reading.network.layers[0].block, block);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
}

LatentAttention latent() {
  return {
      .heads = 4, .query_rank = 256, .kv_rank = 256, .nope_head_dim = 64, .rope_head_dim = 32, .value_head_dim = 64};
}

TEST(Gguf, LatentAttentionWithSplitProjections) {
  LatentAttention mixer = latent();
  round_trip(small({.mixers = {mixer}, .feed_forward = DenseFeedForward{.width = 512}}));
  mixer.query_rank = 0;
  round_trip(small({.mixers = {mixer}, .feed_forward = DenseFeedForward{.width = 512}}));
}

/// One layer of latent attention; `both` adds the split tensors to the merged one.
GgufWriter merged_latent(std::uint32_t type, std::uint64_t bytes, bool both) {
  GgufWriter out;
  out.text("general.architecture", "deepseek2").number("deepseek2.block_count", 1);
  out.number("deepseek2.embedding_length", hidden).number("deepseek2.attention.head_count", 4);
  out.number("deepseek2.attention.head_count_kv", 4);
  out.tensor("token_embd.weight", {hidden, 512}, 1, 2 * hidden * 512)
      .tensor("output_norm.weight", {hidden}, 0, 4 * hidden);
  out.tensor("blk.0.attn_norm.weight", {hidden}, 0, 4 * hidden)
      .tensor("blk.0.ffn_norm.weight", {hidden}, 0, 4 * hidden);
  out.tensor("blk.0.attn_q_a.weight", {hidden, 256}, 1, 2 * hidden * 256);
  out.tensor("blk.0.attn_q_a_norm.weight", {256}, 0, 4 * 256);
  out.tensor("blk.0.attn_q_b.weight", {256, 4 * 96}, 1, 2 * 256 * 4 * 96);
  out.tensor("blk.0.attn_kv_a_mqa.weight", {hidden, 256 + 32}, 1, 2 * hidden * 288);
  out.tensor("blk.0.attn_kv_a_norm.weight", {256}, 0, 4 * 256);
  out.tensor("blk.0.attn_kv_b.weight", {256, 4 * 128}, type, bytes);
  if (both) {
    out.tensor("blk.0.attn_k_b.weight", {64, 256, 4}, 8, 2 * 34 * 256 * 4);
    out.tensor("blk.0.attn_v_b.weight", {256, 64, 4}, 8, 8 * 34 * 64 * 4);
  }
  out.tensor("blk.0.attn_output.weight", {256, hidden}, 1, 2 * 256 * hidden);
  out.tensor("blk.0.ffn_gate.weight", {hidden, 512}, 1, 2 * hidden * 512);
  out.tensor("blk.0.ffn_up.weight", {hidden, 512}, 1, 2 * hidden * 512);
  out.tensor("blk.0.ffn_down.weight", {512, hidden}, 1, 2 * hidden * 512);
  return out;
}

TEST(Gguf, LatentAttentionWithMergedProjections) {
  const std::uint64_t rows = 4 * 128;
  for (const GgufWriter& out : {merged_latent(12, 144 * rows, false), merged_latent(8, 8 * 34 * rows, false),
                                merged_latent(144, (4 + 136) * rows, false)}) {
    const NetworkReading reading = read(out);
    EXPECT_EQ(std::get<LatentAttention>(reading.network.layers[0].block.mixers[0]), latent());
    EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
    EXPECT_EQ(reading.weights->stored->other.value(), 0);
  }
}

TEST(Gguf, SecondCopyOfLatentProjectionsIsNoPartOfTheNetwork) {
  const GgufWriter out = merged_latent(12, 144 * 512, true);
  const NetworkReading reading = read(out);
  EXPECT_EQ(std::get<LatentAttention>(reading.network.layers[0].block.mixers[0]), latent());
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_EQ(reading.weights->stored->other.value(), 144 * 512);
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("second copy")));
}

TEST(Gguf, ReadsStateSpaces) {
  StateSpace mixer{.heads = 8, .head_dim = 64, .state = 128, .groups = 2};
  round_trip(small({.mixers = {mixer}, .norms = 1}));
  mixer.projection_bias = true;
  mixer.convolution_bias = false;
  round_trip(small({.mixers = {mixer}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, ReadsAttentionBesideAStateSpace) {
  const StateSpace space{.heads = 8, .head_dim = 64, .state = 128, .groups = 1};
  round_trip(small({.mixers = {attention(), space}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, ReadsLinearAttention) {
  const LinearAttention mixer{.key_heads = 4, .value_heads = 8, .key_head_dim = 64, .value_head_dim = 32};
  Network network =
      small({.mixers = {mixer}, .feed_forward = MixtureOfExperts{.experts = 4, .active = 2, .width = 256}}, 3);
  GroupedQueryAttention gated = attention();
  gated.output_gate = true;
  network.layers.push_back({{.mixers = {gated}, .feed_forward = DenseFeedForward{.width = 512}}, 1});
  round_trip(network);
}

TEST(Gguf, ReadsShortConvolutions) {
  round_trip(small({.mixers = {ShortConvolution{.taps = 3}}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, ReadsSelectiveScans) {
  SelectiveScan mixer{.inner = 512, .state = 16, .step_rank = 32};
  round_trip(small({.mixers = {mixer}, .norms = 1}));
  mixer.norms = mixer.projection_bias = true;
  mixer.convolution_bias = false;
  round_trip(small({.mixers = {mixer}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, ReadsLinearAttentionWithDecaysByChannel) {
  round_trip(small({.mixers = {LinearAttention{.key_heads = 4,
                                               .value_heads = 4,
                                               .key_head_dim = 64,
                                               .value_head_dim = 32,
                                               .rule = LinearRule::channel_gated_delta,
                                               .decay_rank = 32,
                                               .gate_rank = 64}},
                    .feed_forward = DenseFeedForward{.width = 512}}));
}

LinearAttention receptance() {
  return {.key_heads = 4,
          .value_heads = 4,
          .key_head_dim = 64,
          .value_head_dim = 64,
          .convolution = 0,
          .rule = LinearRule::receptance};
}

TEST(Gguf, ReadsReceptance) {
  round_trip(small({.mixers = {receptance()},
                    .feed_forward = DenseFeedForward{.width = 512, .gated = false, .receptance = true},
                    .normalisation = {.bias = true}}));
}

TEST(Gguf, LowRankProjectionsOfReceptanceAreNoPartOfTheNetwork) {
  const Network network = small(
      {.mixers = {receptance()}, .feed_forward = DenseFeedForward{.width = 512, .gated = false, .receptance = true}},
      1);
  GgufWriter out = test::gguf_of(network, scheme("ggml-f16"));
  out.tensor("blk.0.time_mix_w1.weight", {hidden, 160}, 1, 2 * hidden * 160);
  out.tensor("blk.0.time_mix_lerp_w.weight", {hidden, 1, 1}, 0, 4 * hidden);
  const NetworkReading reading = read(out);
  EXPECT_EQ(reading.network, network);
  EXPECT_EQ(reading.weights->stored->other.value(), 2 * hidden * 160 + 4 * hidden);
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("time_mix_w1")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("state_parameters: the file has 256 elements beyond")));
}

TEST(Gguf, ReadsIndexers) {
  LatentAttention mixer = latent();
  mixer.indexer = TokenIndexer{.heads = 8, .head_dim = 64, .key_norm = {.bias = true}};
  mixer.selected = Tokens::from_value(2048);
  round_trip(small({.mixers = {mixer}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, ReadsAMapInPlaceOfAttention) {
  round_trip(small({.mixers = {LinearMap{}}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, ReadsEmbeddingsOfEachLayer) {
  Network network = small({.mixers = {attention()}, .feed_forward = DenseFeedForward{.width = 512}, .scale = true});
  network.per_layer_width = 64;
  network.per_layer_vocabulary = 400;
  round_trip(network, "ggml-f16");
}

TEST(Gguf, LastLayersMayShareACache) {
  Network network = dense();
  Block sharing = network.layers[0].block;
  std::get<GroupedQueryAttention>(sharing.mixers[0]).shares_cache = true;
  network.layers.push_back({sharing, 2});
  round_trip(network);
}

TEST(Gguf, LayersThatShareACacheMayHaveNoKeys) {
  GgufWriter out = start(2);
  out.number("llama.attention.shared_kv_layers", 1);
  add_attention(out);
  add_dense(out);
  out.tensor("blk.1.attn_q.weight", {hidden, hidden}, 1, 2 * hidden * hidden);
  out.tensor("blk.1.attn_output.weight", {hidden, hidden}, 1, 2 * hidden * hidden);
  out.tensor("blk.1.attn_norm.weight", {hidden}, 0, 4 * hidden)
      .tensor("blk.1.ffn_norm.weight", {hidden}, 0, 4 * hidden);
  add_dense(out, "blk.1.");
  const NetworkReading reading = read(out);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_TRUE(std::get<GroupedQueryAttention>(reading.network.layers[1].block.mixers[0]).shares_cache);
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("attention_key: the file has 65536 elements fewer")));
}

TEST(Gguf, ValuesMayBeKeysWhereTheArchitectureSaysSo) {
  GroupedQueryAttention same = attention();
  same.keys_are_values = true;
  round_trip(small({.mixers = {same}, .feed_forward = DenseFeedForward{.width = 512}}));
  GgufWriter llama;
  const Network network = small({.mixers = {same}, .feed_forward = DenseFeedForward{.width = 512}});
  test::GgufNetworkWriter(network, scheme("ggml-f16"), llama, "llama").write();
  EXPECT_THAT(complaint(llama), HasSubstr("blk.0.attn_v.weight"));
}

TEST(Gguf, GatesMayBeByHead) {
  GroupedQueryAttention gated = attention();
  gated.head_gate = true;
  round_trip(small({.mixers = {gated}, .feed_forward = DenseFeedForward{.width = 512}}));
}

TEST(Gguf, ExpertsMayHaveAWidthOfTheirOwnAndScales) {
  round_trip(small({.mixers = {attention()},
                    .feed_forward = MixtureOfExperts{
                        .experts = 8, .active = 2, .width = 256, .latent_width = 512, .router_scale = true}}));
}

TEST(Gguf, ReadsExperts) {
  MixtureOfExperts moe{.experts = 8, .active = 2, .width = 256};
  round_trip(small({.mixers = {attention()}, .feed_forward = moe}));
  moe.shared_width = 512;
  moe.shared_gate = moe.router_bias = moe.score_correction = moe.expert_bias = true;
  round_trip(small({.mixers = {attention()}, .feed_forward = moe}));
  moe.gated = false;
  round_trip(small({.mixers = {attention()}, .feed_forward = moe}));
}

TEST(Gguf, LayersMayDiffer) {
  Network network = dense();
  Block other = network.layers[0].block;
  std::get<GroupedQueryAttention>(other.mixers[0]).kv_heads = 1;
  other.feed_forward = MixtureOfExperts{.experts = 4, .active = 1, .width = 256};
  network.layers.push_back({other, 3});
  round_trip(network);
}

TEST(Gguf, OldFilesHaveOneTensorPerExpert) {
  GgufWriter out = start();
  out.number("llama.expert_used_count", 2);
  add_attention(out);
  out.tensor("blk.0.ffn_gate_inp.weight", {hidden, 4}, 0, 4 * hidden * 4);
  for (int expert = 0; expert < 4; ++expert) {
    const std::string number = std::to_string(expert);
    out.tensor("blk.0.ffn_gate." + number + ".weight", {hidden, 512}, 12, 144 * 512);
    out.tensor("blk.0.ffn_up." + number + ".weight", {hidden, 512}, 12, 144 * 512);
    out.tensor("blk.0.ffn_down." + number + ".weight", {512, hidden}, expert == 0 ? 14 : 12,
               (expert == 0 ? 210 : 144) * 2 * hidden);
  }
  const NetworkReading reading = read(out);
  EXPECT_EQ(std::get<MixtureOfExperts>(*reading.network.layers[0].block.feed_forward),
            (MixtureOfExperts{.experts = 4, .active = 2, .width = 512}));
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes())) << "formats differ between experts";
}

TEST(Gguf, ADenseNetworkBesideExpertsIsASharedOne) {
  GgufWriter out = start();
  out.number("llama.expert_used_count", 2);
  add_attention(out);
  add_dense(out);
  out.tensor("blk.0.ffn_gate_inp.weight", {hidden, 4}, 0, 4 * hidden * 4);
  out.tensor("blk.0.ffn_gate_up_exps.weight", {hidden, 512, 4}, 12, 144 * 512 * 4);
  out.tensor("blk.0.ffn_down_exps.weight", {256, hidden, 4}, 12, 144 * hidden * 4);
  const NetworkReading reading = read(out);
  EXPECT_EQ(std::get<MixtureOfExperts>(*reading.network.layers[0].block.feed_forward),
            (MixtureOfExperts{.experts = 4, .active = 2, .width = 256, .shared_width = 512}));
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("shared expert")));
}

TEST(Gguf, AnOutputGateMayBeATensorOfItsOwn) {
  GgufWriter out = one_layer();
  out.tensor("blk.0.attn_gate.weight", {hidden, hidden}, 12, 144 * hidden);
  const NetworkReading reading = read(out);
  EXPECT_TRUE(std::get<GroupedQueryAttention>(reading.network.layers[0].block.mixers[0]).output_gate);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes())) << "two formats in one role";
  EXPECT_EQ(reading.weights->stored->other.value(), 0);
}

TEST(Gguf, RotaryTablesAndEncodersAreNoPartOfTheNetwork) {
  GgufWriter out = one_layer();
  out.tensor("rope_freqs.weight", {64}, 0, 256).tensor("v.blk.0.attn_q.weight", {64, 64}, 1, 2 * 64 * 64);
  out.tensor("blk.0.attn_q.scale", {1}, 0, 4);
  const NetworkReading reading = read(out);
  EXPECT_EQ(reading.weights->stored->other.value(), 256 + 2 * 64 * 64 + 4);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("rope_freqs.weight")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("encoder of images")));
}

TEST(Gguf, NormsOfAnotherWidthAreNoNormsOfTheLayer) {
  GgufWriter out = one_layer();
  out.tensor("blk.0.attn_post_norm.weight", {64}, 0, 256).tensor("blk.0.ffn_sub_norm.weight", {512}, 0, 2048);
  const NetworkReading reading = read(out);
  EXPECT_EQ(reading.network.layers[0].block.norms, 2);
  EXPECT_EQ(reading.weights->stored->other.value(), 256 + 2048);
}

TEST(Gguf, TheLastNormMayHaveTheFirstOnesName) {
  GgufWriter out;
  out.text("general.architecture", "lfm2").number("lfm2.block_count", 1).number("lfm2.embedding_length", hidden);
  out.tensor("token_embd.weight", {hidden, 512}, 1, 2 * hidden * 512)
      .tensor("token_embd_norm.weight", {hidden}, 0, 4 * hidden);
  add_dense(out);
  const NetworkReading reading = read(out);
  EXPECT_TRUE(reading.network.final_norm);
  EXPECT_FALSE(reading.network.embedding_norm);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
}

TEST(Gguf, UnknownMatricesAreNamed) {
  GgufWriter out = one_layer();
  out.tensor("blk.0.new_kind.weight", {hidden, 2}, 0, 4 * hidden * 2);
  EXPECT_THAT(complaint(out), HasSubstr("blk.0.new_kind.weight"));
  GgufWriter vectors = one_layer();
  vectors.tensor("blk.0.new_kind.weight", {hidden}, 0, 4 * hidden);
  EXPECT_EQ(read(vectors).weights->stored->other.value(), 4 * hidden);
}

TEST(Gguf, MissingTensorsAreNamed) {
  EXPECT_THAT(complaint(start()), HasSubstr("llama.block_count = 1"));
  GgufWriter without_keys = start();
  without_keys.tensor("blk.0.attn_q.weight", {hidden, hidden}, 1, 2 * hidden * hidden);
  EXPECT_THAT(complaint(without_keys), HasSubstr("blk.0.attn_k.weight"));
  GgufWriter without_down = start();
  add_attention(without_down).tensor("blk.0.ffn_up.weight", {hidden, 512}, 1, 2 * hidden * 512);
  EXPECT_THAT(complaint(without_down), HasSubstr("blk.0.ffn_down.weight"));
  GgufWriter neither = start();
  neither.tensor("blk.0.attn_norm.weight", {hidden}, 0, 4 * hidden);
  EXPECT_THAT(complaint(neither), HasSubstr("neither attention nor"));
}

TEST(Gguf, KeysThatContradictShapesAreNamed) {
  GgufWriter out = one_layer();
  out.number("llama.attention.head_count_kv", 3);
  EXPECT_THAT(complaint(out), HasSubstr("llama.attention.head_count_kv = 3"));
  GgufWriter one_key_head = one_layer();
  one_key_head.number("llama.attention.head_count_kv", 1);
  EXPECT_THAT(complaint(one_key_head), HasSubstr("blk.0.attn_q.weight"));
}

TEST(Gguf, MissingKeysAreNamed) {
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {1}, 0, 4)), HasSubstr("general.architecture"));
  EXPECT_THAT(complaint(GgufWriter().text("general.architecture", "x").tensor("token_embd.weight", {1}, 0, 4)),
              HasSubstr("x.embedding_length"));
  GgufWriter experts = start();
  add_attention(experts).tensor("blk.0.ffn_gate_inp.weight", {hidden, 4}, 0, 4 * hidden * 4);
  EXPECT_THAT(complaint(experts), HasSubstr("llama.expert_used_count"));
}

TEST(Gguf, WhatIsNoNetworkSaysSo) {
  EXPECT_THAT(complaint(GgufWriter().text("general.architecture", "llama")), HasSubstr("vocabulary"));
  EXPECT_THAT(complaint(GgufWriter().text("general.architecture", "clip").tensor("v.t", {1}, 0, 4)), HasSubstr("clip"));
  EXPECT_THAT(
      complaint(
          GgufWriter().text("general.architecture", "llama").text("general.type", "adapter").tensor("t", {1}, 0, 4)),
      HasSubstr("adapter"));
}

TEST(Gguf, PredictionModulesAreLayersBeyondTheNetwork) {
  GgufWriter out = start(2);
  add_attention(out);
  add_dense(out);
  add_attention(out, "blk.1.");
  add_dense(out, "blk.1.");
  out.tensor("blk.1.nextn.eh_proj.weight", {2 * hidden, hidden}, 1, 4 * hidden * hidden);
  const NetworkReading reading = read(out);
  EXPECT_EQ(layer_count(reading.network), 1);
  EXPECT_EQ(reading.network.prediction_heads, 1);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_EQ(reading.weights->stored->other.value(),
            2 * (4 * hidden * hidden + 3 * hidden * 512 + 2 * hidden * hidden) + 2 * 4 * hidden);
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("prediction modules")));
}

TEST(Gguf, PredictionModulesMayBeLeftOutOfTheFile) {
  GgufWriter out = start(2);
  out.number("llama.nextn_predict_layers", 1);
  add_attention(out);
  add_dense(out);
  const NetworkReading reading = read(out);
  EXPECT_EQ(layer_count(reading.network), 1);
  EXPECT_EQ(reading.network.prediction_heads, 0);
  EXPECT_THAT(complaint(start(3).number("llama.nextn_predict_layers", 1)), HasSubstr("llama.block_count = 3"));
}

TEST(Gguf, TheMixtureHasTheFilesName) {
  EXPECT_EQ(read(one_layer().number("general.file_type", 15)).weights->name, "Q4_K_M");
  EXPECT_EQ(read(one_layer().number("general.file_type", 1024 + 18)).weights->name, "Q6_K");
  EXPECT_EQ(read(one_layer()).weights->name, "fp16") << "the commonest format";
  EXPECT_EQ(read(one_layer().number("general.file_type", 999)).weights->name, "fp16");
}

TEST(Gguf, TheNetworkHasTheFilesName) {
  EXPECT_EQ(read(one_layer().text("general.name", "Some Model")).network.name, "Some Model");
  EXPECT_EQ(read(one_layer()).network.name, "test");
  EXPECT_EQ(read(one_layer().text("general.name", "a\nb")).network.name, "test");
}

/// Windows of a network of the given layers of that architecture.
std::vector<double> windows(const std::string& architecture, Count layers, GgufWriter out) {
  out.text("general.architecture", architecture)
      .number(architecture + ".block_count", static_cast<std::uint32_t>(layers));
  out.number(architecture + ".embedding_length", hidden).number(architecture + ".attention.head_count", 4);
  out.tensor("token_embd.weight", {hidden, 512}, 1, 2 * hidden * 512)
      .tensor("output_norm.weight", {hidden}, 0, 4 * hidden);
  for (Count layer = 0; layer < layers; ++layer) {
    const std::string place = "blk." + std::to_string(layer) + ".";
    add_attention(out, place);
    add_dense(out, place);
  }
  std::vector<double> found;
  const NetworkReading reading = read(out);
  for (const LayerRun& run : reading.network.layers) {
    const auto window = std::get<GroupedQueryAttention>(run.block.mixers[0]).window;
    found.insert(found.end(), static_cast<std::size_t>(run.count), window ? window->value() : 0);
  }
  return found;
}

TEST(Gguf, WindowsFollowWhatEnginesKnow) {
  const auto stated = [](const std::string& architecture, std::uint32_t window) {
    return GgufWriter().number(architecture + ".attention.sliding_window", window);
  };
  EXPECT_EQ(windows("gemma2", 4, stated("gemma2", 7)), (std::vector<double>{7, 0, 7, 0}));
  EXPECT_EQ(windows("gemma2", 2, GgufWriter()), (std::vector<double>{4096, 0}));
  EXPECT_EQ(windows("gemma3", 7, stated("gemma3", 9)), (std::vector<double>{9, 9, 9, 9, 9, 0, 9}));
  EXPECT_EQ(windows("gpt-oss", 3, stated("gpt-oss", 128)), (std::vector<double>{128, 0, 128}));
  EXPECT_EQ(windows("cohere2", 4, stated("cohere2", 5)), (std::vector<double>{5, 5, 5, 0}));
  EXPECT_EQ(windows("llama4", 4, GgufWriter()), (std::vector<double>{8192, 8192, 8192, 0}));
  EXPECT_EQ(windows("llama4", 2, stated("llama4", 0)), (std::vector<double>{0, 0}));
  EXPECT_EQ(windows("smallthinker", 4, stated("smallthinker", 6)), (std::vector<double>{0, 6, 6, 6}));
  EXPECT_EQ(windows("phi3", 2, stated("phi3", 2047)), (std::vector<double>{0, 0}));
  EXPECT_EQ(windows("exaone4", 2, stated("exaone4", 4096)), (std::vector<double>{0, 0})) << "the large one alone";
}

TEST(Gguf, WindowsThatTheFileListsGoFirst) {
  GgufWriter listed;
  listed.number("gemma2.attention.sliding_window", 7);
  listed.flags("gemma2.attention.sliding_window_pattern", {false, true, true});
  EXPECT_EQ(windows("gemma2", 3, listed), (std::vector<double>{0, 7, 7}));
  GgufWriter period;
  period.number("unheard-of.attention.sliding_window", 7).number("unheard-of.attention.sliding_window_pattern", 3);
  EXPECT_EQ(windows("unheard-of", 4, period), (std::vector<double>{7, 7, 0, 7}));
  GgufWriter neither;
  neither.number("unheard-of.attention.sliding_window", 7);
  EXPECT_EQ(windows("unheard-of", 2, neither), (std::vector<double>{0, 0}));
  GgufWriter shorter;
  shorter.number("mimo2.attention.sliding_window", 7).flags("mimo2.attention.sliding_window_pattern", {true});
  EXPECT_THROW(windows("mimo2", 2, shorter), InvalidSpec);
}

} // namespace
} // namespace tokenroof::readers
