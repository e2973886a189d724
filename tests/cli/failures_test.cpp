#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.hpp"

namespace tokenroof::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void expect_failure(const std::vector<std::string>& arguments, int exit_code,
                    const testing::Matcher<std::string>& message) {
  const Outcome result = run(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("tokenroof: "), message));
}

std::vector<std::string> question(std::vector<std::string> more) {
  const std::vector<std::string> common = {"predict", "--model", "llama-3.1-8b", "--device", "h100_sxm"};
  more.insert(more.begin(), common.begin(), common.end());
  return more;
}

TEST(Failures, UnknownIdsSuggestTheNearest) {
  expect_failure({"predict", "--model", "llama-3.1-8", "--device", "h100_sxm"}, 3, HasSubstr("llama-3.1-8b"));
  expect_failure({"predict", "--model", "llama-3.1-8b", "--device", "h100_smx"}, 3, HasSubstr("h100_sxm"));
  expect_failure(question({"--weights", "Q4_K_N"}), 3, HasSubstr("Q4_K_M"));
  expect_failure(question({"--kv", "fp9"}), 3, HasSubstr("fp8"));
  expect_failure(question({"--engine", "vlm"}), 3, HasSubstr("vlm"));
  expect_failure({"models", "llama-3.1-8"}, 3, HasSubstr("llama-3.1-8b"));
  expect_failure({"devices", "rtx_4091"}, 3, HasSubstr("rtx_4090"));
  expect_failure({"engines", "vlm"}, 3, HasSubstr("vlm"));
}

TEST(Failures, FilesThatCannotBeRead) {
  expect_failure({"predict", "--model", "./nowhere/config.json", "--device", "h100_sxm"}, 4, HasSubstr("nowhere"));
  expect_failure({"predict", "--model", "llama-3.1-8b", "--device", "nowhere.json"}, 4, HasSubstr("nowhere.json"));
  expect_failure({"models", TOKENROOF_SOURCE_DIR "/CMakePresets.json"}, 4, HasSubstr("CMakePresets.json"));
  expect_failure({"devices", TOKENROOF_SOURCE_DIR "/CMakePresets.json"}, 4, HasSubstr("CMakePresets.json"));
  expect_failure({"models", TOKENROOF_SOURCE_DIR "/tests"}, 4, HasSubstr("tests"));
}

TEST(Failures, NumbersThatCannotBe) {
  expect_failure(question({"--batch", "-1"}), 2, HasSubstr("batch = -1"));
  expect_failure(question({"--batch", "0"}), 2, HasSubstr("batch = 0"));
  expect_failure(question({"--batch", "99999999999"}), 2, HasSubstr("batch"));
  expect_failure(question({"--prompt", "0"}), 2, HasSubstr("prompt"));
  expect_failure(question({"--context-depth", "-1"}), 2, HasSubstr("context_depth"));
  for (const char* number : {"1e30", "nan", "inf", "", "1.5", "ten", "0x", "99999999999999999999999"}) {
    expect_failure(question({"--output", number}), 2, HasSubstr("--output"));
  }
}

TEST(Failures, SizesThatCannotBe) {
  for (const char* size : {"-64GiB", "many", "64 cows", "0", "1e9GiB"}) {
    expect_failure(question({"--memory", size}), 2, HasSubstr("memory"));
  }
  expect_failure(question({"--memory", "64GiB"}), 2, HasSubstr("80 GiB"));
  expect_failure({"predict", "--model", "llama-3.1-8b", "--device", "apple_m3_max_40c@7GiB"}, 2, HasSubstr("48 GiB"));
}

TEST(Failures, SplitsThatCannotBe) {
  expect_failure(question({"--devices", "8"}), 2, AllOf(HasSubstr("devices = 8"), HasSubstr("--tp")));
  expect_failure(question({"--devices", "8", "--tp", "4"}), 2, HasSubstr("which is 4"));
  expect_failure(question({"--tp", "0"}), 2, HasSubstr("tensor_parallel = 0"));
  expect_failure(question({"--tp", "9000000000000000000", "--dp", "9"}), 2, HasSubstr("tensor_parallel"));
  expect_failure(question({"--tp", "3"}), 2, HasSubstr("tensor_parallel = 3"));
  expect_failure(question({"--ep", "2", "--tp", "2"}), 2, HasSubstr("expert_parallel"));
}

