// One small configuration of each family that is no plain transformer: which layers it makes.
#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/errors.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/readers.hpp"

namespace {

using namespace tokenroof;
using testing::Contains;
using testing::HasSubstr;

std::string text(Count number) { return std::to_string(number); }

std::string selection(const std::optional<TokenIndexer>& indexer, const std::optional<Tokens>& selected) {
  return (selected ? " picks " + text(static_cast<Count>(selected->value())) : "") + (indexer ? " anew" : "");
}

struct MixerWords {
  std::string operator()(const GroupedQueryAttention& a) const {
    return text(a.heads) + "/" + text(a.kv_heads) + "x" + text(a.head_dim) +
           (a.window ? " window " + text(static_cast<Count>(a.window->value())) : "") +
           (a.output_gate ? " gated" : "") + (a.head_gate ? " gated by head" : "") + (a.keys_are_values ? " k=v" : "") +
           (a.shares_cache ? " shared" : "") + selection(a.indexer, a.selected);
  }
  std::string operator()(const LatentAttention& a) const {
    return "latent " + text(a.kv_rank) + "+" + text(a.rope_head_dim) + selection(a.indexer, a.selected);
  }
  std::string operator()(const CompressedAttention& a) const {
    return "compressed " + text(a.ratio) + (a.indexer ? " picks " + text(a.selected) : "");
  }
  std::string operator()(const StateSpace& m) const {
    return "mamba2 " + text(m.heads) + "x" + text(m.head_dim) + "x" + text(m.state);
  }
  std::string operator()(const SelectiveScan& m) const {
    return "mamba " + text(m.inner) + "x" + text(m.state) + " rank " + text(m.step_rank);
  }
  std::string operator()(const LinearAttention& m) const {
    static constexpr std::array<const char*, 4> rules = {"delta", "channel delta", "fixed decay", "receptance"};
    return std::string(rules.at(static_cast<std::size_t>(m.rule))) + " " + text(m.key_heads) + "/" +
           text(m.value_heads) + "x" + text(m.key_head_dim);
  }
  std::string operator()(const ShortConvolution& m) const { return "convolution " + text(m.taps); }
  std::string operator()(const LinearMap& /*map*/) const { return "linear"; }
};

struct FeedForwardWords {
  std::string operator()(const DenseFeedForward& f) const { return text(f.width); }
  std::string operator()(const MixtureOfExperts& f) const {
    return text(f.active) + " of " + text(f.experts) + " x " + text(f.width) +
           (f.latent_width > 0 ? " in " + text(f.latent_width) : "") +
           (f.shared_width > 0 ? " and " + text(f.shared_width) : "");
  }
  std::string operator()(const LinearMap& /*map*/) const { return "linear"; }
};

std::string words(const Block& block) {
  std::string line;
  for (const Mixer& mixer : block.mixers) {
    line += (line.empty() ? "" : " + ") + std::visit(MixerWords{}, mixer);
  }
  line += block.feed_forward ? (line.empty() ? "" : ", ") + std::visit(FeedForwardWords{}, *block.feed_forward) : "";
  return line;
}

std::string words(const Network& network) {
  std::string all;
  for (const LayerRun& run : network.layers) {
    all += (all.empty() ? "" : "; ") + text(run.count) + ": " + words(run.block);
  }
  return all;
}

NetworkReading examine(const std::string& name) {
  return examine_network(std::filesystem::path(TOKENROOF_SOURCE_DIR) / "tests/readers/configs" / (name + ".json"));
}

struct Family {
  const char* name;
  const char* layers;
};

TEST(NetworkFamilies, LayersAreWhereTheConfigurationPutsThem) {
  for (const Family& family : {
           Family{"qwen3_next", "3: delta 2/4x8, 2 of 8 x 32 and 32; 1: 4/2x32 gated, 2 of 8 x 32 and 32; "
                                "3: delta 2/4x8, 2 of 8 x 32 and 32; 1: 4/2x32 gated, 2 of 8 x 32 and 32"},
           Family{"qwen3_5", "3: delta 2/4x8, 128; 1: 4/2x32 gated, 128"},
           Family{"nemotron_h", "1: mamba2 4x8x16; 1: 2 of 8 x 32 in 16 and 64; 1: mamba2 4x8x16; 1: 4/2x16; "
                                "1: 2 of 8 x 32 in 16 and 64; 1: 128"},
           Family{"nemotron_h_list", "1: mamba2 4x8x16; 1: 2 of 8 x 32 and 64; 1: 4/2x16; 1: 128"},
           Family{"gemma4", "2: 4/2x16 window 512, 128; 1: 4/2x32, 128; 1: 4/2x16 window 512, 128; "
                            "1: 4/2x16 window 512 shared, 256; 1: 4/2x32 shared, 256"},
           Family{"gemma4_experts", "1: 4/2x16 window 512, 2 of 8 x 32 and 128; 1: 4/1x32 k=v, 2 of 8 x 32 and 128"},
           Family{"deepseek_v32",
                  "1: latent 16+4 picks 256 anew, 128; 2: latent 16+4 picks 256 anew, 2 of 8 x 32 and 32"},
           Family{"glm_moe_dsa", "1: latent 16+4 picks 256 anew, 128; 1: latent 16+4 picks 256, 2 of 8 x 32 and 32; "
                                 "1: latent 16+4 picks 256 anew, 2 of 8 x 32 and 32; "
                                 "1: latent 16+4 picks 256, 2 of 8 x 32 and 32"},
           Family{"deepseek_v4",
                  "1: compressed 0, 2 of 8 x 32 and 32; 1: compressed 4 picks 256, 2 of 8 x 32 and 32; "
                  "1: compressed 128, 2 of 8 x 32 and 32; 1: compressed 4 picks 256, 2 of 8 x 32 and 32"},
           Family{"kimi_linear", "1: channel delta 4/4x8, 128; 2: channel delta 4/4x8, 2 of 8 x 32 and 32; "
                                 "1: latent 16+4, 2 of 8 x 32 and 32"},
           Family{"nemotron_nas", "1: 4/2x16, 256; 1: 4/1x16, 256; 1: 256; 1: linear"},
           Family{"minimax_m1", "3: fixed decay 4/4x16, 2 of 8 x 128; 1: 4/2x16, 2 of 8 x 128"},
           Family{"minimax_m3", "1: 4/2x16, 256; 1: 4/2x16 picks 2048 anew, 2 of 8 x 128 and 32"},
           Family{"lfm2", "2: convolution 3, 256; 1: 4/2x16, 256"},
           Family{"laguna", "1: 4/2x16 gated by head, 128; 1: 8/2x16 window 512 gated by head, 2 of 8 x 32 and 32"},
           Family{"mistral4", "2: latent 16+4, 2 of 8 x 32 and 32"},
           Family{"step3p7", "1: 4/2x16 gated by head, 128; 2: 4/2x16 window 512 gated by head, 2 of 8 x 32 and 32"},
           Family{"rwkv5", "2: receptance 4/4x16, 224"},
           Family{"jamba", "1: mamba 128x4 rank 4, 128; 1: mamba 128x4 rank 4, 2 of 8 x 128; "
                           "1: mamba 128x4 rank 4, 128; 1: mamba 128x4 rank 4, 2 of 8 x 128; 1: 4/2x16, 128; "
                           "1: mamba 128x4 rank 4, 2 of 8 x 128; 1: mamba 128x4 rank 4, 128; "
                           "1: mamba 128x4 rank 4, 2 of 8 x 128"},
           Family{"falcon_h1", "2: 4/2x16 + mamba2 6x16x8, 128"},
           Family{"granitemoehybrid", "1: mamba2 8x16x8, 2 of 8 x 128 and 32; 1: 4/2x16, 2 of 8 x 128 and 32"},
           Family{"falcon_mamba", "2: mamba 128x4 rank 4"},
           Family{"mamba2", "2: mamba2 8x16x8"},
           Family{"not_known", "2: 4/2x16, 2 of 8 x 32"},
       }) {
    EXPECT_EQ(words(examine(family.name).network), family.layers) << family.name;
  }
}

TEST(NetworkFamilies, PredictionModulesAreOfWhatTheConfigurationSays) {
  const auto modules = [](const char* name) {
    const Network network = examine(name).network;
    std::string all = text(network.prediction_heads);
    for (const Block& block : network.prediction_blocks) {
      all += "; " + words(block);
    }
    return all;
  };
  EXPECT_EQ(modules("nemotron_h"), "1; 4/2x16; 2 of 8 x 32 in 16 and 64");
  EXPECT_EQ(modules("glm_moe_dsa"), "1; latent 16+4 picks 256 anew, 2 of 8 x 32 and 32");
  EXPECT_EQ(modules("deepseek_v4"), "1; compressed 0, 2 of 8 x 32 and 32");
  EXPECT_EQ(modules("qwen3_5"), "1") << "like the last layer";
}

TEST(NetworkFamilies, WhatLiesBesideTheLayers) {
  const Network gemma = examine("gemma4").network;
  EXPECT_EQ(gemma.per_layer_width, 8);
  EXPECT_EQ(gemma.per_layer_vocabulary, 50);
  EXPECT_TRUE(gemma.layers[0].block.scale);
  EXPECT_EQ(examine("gemma4_experts").network.per_layer_width, 0);
  EXPECT_EQ(examine("deepseek_v4").network.residual_streams, 4);
  EXPECT_TRUE(examine("rwkv5").network.embedding_norm);
}

// D = 64, L = 2, V = 100, RWKV-5's own sum: 13 D^2 L + 14 D L + 4 D + 2 D V, with feed-forward widths of 3.5 D (arXiv:2404.05892).
TEST(NetworkFamilies, ReceptanceCountsAsItsPaperDoes) {
  EXPECT_EQ(count_parameters(examine("rwkv5").network).total(), 13 * 64 * 64 * 2 + 14 * 64 * 2 + 4 * 64 + 2 * 64 * 100);
}

TEST(NetworkFamilies, SaysWhatItAssumes) {
  EXPECT_THAT(examine("not_known").assumptions, Contains(HasSubstr("model_type 'not_known' is not known")));
  EXPECT_THAT(examine("deepseek_v4").assumptions, Contains(HasSubstr("left out")));
  EXPECT_THAT(examine("laguna").assumptions, Contains(HasSubstr("assumed")));
  EXPECT_THAT(examine("qwen3_5").assumptions, Contains(HasSubstr("encoders of images")));
}

std::string refusal(const std::string& config) {
  try {
    (void)parse_network(config, "file.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NetworkFamilies, NamesTheKeyThatCannotBeRead) {
  const std::string layers = R"({"hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100, "model_type": )";
  EXPECT_THAT(refusal(layers + R"("nemotron_h", "hybrid_override_pattern": "M?"})"),
              HasSubstr("hybrid_override_pattern"));
  EXPECT_THAT(refusal(layers + R"("nemotron_h", "layers_block_type": []})"), HasSubstr("layers_block_type"));
  EXPECT_THAT(refusal(layers + R"("laguna", "num_hidden_layers": 3, "num_attention_heads_per_layer": [4, 8]})"),
              HasSubstr("num_attention_heads_per_layer = 2 entries: must have one for each of 3 layers"));
  EXPECT_THAT(refusal(layers + R"("lfm2", "num_hidden_layers": 3, "full_attn_idxs": ["two"]})"),
              HasSubstr("full_attn_idxs"));
  EXPECT_THAT(refusal(layers + R"("llama", "num_hidden_layers": 1, "layer_types": ["mamba"]})"),
              HasSubstr("layer_types"));
  EXPECT_THAT(refusal(layers + R"("qwen3_5_text", "linear_num_key_heads": 3, "linear_num_value_heads": 4})"),
              HasSubstr("linear_num_value_heads"));
}

} // namespace
