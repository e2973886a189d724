#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "support/benchmark_files.hpp"

namespace tokenroof::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A folder that goes with the test.
class Folder {
public:
  Folder()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("calibrate-" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string with(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  std::filesystem::path path_;
};

/// What the program itself predicts, in tokens a second.
double predicted(const std::string& engine, const std::string& what, const std::string& prompt,
                 const std::string& output, const std::string& depth) {
  const json answer = json::parse(
      test::output({"predict", "--model", "llama-3.1-8b", "--device", "rtx_4090", "--weights", "Q4_K_M", "--engine",
                    engine, "--prompt", prompt, "--output", output, "--context-depth", depth, "--json"}));
  return answer.at(what).get<double>();
}

/// Ten rows of a board that reads and computes a fifth slower than its engine's file says.
std::string ten_slow_rows() {
  std::vector<LlamaBenchRow> rows;
  for (const int prompt : {512, 1024, 2048, 4096, 8192}) {
    const double rate = predicted("llama.cpp-cuda", "prefill_tokens_per_second", std::to_string(prompt), "1", "0");
    rows.push_back({.prompt = prompt, .tokens_per_second = 0.8 * rate});
  }
  for (const int depth : {0, 512, 1024, 2048, 4096}) {
    const double rate = predicted("llama.cpp-cuda", "tokens_per_second_per_user", "1", "129", std::to_string(depth));
    rows.push_back({.generated = 128, .depth = depth, .tokens_per_second = 0.8 * rate});
  }
  return llama_bench_json(rows);
}

TEST(Calibrate, TenRowsOfLlamaBenchImproveThePrediction) {
  const Folder folder;
  const std::string rows = folder.with("rows.json", ten_slow_rows());
  const std::string engine = folder.path("engine.json");
  const json report = json::parse(output({"calibrate", rows, "--engine", "llama.cpp-cuda", "-o", engine, "--json"}));
  EXPECT_EQ(report.at("schema_version"), 1);
  EXPECT_EQ(report.at("engine"), "llama.cpp-cuda@2025-08");
  EXPECT_EQ(report.at("written_to"), engine);
  EXPECT_GT(report.at("errors").at("before").at("median_error_ratio"), 0.15);
  EXPECT_LT(report.at("errors").at("after").at("median_error_ratio"), 0.04);
  EXPECT_TRUE(report.at("errors").at("left_out").at("median_error_ratio").is_null());
  EXPECT_EQ(report.at("errors_by_metric").at("ttft").at("after").at("rows"), 5);
  // Of a length that was not measured.
  const auto rate = [](const std::string& file) {
    return predicted(file, "tokens_per_second_per_user", "1", "129", "3000");
  };
  EXPECT_NEAR(rate(engine) / rate("llama.cpp-cuda"), 0.8, 0.04);
}

TEST(Calibrate, TheFileSaysWhereItsFiguresComeFrom) {
  const Folder folder;
  const std::string rows = folder.with("rows.json", ten_slow_rows());
  (void)output({"calibrate", rows, "--engine", "llama.cpp-cuda", "-o", folder.path("engine.json")});
  const std::string facts = output({"engines", folder.path("engine.json")});
  EXPECT_THAT(facts, HasSubstr("10 rows of llama-3.1-8b on rtx_4090"));
  EXPECT_THAT(folder.text("engine.json"),
              AllOf(HasSubstr(R"("source": "rows.json")"), HasSubstr("of llama-3.1-8b on rtx_4090")));
  const json before = json::parse(output({"engines", "llama.cpp-cuda", "--json"}));
  const json after = json::parse(output({"engines", folder.path("engine.json"), "--json"}));
  EXPECT_EQ(before.at("memory"), after.at("memory"));
  EXPECT_EQ(before.at("profiles").size(), after.at("profiles").size());
}

TEST(Calibrate, TextSaysWhatIsKnownAndWhatNot) {
  const Folder folder;
  const std::string rows = folder.with("rows.json", ten_slow_rows());
  EXPECT_THAT(output({"calibrate", rows, "--engine", "llama.cpp-cuda"}),
              AllOf(HasSubstr("80 % interval"), HasSubstr("not identified"), HasSubstr("no row depends on"),
                    HasSubstr("expert_utilisation"), HasSubstr("left out"), HasSubstr("Nothing was written")));
}

TEST(Calibrate, OnlyWhatIsAskedForIsFitted) {
  const Folder folder;
  const std::string rows = folder.with("rows.json", ten_slow_rows());
  const json report = json::parse(
      output({"calibrate", rows, "--engine", "llama.cpp-cuda", "--fit", "bandwidth_efficiency,gemm_utilisation.int8",
              "--profile", "family=ada,device_class=consumer_gpu", "--json"}));
  ASSERT_EQ(report.at("constants").size(), 2U);
  EXPECT_EQ(report.at("constants").at(0).at("constant"), "bandwidth_efficiency");
  EXPECT_EQ(report.at("constants").at(0).at("family"), "ada");
  EXPECT_EQ(report.at("constants").at(0).at("device_class"), "consumer_gpu");
}

TEST(Calibrate, SeveralFilesAndFormsCountTogether) {
  const Folder folder;
  const std::string rows = folder.with("rows.json", ten_slow_rows());
  const std::string more = folder.with("more.csv", llama_bench_csv({{.prompt = 512, .tokens_per_second = 9000},
                                                                    {.generated = 128, .tokens_per_second = 120}}));
  const json report =
      json::parse(output({"calibrate", rows, more, "--engine", "llama.cpp-cuda", "--group-by", "metric", "--json"}));
  EXPECT_EQ(report.at("errors").at("after").at("rows"), 12);
  EXPECT_EQ(report.at("groups").size(), 2U);
  EXPECT_TRUE(report.at("errors").at("left_out").at("median_error_ratio").is_number());
}

TEST(Calibrate, MeasurementsAreReadAsValidateReadsThem) {
  const Folder folder;
  std::string text = "framework,backend,hardware,model,weight_format,batch,prompt_tokens,output_tokens,batching,metric,"
                     "value,machine\n";
  for (const std::string model : {"Llama-3.1-8B", "Qwen3-8B"}) {
    for (const std::string batch : {"1", "4", "16", "32"}) {
      text += "vLLM,CUDA,H100," + model + ",bfloat16," + batch + ",1024,128,static,tpot_ms," +
              std::to_string(9 + 0.1 * std::stod(batch)) + "," + batch + "\n";
    }
  }
  text += "vLLM,CUDA,H100,Qwen3-8B,bfloat16,1,1024,128,static,happiness,1,1\n";
  const std::string rows = folder.with("rows.csv", text);
  const json report =
      json::parse(output({"calibrate", rows, "--engine", "vllm", "--group-by", "network,machine", "--json"}));
  EXPECT_EQ(report.at("errors").at("after").at("rows"), 8);
  EXPECT_EQ(report.at("groups").at(0).at("group"), "llama-3.1-8b, 1");
  EXPECT_EQ(report.at("groups").size(), 8U);
  EXPECT_THAT(report.at("not_used").dump(), HasSubstr("happiness"));
}

TEST(Calibrate, ServingBenchmarksNeedADevice) {
  const Folder folder;
  const std::string result = folder.with("result.json", serving_json(1, 45, 9));
  const Outcome without = run({"calibrate", result, "--engine", "vllm"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("--device"));
  const json report = json::parse(output({"calibrate", result, "--engine", "vllm", "--device", "h100_sxm", "--json"}));
  EXPECT_EQ(report.at("errors").at("after").at("rows"), 2);
}

void expect_failure(const std::vector<std::string>& arguments, int exit_code, const std::string& message) {
  const Outcome result = run(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(message));
}

TEST(Calibrate, FaultyFilesAndOptionsAreNamed) {
  const Folder folder;
  const std::string rows = folder.with("rows.json", ten_slow_rows());
  expect_failure({"calibrate"}, 2, "measurements");
  expect_failure({"calibrate", rows}, 2, "--engine");
  expect_failure({"calibrate", "/nowhere.json", "--engine", "vllm"}, 4, "/nowhere.json");
  expect_failure({"calibrate", folder.with("other.json", "{\"a\": 1}"), "--engine", "vllm"}, 4, "llama-bench");
  expect_failure({"calibrate", rows, "--engine", "vlm"}, 3, "nearest: vllm");
  expect_failure({"calibrate", rows, "--engine", "roofline"}, 2, "no constants");
  expect_failure({"calibrate", rows, "--engine", "llama.cpp-cuda", "--fit", "bandwidth"}, 2,
                 "nearest: bandwidth_efficiency");
  expect_failure({"calibrate", rows, "--engine", "llama.cpp-cuda", "--profile", "ada"}, 2, "family=NAME");
  expect_failure({"calibrate", rows, "--engine", "llama.cpp-cuda", "--profile", "device_class=consumer-gpu"}, 2,
                 "consumer_gpu");
  expect_failure({"calibrate", rows, "--engine", "llama.cpp-cuda", "--group-by", "networks"}, 2, "nearest: network");
  expect_failure({"calibrate", rows, "--engine", "llama.cpp-cuda", "-o", "/nowhere/engine.json"}, 1, "/nowhere");
}

} // namespace
} // namespace tokenroof::test