TEST(Failures, ArgumentsThatAreNotUnderstood) {
  expect_failure({}, 2, HasSubstr("predict, sweep"));
  expect_failure({"foretell"}, 2, HasSubstr("foretell"));
  expect_failure({"predict", "--model", "llama-3.1-8b"}, 2, HasSubstr("--device"));
  expect_failure(question({"--json", "--csv"}), 2, HasSubstr("--csv"));
  expect_failure(question({"--frobnicate", "1"}), 2, HasSubstr("--frobnicate"));
  expect_failure(question({"--batch"}), 2, HasSubstr("--batch"));
  expect_failure(question({"surplus"}), 2, HasSubstr("surplus"));
}

TEST(Failures, EmptyValuesAreNoDefaults) {
  for (const char* option :
       {"--weights", "--kv", "--memory", "--usable-memory", "--engine", "--memory-fraction", "--host", "--host-memory",
        "--host-bandwidth", "--storage", "--batch", "--device-layers"}) {
    expect_failure(question({option, ""}), 2, HasSubstr(option));
  }
  expect_failure({"models", ""}, 2, HasSubstr("empty"));
}

TEST(Failures, BitsAreNoBytes) {
  expect_failure(question({"--storage", "56Gb/s"}), 2, AllOf(HasSubstr("56Gb/s"), HasSubstr("in bytes")));
  expect_failure(question({"--host-bandwidth", "664Gbps"}), 2, HasSubstr("in bytes"));
}

class HostileFiles : public testing::Test {
protected:
  HostileFiles() { fs::create_directories(folder_); }
  ~HostileFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string file(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  fs::path folder_ = fs::temp_directory_path() / ("tokenroof_hostile_files_" + std::to_string(getpid()));
};

TEST_F(HostileFiles, WhatIsWrongWithinIsTheFilesFault) {
  const std::string device = file("device.json", R"({"schema_version": 1, "id": "mine", "name": "Mine",
      "device_class": "consumer_gpu", "memory": {"bandwidth_GBps": 0}, "compute_units": []})");
  const auto names_it = [](const std::string& path) { return AllOf(HasSubstr(path), HasSubstr("bandwidth_GBps")); };
  expect_failure({"devices", device}, 4, names_it(device));
  expect_failure({"predict", "--model", "llama-3.1-8b", "--device", device}, 4, names_it(device));
  const std::string engine = file("engine.json", R"({"schema_version": 1, "id": "", "version": "1"})");
  expect_failure({"engines", engine}, 4, AllOf(HasSubstr(engine), HasSubstr("id")));
  expect_failure(question({"--engine", engine}), 4, AllOf(HasSubstr(engine), HasSubstr("id")));
}

TEST_F(HostileFiles, CannotSpeakToTheTerminal) {
  const testing::Matcher<std::string> silent = Not(testing::ContainsRegex("[\x01-\x09\x0b-\x1f\x7f]"));
  const std::string device = file("device.json", R"({"schema_version": 1, "id": "mine", "name": "Mine",
      "device_class": "\u001b[31m\u0007", "memory": {}, "compute_units": []})");
  expect_failure({"devices", device}, 4, silent);
  const std::string network = file("config.json", R"({"model_type": "\u001b[31m\u009b", "hidden_size": 64,
      "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 256})");
  EXPECT_THAT(output({"models", network}), AllOf(HasSubstr("'?[31m?'"), silent));
  expect_failure({"models", "\x1b[31m"}, 3, silent);
}

TEST_F(HostileFiles, PipesAreNotWaitedFor) {
  const fs::path pipe = folder_ / "model.safetensors";
  ASSERT_EQ(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  expect_failure({"models", pipe.string()}, 4, HasSubstr("no regular file"));
  EXPECT_EQ(run({"models", folder_.string()}).exit_code, 4);
}

TEST(Failures, HostileIdsAreOnlyUnknown) {
  expect_failure({"predict", "--model", std::string(100'000, 'x'), "--device", "h100_sxm"}, 3, HasSubstr("unknown"));
  expect_failure({"predict", "--model", "llama-3.1-8b", "--device", std::string(100'000, '@')}, 3,
                 HasSubstr("unknown"));
  expect_failure({"predict", "--model", "", "--device", "h100_sxm"}, 3, HasSubstr("unknown"));
}

} // namespace
} // namespace tokenroof::test
