#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace tokenroof::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* header = "id,framework,hardware,model,weight_format,metric,value,notes\n";

/// A file that goes with the test.
class File {
public:
  explicit File(const std::string& text = "")
      : path_(std::filesystem::path(testing::TempDir()) /
              ("validate-" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) + "-" +
               std::to_string(count_++) + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  File(const File&) = delete;
  File(File&&) = delete;
  File& operator=(const File&) = delete;
  File& operator=(File&&) = delete;
  ~File() { std::filesystem::remove(path_); }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

/// Llama-2-7B in 16 bits takes 6 738 415 616 x 2 bytes.
std::string rows(std::initializer_list<const char*> lines) {
  std::string text = header;
  for (const char* const line : lines) {
    text += std::string(line) + '\n';
  }
  return text;
}

constexpr const char* exact_row = "a,vLLM,H100,Llama-2-7b-hf,bfloat16,model_size_bytes,13476831232,";

nlohmann::json json_of(const File& file, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"validate", file.path(), "--json"});
  return nlohmann::json::parse(output(more));
}

TEST(Validate, ComparesWhatWasMeasured) {
  const File file(rows({exact_row, "b,vLLM,H100,Llama-2-7b-hf,bfloat16,model_size_bytes,26953662464,"}));
  const nlohmann::json report = json_of(file);
  EXPECT_EQ(report.at("schema_version"), 1);
  EXPECT_EQ(report.at("total").at("compared_rows"), 2);
  EXPECT_DOUBLE_EQ(report.at("total").at("median_error_ratio").get<double>(), 0.25);
  EXPECT_NEAR(report.at("total").at("bias_ratio").get<double>(), -0.2929, 1e-4);
  EXPECT_DOUBLE_EQ(report.at("total").at("coverage_ratio").get<double>(), 1);
}

TEST(Validate, CountsWhatIsNotClaimedAndWhatIsNotUnderstood) {
  const File file(rows({exact_row, "b,vLLM,H100,Llama-2-7b-hf,bfloat16,happiness,1,",
                        "c,vLLM,H100,Llama-2-7d,bfloat16,model_size_bytes,1,",
                        "d,vLLM,H100,Llama-2-7b-hf,bfloat16,model_size_bytes,many,"}));
  const nlohmann::json total = json_of(file).at("total");
  EXPECT_EQ(total.at("compared_rows"), 1);
  EXPECT_EQ(total.at("not_claimed_rows"), 1);
  EXPECT_EQ(total.at("unpredicted_rows"), 2);
  EXPECT_NEAR(total.at("coverage_ratio").get<double>(), 1.0 / 3, 1e-9);
  EXPECT_THAT(total.at("reasons").dump(),
              AllOf(HasSubstr("happiness"), HasSubstr("nearest: llama-2-7b"), HasSubstr("no number above 0")));
}

TEST(Validate, WhatContradictsPhysicsIsSetAside) {
  const File file(rows({exact_row, "b,vLLM,H100,Llama-2-7b-hf,bfloat16,model_size_bytes,6738415616,",
                        "c,vLLM,RTX 4090,Llama-2-7b-hf,bfloat16,process_memory_gb,30,"}));
  const nlohmann::json report = json_of(file);
  EXPECT_EQ(report.at("total").at("set_aside_rows"), 2);
  EXPECT_EQ(report.at("total").at("median_error_ratio"), 0);
  EXPECT_THAT(report.at("set_aside").at(0).at("reason"), HasSubstr("fewer bytes than the parameters take in bf16"));
  EXPECT_THAT(report.at("set_aside").at(1).at("reason"), HasSubstr("more than the device holds"));
}

TEST(Validate, RowsOfOneLogGiveTheBudgetToEachOther) {
  const File file(
      "id,framework,hardware,model,weight_format,metric,value,context_limit,notes\n"
      "a,vLLM,H100,Llama-3.1-8B-Instruct,bfloat16,kv_tokens,8192,8192,\n" // 1 GiB / 128 KiB
      "b,vLLM,H100,Llama-3.1-8B-Instruct,bfloat16,kv_cache_gib,1,8192,\n"
      "c,vLLM,H100,Llama-3.1-8B-Instruct,bfloat16,kv_tokens,8192,4096,\n"); // another log, which states no bytes
  const File out;
  const nlohmann::json report = json_of(file, {"--group-by", "metric", "--rows", out.path()});
  EXPECT_THAT(lines(out.text()),
              ElementsAre(HasSubstr("schema_version,line,id"), HasSubstr("1,2,a,kv_tokens,compared,8192,8192,"),
                          HasSubstr("1,3,b,kv_cache_gib"), HasSubstr("1,4,c,kv_tokens,unpredicted")));
}

TEST(Validate, WeightsPlacedByHandAreNotPredicted) {
  const std::string common = "2x NVIDIA GeForce RTX 3090,Llama-2-7b-hf,Q4_0,weights_gib";
  const std::string file_row = "a,llama.cpp," + common + ",3.57,\"GGUF \"\"model size\"\"\"";
  const std::string device_row = "b,llama.cpp," + common + ",1.5,CUDA0 model buffer size";
  const File out;
  (void)output({"validate", File(rows({file_row.c_str(), device_row.c_str()})).path(), "--rows", out.path()});
  EXPECT_THAT(out.text(), HasSubstr("b,weights_gib,unpredicted,1.5,,,,,the devices of this log hold a part"));
  const std::string rest = "b,llama.cpp," + common + ",2,CUDA1 model buffer size";
  (void)output(
      {"validate", File(rows({file_row.c_str(), device_row.c_str(), rest.c_str()})).path(), "--rows", out.path()});
  EXPECT_THAT(out.text(), HasSubstr("b,weights_gib,compared,1.5,"));
}

