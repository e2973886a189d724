#include <filesystem>
#include <fstream>
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

const GroupedQueryAttention& attention(const Network& network, std::size_t run = 0) {
  return std::get<GroupedQueryAttention>(network.layers.at(run).block.mixers.at(0));
}

const MixtureOfExperts& experts(const Network& network, std::size_t run = 0) {
  return std::get<MixtureOfExperts>(*network.layers.at(run).block.feed_forward);
}

double window(const Network& network, std::size_t run) {
  return attention(network, run).window.value_or(Tokens()).value();
}

/// A small configuration of that class; `more` replaces or adds keys.
std::string config(const std::string& model_type, const std::string& more = "") {
  return R"({"model_type": ")" + model_type +
         R"(", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,)"
         R"( "intermediate_size": 128, "vocab_size": 100)" +
         (more.empty() ? "" : ", " + more) + "}";
}

Network parse(const std::string& model_type, const std::string& more = "") {
  return parse_network(config(model_type, more), "test");
}

TEST(NetworkReader, ReadsTheCommonKeys) {
  const Network network = parse("llama", R"("max_position_embeddings": 512)");
  EXPECT_EQ(network.name, "test");
  EXPECT_EQ(network.hidden, 64);
  EXPECT_EQ(network.vocabulary, 100);
  EXPECT_EQ(network.context_limit.value(), 512);
  ASSERT_EQ(network.layers.size(), 1U);
  EXPECT_EQ(network.layers[0].count, 4);
  EXPECT_EQ(attention(network).kv_heads, 2);
  EXPECT_EQ(attention(network).head_dim, 16);
}

TEST(NetworkReader, AbsentKeyValueHeadsMeanOneEach) {
  const std::string text =
      R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,)"
      R"( "intermediate_size": 128, "vocab_size": 100})";
  EXPECT_EQ(attention(parse_network(text, "test")).kv_heads, 4);
  EXPECT_EQ(attention(parse("llama", R"("num_key_value_heads": null)")).kv_heads, 4);
}

TEST(NetworkReader, FalconSharesItsKeysByFlags) {
  const std::string old =
      R"({"model_type": "falcon", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4)";
  EXPECT_EQ(attention(parse_network(old + "}", "test")).kv_heads, 1);
  EXPECT_EQ(attention(parse_network(old + R"(, "multi_query": false})", "test")).kv_heads, 4);
  const Network grouped =
      parse_network(old + R"(, "new_decoder_architecture": true, "num_kv_heads": 2, "parallel_attn": true})", "test");
  EXPECT_EQ(attention(grouped).kv_heads, 2);
  EXPECT_EQ(grouped.layers[0].block.norms, 2);
  EXPECT_TRUE(grouped.tied_embeddings);
}

TEST(NetworkReader, HeadsNeedNotFillTheHiddenWidth) {
  EXPECT_EQ(attention(parse("qwen3", R"("head_dim": 32)")).head_dim, 32);
  EXPECT_EQ(attention(parse("qwen3")).head_dim, 128) << "the class default, not 64 / 4";
}

TEST(NetworkReader, SwitchedOffWindowIsNone) {
  EXPECT_FALSE(attention(parse("qwen2", R"("sliding_window": 4096, "use_sliding_window": false)")).window);
  EXPECT_FALSE(attention(parse("mistral", R"("sliding_window": null)")).window);
  EXPECT_EQ(window(parse("mistral", R"("sliding_window": 77)"), 0), 77);
}

TEST(NetworkReader, WindowsStartWhereTheConfigurationSays) {
  const Network network = parse("qwen2", R"("sliding_window": 8, "use_sliding_window": true, "max_window_layers": 3)");
  ASSERT_EQ(network.layers.size(), 2U);
  EXPECT_FALSE(attention(network, 0).window);
  EXPECT_EQ(network.layers[1].count, 1);
  EXPECT_EQ(window(network, 1), 8);
}

TEST(NetworkReader, WindowsAlternateByPeriod) {
  const Network network = parse("gemma3_text", R"("num_hidden_layers": 7, "sliding_window": 16)");
  ASSERT_EQ(network.layers.size(), 3U);
  EXPECT_EQ(network.layers[0].count, 5);
  EXPECT_EQ(window(network, 0), 16);
  EXPECT_FALSE(attention(network, 1).window);
  EXPECT_EQ(window(network, 2), 16);
}

