// Options that say what lies outside a device's memory.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace tokenroof::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

Outcome run_on_4090(const std::vector<std::string>& more, const char* command = "predict") {
  std::vector<std::string> arguments = {command,    "--model",  "qwen3-30b-a3b",    "--weights", "Q4_K_M",
                                        "--device", "rtx_4090", "--host-bandwidth", "89.6 GB/s"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

json answer_on_4090(std::vector<std::string> more) {
  more.emplace_back("--json");
  const Outcome result = run_on_4090(more);
  EXPECT_EQ(result.err, "");
  return json::parse(result.out);
}

TEST(Offload, HostsMayGoUnused) {
  const json without = answer_on_4090({});
  const json with = answer_on_4090({"--device-layers", "48", "--host", "epyc_9654@256GiB"});
  EXPECT_EQ(without["tpot_ms"], with["tpot_ms"]);
  EXPECT_EQ(without["peak_memory_bytes"], with["peak_memory_bytes"]);
  EXPECT_EQ(with["host_layers"], 0);
  EXPECT_EQ(with["host_weights_bytes"], 0);
}

TEST(Offload, LayersAndExpertsMoveToTheHost) {
  const json all = answer_on_4090({});
  const json layers = answer_on_4090({"--device-layers", "24"});
  const json experts = answer_on_4090({"--host-experts", "48"});
  EXPECT_EQ(layers["host_layers"], 24);
  EXPECT_EQ(experts["host_expert_layers"], 48);
  for (const json& moved : {layers, experts}) {
    EXPECT_LT(moved["weights_bytes"], all["weights_bytes"]);
    EXPECT_NEAR(moved["weights_bytes"].get<double>() + moved["host_weights_bytes"].get<double>(),
                all["weights_bytes"].get<double>(), 1);
    EXPECT_GT(moved["tpot_ms"], all["tpot_ms"]);
    EXPECT_GT(moved["explanation"]["decode"]["time_by_roof"]["host_memory_ms"], 0);
  }
  EXPECT_EQ(experts["kv_cache_bytes"], all["kv_cache_bytes"]);
  EXPECT_LT(layers["kv_cache_bytes"], all["kv_cache_bytes"]);
}

TEST(Offload, TheCacheMovesToTheHost) {
  const json moved = answer_on_4090({"--cache-on-host", "--prompt", "8192"});
  EXPECT_EQ(moved["kv_cache_bytes"], 0);
  EXPECT_GT(moved["host_kv_cache_bytes"], 0);
  EXPECT_EQ(moved["reasons"]["ttft_ms"], "no_host_compute_rate") << "no processor was stated";
  EXPECT_GT(moved["tpot_ms"], answer_on_4090({"--prompt", "8192"})["tpot_ms"]);
}

TEST(Offload, WhatTheHostLacksIsSaid) {
  const json unknown = json::parse(
      run({"predict", "--model", "llama-3.1-8b", "--device", "rtx_4090", "--device-layers", "4", "--json"}).out);
  EXPECT_TRUE(unknown["tpot_ms"].is_null());
  EXPECT_EQ(unknown["reasons"]["tpot_ms"], "no_host_bandwidth");
  EXPECT_EQ(unknown["fits"], true);
  const Outcome full = run_on_4090({"--device-layers", "0", "--host-memory", "8GiB", "--require-fit"});
  EXPECT_EQ(full.exit_code, 5);
  EXPECT_THAT(full.err, HasSubstr("the host"));
  EXPECT_THAT(full.out, AllOf(HasSubstr("host    "), HasSubstr("GiB short")));
}

TEST(Offload, MappedWeightsNeedNotFit) {
  const std::vector<std::string> question = {"predict", "--model",  "deepseek-r1",     "--weights",
                                             "Q4_K_M",  "--device", "epyc_9654@64GiB", "--json"};
  EXPECT_EQ(json::parse(run(question).out)["fits"], false);
  std::vector<std::string> mapped = question;
  mapped.emplace_back("--map-from-storage");
  const json unknown = json::parse(run(mapped).out);
  EXPECT_EQ(unknown["fits"], true);
  EXPECT_EQ(unknown["reasons"]["tpot_ms"], "no_storage_bandwidth");
  mapped.insert(mapped.end(), {"--storage", "7GB/s"});
  const json answer = json::parse(run(mapped).out);
  EXPECT_GT(answer["weights_in_storage_bytes"], 300e9);
  EXPECT_EQ(answer["explanation"]["decode"]["roof"], "storage");
}

TEST(Offload, SweepsTakeTheSameOptions) {
  const std::vector<std::string> options = {"--host-experts", "48", "--host", "epyc_9654", "--csv"};
  const std::vector<std::string> rows = lines(run_on_4090(options, "sweep").out);
  const std::vector<std::string> point = lines(run_on_4090(options).out);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows, point);
}

TEST(Offload, NonsenseIsNamed) {
  const auto refused = [](const std::vector<std::string>& more, const char* message) {
    const Outcome result = run_on_4090(more);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  refused({"--device-layers", "49"}, "0..48");
  refused({"--device-layers", "-1"}, "0..48");
  refused({"--host-experts", "49"}, "0..48");
  refused({"--storage", "fast"}, "bandwidths look like");
  refused({"--host-memory", "much"}, "sizes look like");
  refused({"--host", "rtx_4090"}, "no processor");
  refused({"--map-from-storage"}, "copies all weights");
  const Outcome unified =
      run({"predict", "--model", "llama-3.1-8b", "--device", "apple_m3_max_40c@64GiB", "--device-layers", "4"});
  EXPECT_EQ(unified.exit_code, 2);
  EXPECT_THAT(unified.err, HasSubstr("has no host"));
  EXPECT_EQ(run_on_4090({"--host", "epyk"}).exit_code, 3);
}

TEST(Offload, TextSaysWhereThingsLieAndWhatBinds) {
  const std::string text = run_on_4090({"--host-experts", "48", "--host", "epyc_9654@256GiB"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("offload "), HasSubstr("experts of 48 layers on the host"), HasSubstr("epyc_9654"),
                          HasSubstr("host memory"), HasSubstr("host link")));
}

} // namespace
} // namespace tokenroof::test
