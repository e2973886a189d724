// Folders and files of models: which are read, and that the bytes of the weights are those of the files.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_writer.hpp"
#include "support/gguf_network.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof {
namespace {

namespace fs = std::filesystem;
using test::llama_checkpoint;
using test::llama_config;
using test::SafetensorsWriter;
using test::store_plain;
using test::write_file;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// A folder of the test's own, empty.
class ModelFiles : public testing::Test {
protected:
  ModelFiles() { fs::remove_all(folder_); }
  ~ModelFiles() override { fs::remove_all(folder_); }
  ModelFiles(const ModelFiles&) = delete;
  ModelFiles& operator=(const ModelFiles&) = delete;
  ModelFiles(ModelFiles&&) = delete;
  ModelFiles& operator=(ModelFiles&&) = delete;

  void put(const std::string& name, std::string_view text) const { write_file(folder_ / name, text); }

  [[nodiscard]] std::string complaint(const fs::path& path) const {
    try {
      (void)examine_network(path);
    } catch (const ParseError& error) {
      return error.what();
    }
    return {};
  }

  fs::path folder_ = fs::temp_directory_path() /
                     ("tokenroof-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

double bytes(const NetworkReading& reading) { return weight_bytes(reading.network, reading.weights.value()).value(); }

struct Stored {
  const char* name;          ///< of the scheme
  const char* configuration; ///< members of config.json
  test::StoreMatrix store;
  test::StoreMatrix table;
  double unsaid; ///< bytes in the file that a configuration does not tell
};

class StoredCheckpoint : public testing::TestWithParam<Stored> {};

// The file decides; where it is not there, the configuration makes the same bytes.
TEST_P(StoredCheckpoint, BytesAreThoseOfTheFile) {
  const Stored& stored = GetParam();
  const fs::path folder = fs::temp_directory_path() / ("tokenroof-stored-" + std::to_string(::getpid()) + stored.name);
  fs::remove_all(folder);
  const SafetensorsWriter out = llama_checkpoint(stored.store, stored.table);
  write_file(folder / "config.json", llama_config(stored.configuration));
  const NetworkReading configured = examine_network(folder);
  write_file(folder / "model.safetensors", out.file());
  const NetworkReading reading = examine_network(folder);
  fs::remove_all(folder);
  EXPECT_EQ(reading.kind, "safetensors");
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_EQ(reading.files.tensor_bytes.value(), static_cast<double>(out.tensor_bytes()));
  EXPECT_EQ(reading.weights->name.view(), stored.name);
  EXPECT_EQ(configured.kind, "config.json");
  EXPECT_EQ(configured.weights->name.view(), stored.name);
  EXPECT_EQ(bytes(configured), static_cast<double>(out.tensor_bytes()) - stored.unsaid);
}

constexpr const char* compressed =
    R"("quantization_config": {"quant_method": "compressed-tensors", "ignore": ["lm_head"],
  "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32,
  "strategy": "group", "symmetric": true}}}})";

INSTANTIATE_TEST_SUITE_P(
    Ways, StoredCheckpoint,
    testing::Values(
        Stored{"bf16", "", store_plain, store_plain, 0},
        Stored{"int4-g128", R"("quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128})",
               test::store_gptq, store_plain, 0},
        Stored{"int4-g128", R"("quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128})",
               test::store_awq, store_plain, 0},
        Stored{"fp8-block", R"("quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})",
               test::store_fp8_block, store_plain, 0},
        Stored{"fp8", R"("quantization_config": {"quant_method": "fp8", "activation_scheme": "static"})",
               test::store_fp8, store_plain, 0},
        Stored{"nvfp4", R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"})",
               test::store_nvfp4, store_plain, 0},
        Stored{"int4-g32", compressed, test::store_compressed, store_plain, 0},
        Stored{"mlx-4bit", R"("quantization": {"bits": 4, "group_size": 64})", test::store_mlx, test::store_mlx, 0},
        Stored{"int8", R"("quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": true})",
               test::store_int8, store_plain, 0}));

TEST_F(ModelFiles, WhatNoStepReadsIsCountedAndNamed) {
  SafetensorsWriter out = llama_checkpoint(store_plain);
  const std::size_t network = out.tensor_bytes();
  out.add("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {32});
  out.add("visual.blocks.0.attn.qkv.weight", "BF16", {64, 64});
  out.add("model.layers.2.eh_proj.weight", "BF16", {8, 8});
  out.add("model.somebodys.own", "BF16", {5});
  put("config.json", llama_config(""));
  put("model.safetensors", out.file());
  const NetworkReading reading = examine_network(folder_);
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_EQ(reading.weights->stored->other.value(), static_cast<double>(out.tensor_bytes() - network));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("rotary tables")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("encoders of images or sound")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("multi-token prediction")));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("model.somebodys.own")));
}

TEST_F(ModelFiles, TheFileDecidesWhetherThereIsAHead) {
  put("config.json", llama_config(""));
  put("model.safetensors", llama_checkpoint(store_plain, store_plain, false).file());
  const NetworkReading tied = examine_network(folder_);
  EXPECT_TRUE(tied.network.tied_embeddings);
  EXPECT_THAT(tied.assumptions, Contains(HasSubstr("has no head")));

  std::string config = llama_config("");
  config.replace(config.find("\"tie_word_embeddings\": false"), 28, "\"tie_word_embeddings\": true ");
  put("config.json", config);
  const SafetensorsWriter out = llama_checkpoint(store_plain);
  put("model.safetensors", out.file());
  const NetworkReading twice = examine_network(folder_);
  EXPECT_EQ(twice.weights->stored->other.value(), 2.0 * test::llama_vocabulary * test::llama_hidden);
  EXPECT_EQ(bytes(twice), static_cast<double>(out.tensor_bytes()));
  EXPECT_THAT(twice.assumptions, Contains(HasSubstr("second copy of the token embedding")));
}