TEST(NetworkReader, ListedLayerTypesDecide) {
  const Network network = parse(
      "gpt_oss",
      R"("sliding_window": 8, "layer_types": ["full_attention", "full_attention", "sliding_attention", "full_attention"])");
  ASSERT_EQ(network.layers.size(), 3U);
  EXPECT_EQ(network.layers[0].count, 2);
  EXPECT_EQ(window(network, 1), 8);
}

TEST(NetworkReader, IntermediateSizeIsTheExpertsWidthWhereThereIsNoOther) {
  EXPECT_EQ(experts(parse("mixtral", R"("num_local_experts": 8, "num_experts_per_tok": 2)")).width, 128);
  EXPECT_EQ(
      experts(parse("qwen3_moe", R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32)")).width,
      32);
}

TEST(NetworkReader, LeadingAndSparseLayersAreDense) {
  const std::string moe = R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32)";
  const Network network = parse("qwen3_moe", moe + R"(, "decoder_sparse_step": 2, "mlp_only_layers": [3])");
  ASSERT_EQ(network.layers.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<DenseFeedForward>(*network.layers[0].block.feed_forward));
  EXPECT_EQ(experts(network, 1).active, 2);
  EXPECT_EQ(network.layers[2].count, 2);
}

TEST(NetworkReader, LatentAttention) {
  const std::string latent =
      R"("q_lora_rank": null, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,)"
      R"( "v_head_dim": 8, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 2,)"
      R"( "moe_intermediate_size": 32, "first_k_dense_replace": 1, "num_nextn_predict_layers": 1)";
  const Network network = parse("deepseek_v3", latent);
  ASSERT_EQ(network.layers.size(), 2U);
  const auto& attention = std::get<LatentAttention>(network.layers[0].block.mixers[0]);
  EXPECT_EQ(attention.query_rank, 0) << "null means queries without a rank, not the class default";
  EXPECT_EQ(attention.kv_rank, 16);
  EXPECT_EQ(experts(network, 1).shared_width, 64);
  EXPECT_TRUE(experts(network, 1).score_correction);
  EXPECT_EQ(network.prediction_heads, 1);
}

TEST(NetworkReader, ReadsTheLanguageModelOfSeveral) {
  const auto reading =
      examine_network_text(R"({"model_type": "gemma3", "vision_config": {}, "torch_dtype": "bfloat16",)"
                           R"( "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,)"
                           R"( "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})",
                           "test");
  EXPECT_EQ(count_parameters(reading.network).total(), 3'880'263'168)
      << "heads, head_dim and vocabulary are class defaults";
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("num_attention_heads is absent: 8")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("left out")));
  EXPECT_EQ(reading.weights->name, "bf16");
}

TEST(NetworkReader, RefusesWhatIsNoNumberWhereOneIsRead) {
  for (const char* key : {"head_dim", "intermediate_size", "num_key_value_heads", "hidden_size"}) {
    for (const char* value : {"NaN", "Infinity", "-Infinity"}) {
      EXPECT_THROW((void)parse("llama", '"' + std::string(key) + "\": " + value), Error) << key << ' ' << value;
    }
  }
}

TEST(NetworkReader, ToleratesBareInfinity) {
  EXPECT_EQ(parse("llama", R"("rope_scaling": {"factor": Infinity})").hidden, 64);
}

TEST(NetworkReader, NothingIsAssumedSilently) {
  const auto reading = examine_network_text(config("gpt2", R"("n_inner": null, "intermediate_size": null)"), "test");
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("four times the hidden width")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("tie_word_embeddings is absent: true, the default of gpt2")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("torch_dtype is absent")));
}

struct Scheme {
  const char* quantization;
  const char* name; ///< empty: not understood
};

TEST(NetworkReader, SuggestsTheWeightScheme) {
  for (const Scheme& scheme : {
           Scheme{R"({"quant_method": "fp8"})", "fp8"},
           Scheme{R"({"quant_method": "fp8", "weight_block_size": [128, 128]})", "fp8-block"},
           Scheme{R"({"quant_method": "awq", "bits": 4, "group_size": 128})", "int4-g128"},
           Scheme{R"({"quant_method": "gptq", "bits": 3, "group_size": -1})", "int3"},
           Scheme{R"({"quant_method": "mxfp4"})", "mxfp4"},
           Scheme{R"({"quant_method": "bitsandbytes", "load_in_4bit": true})", "nf4"},
           Scheme{R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})", "nvfp4"},
           Scheme{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":)"
                  R"( {"num_bits": 8, "type": "int", "strategy": "channel", "group_size": null}}}})",
                  "int8"},
           Scheme{R"({"quant_method": "somebody's own"})", ""},
       }) {
    const auto reading =
        examine_network_text(config("llama", R"("quantization_config": )" + std::string(scheme.quantization)), "test");
    EXPECT_EQ(reading.weights ? std::string(reading.weights->name.view()) : "", scheme.name) << scheme.quantization;
  }
}

