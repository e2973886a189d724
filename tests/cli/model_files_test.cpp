// Model files and folders on the command line.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "support/checkpoint_writer.hpp"

namespace tokenroof::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

/// A checkpoint in a folder of the test's own.
class ModelFolder : public testing::Test {
protected:
  ModelFolder() {
    write_file(folder_ / "config.json",
               llama_config(R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4",
                                "exclude_modules": ["lm_head"], "kv_cache_quant_algo": "FP8"})"));
    write_file(folder_ / "model.safetensors", out_.file());
  }
  ~ModelFolder() override { fs::remove_all(folder_); }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;
  ModelFolder(ModelFolder&&) = delete;
  ModelFolder& operator=(ModelFolder&&) = delete;

  [[nodiscard]] nlohmann::json predicted(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"predict", "--model", folder_.string(), "--device", "h100_sxm", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(output(arguments));
  }

  fs::path folder_ = fs::temp_directory_path() /
                     ("tokenroof-cli-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  SafetensorsWriter out_ = llama_checkpoint(store_nvfp4);
};

TEST_F(ModelFolder, SaysWhatItHolds) {
  const auto model = nlohmann::json::parse(output({"models", "--json", folder_.string() + "/"}));
  EXPECT_EQ(model["stored_bytes"], out_.tensor_bytes());
  EXPECT_EQ(model["stored_as"], "nvfp4");
  EXPECT_EQ(model["kv_cache_stored_as"], "fp8");
  EXPECT_EQ(model["files"]["kind"], "safetensors");
  EXPECT_EQ(model["files"]["tensor_bytes"], out_.tensor_bytes());
  EXPECT_EQ(model["files"]["bytes_on_disk"], out_.file().size());
  EXPECT_THAT(model["weights_source"], HasSubstr("quantization_config"));
  double by_format = 0;
  for (const auto& [format, bytes] : model["stored_bytes_by_format"].items()) {
    by_format += bytes.get<double>();
  }
  double by_role = 0;
  for (const auto& [role, bytes] : model["stored_bytes_by_role"].items()) {
    by_role += bytes.get<double>();
  }
  EXPECT_NEAR(by_format, static_cast<double>(out_.tensor_bytes()), 1e-3);
  EXPECT_NEAR(by_role, static_cast<double>(out_.tensor_bytes()), 1e-3);
  EXPECT_EQ(model["stored_bytes_by_format"]["other"], 2 * 7 * 4); // scales of activations
  EXPECT_EQ(model["stored_bytes_by_role"]["lm_head"], 2 * llama_vocabulary * llama_hidden);
}

TEST_F(ModelFolder, SaysItAsText) {
  const std::string text = output({"models", folder_.string()});
  EXPECT_THAT(text, AllOf(HasSubstr("read as"), HasSubstr("safetensors"), HasSubstr("bytes by format"),
                          HasSubstr("bytes by role"), HasSubstr("fp8 as the files state it")));
  EXPECT_THAT(text, HasSubstr("Assumed: scales of activations"));
  EXPECT_THAT(text, HasSubstr(std::to_string(out_.tensor_bytes()) + " bytes"));
}

TEST_F(ModelFolder, WeightsAreThoseOfTheFileUnlessOthersAreNamed) {
  const auto plain_bytes = static_cast<double>(llama_checkpoint(store_plain).tensor_bytes());
  EXPECT_NEAR(predicted({})["weights_bytes"].get<double>(), static_cast<double>(out_.tensor_bytes()), 1);
  EXPECT_NEAR(predicted({"--weights", "bf16"})["weights_bytes"].get<double>(), plain_bytes, 1);
}

TEST_F(ModelFolder, AKvFormatThatTheFilesStateIsToldAndNotTaken) {
  EXPECT_THAT(predicted({})["assumptions"].dump(), HasSubstr("unless --kv fp8 is given"));
  EXPECT_THAT(predicted({"--kv", "fp8"})["assumptions"].dump(), Not(HasSubstr("--kv")));
}

TEST_F(ModelFolder, WhatIsWrongWithinAFileIsTheFilesFault) {
  write_file(folder_ / "model.safetensors", out_.file().substr(0, out_.file().size() - 1));
  const Outcome cut = run({"models", folder_.string()});
  EXPECT_EQ(cut.exit_code, 4);
  EXPECT_THAT(cut.err, AllOf(HasSubstr("model.safetensors"), HasSubstr("truncated")));
  write_file(folder_ / "model.safetensors", safetensors_file("{\"a\" 1}", 0));
  const Outcome torn = run({"models", (folder_ / "model.safetensors").string()});
  EXPECT_EQ(torn.exit_code, 4);
  EXPECT_THAT(torn.err, AllOf(HasSubstr("model.safetensors"), HasSubstr("byte 6")));
  fs::remove(folder_ / "model.safetensors");
  std::string config = llama_config("");
  config.replace(config.find("\"num_attention_heads\": 4"), 24, "\"num_attention_heads\": 0");
  write_file(folder_ / "config.json", config);
  const Outcome impossible = run({"models", folder_.string()});
  EXPECT_EQ(impossible.exit_code, 4) << impossible.err;
  EXPECT_THAT(impossible.err, HasSubstr("num_attention_heads"));
}

} // namespace
} // namespace tokenroof::test