TEST(Validate, NotesTellWhatAMetricMeans) {
  // 512 rows of 4096 elements and of 1024 cells in 32 bits; of several devices each pass under way has its own mask.
  const File file(
      rows({"a,llama.cpp,RTX 3090,Llama-3.1-8B,Q5_K - Small,compute_buffer_mib,10,CUDA_Host compute buffer; n_ctx=1024 "
            "n_ubatch=512",
            "b,llama.cpp,2x RTX 3090,Llama-3.1-8B,Q5_K - Small,compute_buffer_mib,16,CUDA_Host compute buffer; "
            "n_ctx=1024 n_ubatch=512"}));
  const nlohmann::json report = json_of(file, {"--group-by", "quantity"});
  EXPECT_EQ(report.at("groups").at(0).at("quantity"), "host_compute_buffer");
  EXPECT_EQ(report.at("groups").at(0).at("compared_rows"), 2);
  EXPECT_EQ(report.at("total").at("p90_error_ratio"), 0);
}

TEST(Validate, AFileInASmallerFormatThanItsNameIsNoContradiction) {
  const File file(rows({"a,llama.cpp,H100,gpt-oss-20b,MXFP4 MoE,model_size_bytes,12101070356,"}));
  EXPECT_EQ(json_of(file).at("total").at("compared_rows"), 1);
}

TEST(Validate, RowsAreWrittenWithReasons) {
  const File file(rows({exact_row, "\"b,\"\"\",nobody's,H100,Llama-2-7b-hf,bfloat16,model_size_bytes,1,"}));
  const File out;
  (void)output({"validate", file.path(), "--rows", out.path()});
  EXPECT_THAT(lines(out.text()),
              ElementsAre("schema_version,line,id,metric,outcome,measured,predicted,low,high,trust,reason",
                          HasSubstr("1,2,a,model_size_bytes,compared,1.34768312e+10,1.34768312e+10,,,"),
                          HasSubstr("1,3,\"b,\"\"\",model_size_bytes,unpredicted,1,,,,,unknown engine")));
}

TEST(Validate, GroupsByColumnsAndByWhatNamesMean) {
  const File file(
      rows({exact_row, "b,vLLM,H100,meta-llama/Llama-2-7b-chat-hf,bfloat16,model_size_bytes,13476831232,"}));
  const std::string table = output({"validate", file.path(), "--group-by", "network,device,quantity,engine", "--csv"});
  EXPECT_THAT(lines(table), ElementsAre(HasSubstr("network,device,quantity,engine,compared_rows,median_error_ratio"),
                                        HasSubstr("1,llama-2-7b,h100_sxm,file_weights,vllm@")));
  EXPECT_THAT(lines(output({"validate", file.path(), "--group-by", "id", "--csv"})), testing::SizeIs(3));
}

TEST(Validate, TextSaysWhatTheNumbersAre) {
  const File file(rows({exact_row, "b,vLLM,H100,Llama-2-7b-hf,bfloat16,happiness,1,"}));
  EXPECT_THAT(output({"validate", file.path()}),
              AllOf(HasSubstr("median"), HasSubstr("0.0 %"), HasSubstr("100.0 %"), HasSubstr("happiness"),
                    HasSubstr("and 1 groups of metrics that are not claimed")));
}

void expect_failure(const std::vector<std::string>& arguments, int exit_code, const std::string& message) {
  const Outcome result = run(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(message));
}

TEST(Validate, FaultyFilesAndOptionsAreNamed) {
  expect_failure({"validate", "/nowhere.csv"}, 4, "cannot be opened");
  expect_failure({"validate", TOKENROOF_SOURCE_DIR}, 4, "is a folder");
  expect_failure({"validate"}, 2, "measurements");
  expect_failure({"validate", File("").path()}, 4, "is empty");
  const File without("id,framework,model,metric\n");
  expect_failure({"validate", without.path()}, 4, "lacks hardware, weight_format, value");
  const File twice("metric,metric\n");
  expect_failure({"validate", twice.path()}, 4, "two columns are named 'metric'");
  const File ragged(rows({exact_row, "b,c"}));
  expect_failure({"validate", ragged.path()}, 4, "line 3");
  const File good(rows({exact_row}));
  expect_failure({"validate", good.path(), "--group-by", "hardwar"}, 2, "nearest: hardware");
  expect_failure({"validate", good.path(), "--rows", "/nowhere/rows.csv"}, 1, "/nowhere/rows.csv");
  expect_failure({"validate", good.path(), "--json", "--csv"}, 2, "--csv");
}

TEST(Validate, AFileOfOnlyAHeaderIsAnEmptyReport) {
  const File file(header);
  EXPECT_EQ(json_of(file).at("total").at("compared_rows"), 0);
  EXPECT_THAT(output({"validate", file.path()}), Not(HasSubstr("why")));
}

} // namespace
} // namespace tokenroof::test