TEST(NetworkReader, AModelTypeThatIsNotKnownIsReadByItsKeys) {
  const auto reading = examine_network_text(config("lama", R"("attention_bias": true, "sliding_window": 8)"), "test");
  EXPECT_THAT(reading.assumptions, Contains(AllOf(HasSubstr("'lama' is not known"), HasSubstr("nearest: llama"))));
  EXPECT_TRUE(attention(reading.network).output_bias);
  EXPECT_EQ(window(reading.network, 0), 8);
  const Network moe =
      parse("somebody's", R"("n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,)"
                          R"( "n_shared_experts": 1, "first_k_dense_replace": 1)");
  ASSERT_EQ(moe.layers.size(), 2U);
  EXPECT_EQ(experts(moe, 1).shared_width, 32);
  EXPECT_EQ(parse("base"), parse("general")) << "names of the table that are no model_type";
}

TEST(NetworkReader, RefusesWhatItDoesNotKnow) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)parse_network(text, "file.json");
    } catch (const ParseError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(config("lama", R"("mamba_d_state": 16)")),
              AllOf(HasSubstr("mamba_d_state"), HasSubstr("nearest: llama")));
  EXPECT_THAT(message(config("some_encoder", R"("type_vocab_size": 2)")), HasSubstr("type_vocab_size"));
  EXPECT_THAT(message(R"({"hidden_size": 64})"), HasSubstr("model_type"));
  EXPECT_THAT(message("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("{"), HasSubstr("file.json"));
  EXPECT_THAT(
      message(config("qwen3",
                     R"("layer_types": ["linear_attention", "full_attention", "full_attention", "full_attention"])")),
      HasSubstr("linear_attention"));
  EXPECT_THAT(message(config("hunyuan", R"("use_cla": true)")), HasSubstr("use_cla"));
  EXPECT_THAT(message(R"({"model_type": "bloom", "n_layer": 2, "n_head": 2, "vocab_size": 9})"),
              HasSubstr("hidden_size"));
}

struct Absurd {
  const char* key;
  const char* value;
};

TEST(NetworkReader, RefusesAbsurdValuesByKey) {
  for (const Absurd& absurd : {
           Absurd{"num_hidden_layers", "0"},
           Absurd{"num_hidden_layers", "-3"},
           Absurd{"num_hidden_layers", "1000000000"},
           Absurd{"hidden_size", "1e30"},
           Absurd{"hidden_size", "18446744073709551615"},
           Absurd{"hidden_size", "\"4096\""},
           Absurd{"hidden_size", "64.5"},
           Absurd{"hidden_size", "{}"},
           Absurd{"hidden_size", "[64, 32]"},
           Absurd{"num_attention_heads", "10"},
           Absurd{"num_attention_heads", "0"},
           Absurd{"num_key_value_heads", "3"},
           Absurd{"num_key_value_heads", "8"},
           Absurd{"num_key_value_heads", "0"},
           Absurd{"head_dim", "0"},
           Absurd{"vocab_size", "0"},
           Absurd{"intermediate_size", "true"},
           Absurd{"tie_word_embeddings", "1"},
       }) {
    try {
      (void)parse("llama", "\"" + std::string(absurd.key) + "\": " + absurd.value);
      ADD_FAILURE() << absurd.key << " = " << absurd.value;
    } catch (const InvalidSpec& error) {
      EXPECT_EQ(error.field(), absurd.key) << absurd.value;
    }
  }
  EXPECT_THROW((void)parse("mixtral", R"("num_experts_per_tok": 9)"), InvalidSpec);
  EXPECT_THROW((void)parse("mistral", R"("sliding_window": 0)"), InvalidSpec);
}

TEST(NetworkReader, ReadsFilesAndDirectories) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "some-network";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "config.json") << config("llama");
  EXPECT_EQ(read_network(directory).name, "some-network");
  EXPECT_EQ(read_network(directory / "config.json"), read_network(directory));
  std::filesystem::remove_all(directory);
  EXPECT_THROW((void)read_network(directory), ParseError);
}

} // namespace