TEST_F(ModelFiles, PartsOfAnIndexMustAllBeThere) {
  const SafetensorsWriter whole = llama_checkpoint(store_plain);
  SafetensorsWriter first;
  SafetensorsWriter second;
  first.add("model.embed_tokens.weight", "BF16", {test::llama_vocabulary, test::llama_hidden});
  first.add("model.norm.weight", "BF16", {test::llama_hidden});
  first.add("lm_head.weight", "BF16", {test::llama_vocabulary, test::llama_hidden});
  test::add_llama_layer(second, "model.layers.0.", store_plain);
  test::add_llama_layer(second, "model.layers.1.", store_plain);
  put("config.json", llama_config(""));
  put("model.safetensors.index.json",
      R"({"metadata": {"total_size": )" + std::to_string(whole.tensor_bytes() + 64) +
          R"(}, "weight_map": {"lm_head.weight": "one.safetensors", "model.layers.0.mlp.up_proj.weight": "two.safetensors"}})");
  const NetworkReading stated = examine_network(folder_);
  EXPECT_EQ(bytes(stated), static_cast<double>(whole.tensor_bytes() + 64));
  EXPECT_THAT(stated.assumptions, Contains(HasSubstr("64 bytes beyond")));

  put("one.safetensors", first.file());
  EXPECT_THAT(complaint(folder_), HasSubstr("two.safetensors"));
  put("two.safetensors", second.file());
  const NetworkReading reading = examine_network(folder_ / "model.safetensors.index.json");
  EXPECT_EQ(bytes(reading), static_cast<double>(whole.tensor_bytes()));
  EXPECT_THAT(reading.assumptions, Contains(HasSubstr("these are taken")));

  put("two.safetensors", whole.file());
  EXPECT_THAT(complaint(folder_), HasSubstr("too"));
}

TEST_F(ModelFiles, AMatrixThatIsMissingIsNamed) {
  SafetensorsWriter out;
  out.add("model.embed_tokens.weight", "BF16", {test::llama_vocabulary, test::llama_hidden});
  out.add("lm_head.weight", "BF16", {test::llama_vocabulary, test::llama_hidden});
  test::add_llama_layer(out, "model.layers.0.", store_plain);
  put("config.json", llama_config(""));
  put("model.safetensors", out.file());
  EXPECT_THAT(complaint(folder_), testing::AllOf(HasSubstr("model.safetensors"), HasSubstr("of layer 1")));
  EXPECT_THAT(complaint(folder_ / "nothing.safetensors"), HasSubstr("nothing.safetensors"));
}

TEST_F(ModelFiles, QuantisationMayBeInAFileOfItsOwn) {
  put("config.json", llama_config(""));
  put("quantize_config.json", R"({"bits": 4, "group_size": 128, "desc_act": true})");
  const NetworkReading gptq = examine_network(folder_);
  EXPECT_EQ(bytes(gptq), static_cast<double>(llama_checkpoint(test::store_gptq).tensor_bytes()));
  EXPECT_EQ(gptq.weights_source, "quantize_config.json");
  put("hf_quant_config.json", R"({"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}})");
  const NetworkReading nvfp4 = examine_network(folder_);
  EXPECT_EQ(nvfp4.weights->name.view(), "nvfp4");
  EXPECT_EQ(nvfp4.kv->name.view(), "fp8");
  put("config.json", llama_config(R"("quantization": {"bits": 4, "group_size": 64})"));
  EXPECT_EQ(examine_network(folder_).weights->name.view(), "mlx-4bit");
}

TEST_F(ModelFiles, GgufIsToldByItsFirstBytes) {
  const Network network = examine_network_text(llama_config(""), "small").network;
  const auto out = test::gguf_of(network, scheme("Q8_0"));
  const std::string file(reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size());
  put("weights.bin", file);
  const NetworkReading reading = examine_network(folder_ / "weights.bin");
  EXPECT_EQ(reading.kind, "GGUF");
  EXPECT_EQ(bytes(reading), static_cast<double>(out.tensor_bytes()));
  EXPECT_THAT(complaint(folder_), HasSubstr("neither"));
  put("a.gguf", file);
  EXPECT_EQ(examine_network(folder_).kind, "GGUF");
  put("b.gguf", file);
  EXPECT_THAT(complaint(folder_), HasSubstr("several .gguf files"));
}

TEST_F(ModelFiles, ASafetensorsFileNeedsAConfiguration) {
  put("model.safetensors", llama_checkpoint(store_plain).file());
  EXPECT_THAT(complaint(folder_ / "model.safetensors"), HasSubstr("config.json"));
  put("config.json", llama_config(""));
  EXPECT_EQ(examine_network(folder_ / "model.safetensors").kind, "safetensors");
  EXPECT_EQ(examine_network(folder_ / "config.json").kind, "config.json");
  EXPECT_EQ(examine_network(folder_).network.name, folder_.filename().string());
  EXPECT_EQ(examine_network(folder_.string() + "/").network.name, folder_.filename().string());
}

} // namespace
} // namespace tokenroof
