// What llama-bench and serving benchmarks write, as observations.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/benchmark_files.hpp"
#include "tokenroof/calibration.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::test {
namespace {

using calibration::Measurements;
using calibration::Metric;
using calibration::Observation;
using calibration::ReadOptions;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<LlamaBenchRow> three_rows = {
    {.prompt = 512, .tokens_per_second = 10240},
    {.generated = 128, .depth = 4096, .tokens_per_second = 125},
    {.prompt = 512, .generated = 128, .tokens_per_second = 640},
};

Measurements parsed(const std::string& text, ReadOptions options = {.engine = catalogue::engine("llama.cpp-cuda")}) {
  return calibration::parse_measurements(text, "file", options);
}

std::string only_reason(const Measurements& measurements) {
  EXPECT_THAT(measurements.observations, testing::IsEmpty());
  EXPECT_EQ(measurements.not_used.size(), 1U);
  return measurements.not_used.empty() ? "" : measurements.not_used.front().reason;
}

LlamaBenchFields with(const std::string& name, const std::string& value) {
  LlamaBenchFields fields = llama_bench_fields();
  for (auto& field : fields) {
    field.second = field.first == name ? value : field.second;
  }
  return fields;
}

void expect_three_rows(const Measurements& measured) {
  ASSERT_EQ(measured.observations.size(), 3U);
  EXPECT_THAT(measured.not_used, testing::IsEmpty());
  const Observation& prompt = measured.observations[0];
  EXPECT_EQ(prompt.metric, Metric::ttft);
  EXPECT_DOUBLE_EQ(prompt.measured.value(), 0.05);
  EXPECT_DOUBLE_EQ(prompt.workload.prompt.value(), 512);
  EXPECT_EQ(prompt.deployment.network->name, "llama-3.1-8b");
  EXPECT_EQ(prompt.deployment.weights.name.view(), "Q4_K_M");
  EXPECT_EQ(prompt.deployment.cluster.device.id.view(), "rtx_4090");
  EXPECT_EQ(prompt.deployment.settings.batched_tokens, Tokens::from_value(512));
  EXPECT_EQ(prompt.group, "llama-3.1-8b");
  const Observation& generation = measured.observations[1];
  EXPECT_EQ(generation.metric, Metric::tpot);
  EXPECT_DOUBLE_EQ(generation.measured.value(), 0.008);
  EXPECT_DOUBLE_EQ(generation.workload.output.value(), 129); // 128 steps
  EXPECT_DOUBLE_EQ(generation.workload.context_depth.value(), 4096);
  const Observation& both = measured.observations[2];
  EXPECT_EQ(both.metric, Metric::end_to_end);
  EXPECT_DOUBLE_EQ(both.measured.value(), 1);
}

TEST(LlamaBench, IsReadAsJson) { expect_three_rows(parsed(llama_bench_json(three_rows))); }

TEST(LlamaBench, IsReadAsCsv) { expect_three_rows(parsed(llama_bench_csv(three_rows))); }

TEST(LlamaBench, IsReadLineByLine) {
  std::string lines;
  for (const LlamaBenchRow& row : three_rows) {
    lines += json_object(with_test(llama_bench_fields(), row)) + "\n";
  }
  expect_three_rows(parsed(lines));
}

TEST(LlamaBench, TheTypeNamesWhatTheFileDoesNot) {
  const Measurements measured =
      parsed(llama_bench_json({three_rows[0]}, with("model_filename", R"("ggml-model.gguf")")),
             {.given = {.network = catalogue::network("llama-3.1-8b")}, .engine = catalogue::engine("llama.cpp-cuda")});
  ASSERT_EQ(measured.observations.size(), 1U);
  EXPECT_EQ(measured.observations[0].deployment.weights.name.view(), "Q4_K_M");
  EXPECT_THAT(only_reason(parsed(llama_bench_json({three_rows[0]}, with("model_filename", R"("ggml-model.gguf")")))),
              HasSubstr("--model"));
}

TEST(LlamaBench, PartsOfAFileAreNoPartOfItsName) {
  const Measurements measured = parsed(llama_bench_json(
      {three_rows[0]},
      with("model_filename", R"("C:\\models\\Meta-Llama-3.1-8B-Instruct-Q4_K_M-00001-of-00003.gguf")")));
  ASSERT_EQ(measured.observations.size(), 1U);
  EXPECT_EQ(measured.observations[0].deployment.network->name, "llama-3.1-8b");
}

TEST(LlamaBench, WhatIsGivenCountsMore) {
  const Measurements measured = parsed(llama_bench_json({three_rows[0]}),
                                       {.given = {.weights = WeightScheme{}, .device = catalogue::device("h100_sxm")},
                                        .engine = catalogue::engine("llama.cpp-cuda")});
  ASSERT_EQ(measured.observations.size(), 1U);
  EXPECT_EQ(measured.observations[0].deployment.weights, WeightScheme{});
  EXPECT_EQ(measured.observations[0].deployment.cluster.device.id.view(), "h100_sxm");
}

TEST(LlamaBench, SeveralDevicesShareTheLayers) {
  const std::string two = R"("NVIDIA GeForce RTX 3090, NVIDIA GeForce RTX 3090")";
  const Measurements measured = parsed(llama_bench_json({three_rows[0]}, with("gpu_info", two)));
  ASSERT_EQ(measured.observations.size(), 1U);
  EXPECT_EQ(measured.observations[0].deployment.parallelism.pipeline, 2);
  EXPECT_EQ(measured.observations[0].deployment.cluster.devices, 2);
}

TEST(LlamaBench, WhatCannotBeUsedIsSaid) {
  const auto reason = [](const std::string& name, const std::string& value) {
    return only_reason(parsed(llama_bench_json({three_rows[0]}, with(name, value))));
  };
  EXPECT_THAT(reason("n_gpu_layers", "12"), HasSubstr("n_gpu_layers"));
  EXPECT_THAT(reason("model_n_params", "70553706496"), HasSubstr("other parameters than llama-3.1-8b"));
  EXPECT_THAT(reason("gpu_info", R"("Radeon of tomorrow")"), HasSubstr("--device"));
  EXPECT_THAT(reason("type_k", R"("q17_0")"), HasSubstr("--kv"));
  EXPECT_THAT(only_reason(parsed(llama_bench_json({{.prompt = 512}}))), HasSubstr("avg_ts"));
  EXPECT_THAT(only_reason(parsed(llama_bench_json({three_rows[0]}), {.given = {.device = catalogue::device("h100_sxm")},
                                                                     .engine = catalogue::engine("llama.cpp-cpu")})),
              HasSubstr("CPU"));
}

const ReadOptions on_h100 = {.given = {.device = catalogue::device("h100_sxm")}, .engine = catalogue::engine("vllm")};

TEST(ServingBenchmark, OneRequestAtATimeIsReadByItsMedians) {
  const Measurements measured = parsed(serving_json(1, 30, 8), on_h100);
  ASSERT_EQ(measured.observations.size(), 2U);
  const Observation& first = measured.observations[0];
  EXPECT_EQ(first.metric, Metric::ttft);
  EXPECT_DOUBLE_EQ(first.measured.value(), 0.03);
  EXPECT_DOUBLE_EQ(first.workload.prompt.value(), 1024);
  EXPECT_DOUBLE_EQ(first.workload.output.value(), 128);
  EXPECT_EQ(first.deployment.network->name, "llama-3.1-8b");
  EXPECT_EQ(measured.observations[1].metric, Metric::tpot);
  EXPECT_DOUBLE_EQ(measured.observations[1].measured.value(), 0.008);
}

TEST(ServingBenchmark, TheCheckpointSaysTheFormat) {
  const Measurements measured = parsed(serving_json(1, 30, 8, "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8"), on_h100);
  ASSERT_EQ(measured.observations.size(), 2U);
  EXPECT_EQ(measured.observations[0].deployment.weights.name.view(), "fp8");
}

TEST(ServingBenchmark, ClientsAreAClosedLoop) {
  const Measurements measured = parsed(serving_json(5, 30, 8), on_h100);
  ASSERT_EQ(measured.observations.size(), 2U);
  const Observation& first = measured.observations[0];
  EXPECT_EQ(first.workload.arrival, Arrival::closed_loop);
  EXPECT_EQ(first.workload.batch, 5);
  EXPECT_DOUBLE_EQ(first.workload.requests_per_client, 2);
  EXPECT_DOUBLE_EQ(first.measured.value(), 0.09); // the mean
}

TEST(ServingBenchmark, ArrivalsAtARateAreNotUsed) {
  std::string open = serving_json(1, 30, 8);
  open.replace(open.find(R"("max_concurrency": 1)"), 20, R"("max_concurrency": null)");
  EXPECT_THAT(only_reason(parsed(open, on_h100)), HasSubstr("no max_concurrency"));
}

TEST(ServingBenchmark, NamesWhatIsMissing) {
  EXPECT_THAT(only_reason(parsed(serving_json(1, 30, 8), {.engine = catalogue::engine("vllm")})),
              HasSubstr("say --device"));
}

TEST(OneBatch, IsAStaticBatch) {
  const Measurements measured =
      parsed(R"({"run_name": "default", "batch_size": 16, "input_len": 1024, "output_len": 64, "prefill_latency": 0.5,
                 "median_decode_latency": 0.011, "total_latency": 1.2}
)",
             {.given = {.network = catalogue::network("llama-3.1-8b"), .device = catalogue::device("h100_sxm")},
              .engine = catalogue::engine("sglang")});
  ASSERT_EQ(measured.observations.size(), 2U);
  EXPECT_EQ(measured.observations[0].workload.batch, 16);
  EXPECT_DOUBLE_EQ(measured.observations[0].measured.value(), 0.5);
  EXPECT_DOUBLE_EQ(measured.observations[1].measured.value(), 0.011);
}

TEST(BenchmarkFiles, OtherFilesAreRefused) {
  for (const std::string text : {"{}", "[]", "[1]", "{", "[{\"a\": 1}]", "avg_ts\n1,2\n"}) {
    EXPECT_THROW((void)parsed(text), ParseError) << text;
  }
  EXPECT_THROW((void)parsed(llama_bench_json(three_rows), {.group_by = {"netwrk"}}), InvalidSpec);
}

} // namespace
} // namespace tokenroof::test
