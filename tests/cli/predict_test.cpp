#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof::test {
namespace {

using namespace tokenroof::literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

json predict_json(std::vector<std::string> more) {
  more.emplace_back("--json");
  const Outcome result = run_predict(more);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

TEST(Predict, AnswersWhatTheLibraryAnswers) {
  const json answer = predict_json(
      {"--engine", "roofline", "--batch", "4", "--prompt", "1000", "--output", "50", "--context-depth", "10"});
  const Deployment deployment{.network = catalogue::network("llama-3.1-8b"),
                              .cluster = {.device = catalogue::device("h100_sxm")}};
  const Prediction expected =
      tokenroof::predict(deployment, {.batch = 4, .prompt = 1000_tok, .output = 50_tok, .context_depth = 10_tok});
  EXPECT_EQ(answer["schema_version"], 1);
  EXPECT_DOUBLE_EQ(answer["ttft_ms"], expected.ttft.value.value() * 1e3);
  EXPECT_DOUBLE_EQ(answer["tpot_ms"], expected.tpot.value.value() * 1e3);
  EXPECT_DOUBLE_EQ(answer["tokens_per_second"], expected.tokens_per_second.value.value());
  EXPECT_DOUBLE_EQ(answer["peak_memory_bytes"], expected.peak_memory.value.value());
  EXPECT_EQ(answer["fits"], true);
}

TEST(Predict, TextSaysTheSameInWords) {
  const Outcome result = run_predict({"--engine", "roofline", "--weights", "Q4_K_M"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, AllOf(HasSubstr("TTFT"), HasSubstr("(end to end - TTFT) / (output - 1)"),
                                HasSubstr("Q4_K_M, 4.575 GiB"), HasSubstr("fits"), HasSubstr("MFU"),
                                HasSubstr("lower bound"), Not(HasSubstr("\x1b")), Not(HasSubstr("nan"))));
  EXPECT_EQ(result.out.back(), '\n');
}

TEST(Predict, ReportLinesFitATerminalAndEndWithoutSpaces) {
  for (const std::string& line : lines(run_predict({"--batch", "64", "--weights", "Q4_K_M"}).out)) {
    EXPECT_LE(line.size(), 110) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
  }
}

TEST(Predict, CsvHasTheValuesOfJson) {
  const json answer = predict_json({"--batch", "3"});
  const std::vector<std::string> csv = lines(run_predict({"--batch", "3", "--csv"}).out);
  ASSERT_EQ(csv.size(), 2);
  const std::vector<std::string> names = fields(csv[0]);
  const std::vector<std::string> values = fields(csv[1]);
  ASSERT_EQ(names.size(), values.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_TRUE(answer.contains(names[i])) << names[i];
    const json& value = answer[names[i]];
    if (value.is_null()) {
      EXPECT_EQ(values[i], "") << names[i];
    } else if (value.is_number()) {
      EXPECT_EQ(std::stod(values[i]), value.get<double>()) << names[i];
    } else {
      EXPECT_EQ(values[i], value.is_boolean() ? value.dump() : value.get<std::string>()) << names[i];
    }
  }
}

TEST(Predict, IntervalsAreThereAndNullUntilCalibrated) {
  const json answer = predict_json({});
  for (const char* name : {"ttft_low_ms", "ttft_high_ms", "tpot_low_ms", "tpot_high_ms", "peak_memory_low_bytes"}) {
    ASSERT_TRUE(answer.contains(name)) << name;
  }
  EXPECT_TRUE(answer["reasons"].contains("intervals") || !answer["ttft_low_ms"].is_null());
}

TEST(Predict, WhatIsAbsentHasAReason) {
  const json answer = predict_json({"--output", "1"});
  EXPECT_TRUE(answer["tpot_ms"].is_null());
  EXPECT_EQ(answer["reasons"]["tpot_ms"], "single_output_token");
  EXPECT_FALSE(answer["end_to_end_ms"].is_null());
  EXPECT_TRUE(answer["explanation"]["decode"].is_null());
}

TEST(Predict, APhoneWithoutARateStillHasTpotAndMemory) {
  const Outcome result = run({"predict", "--model", "llama-3.2-1b", "--device", "snapdragon_8_elite@12GiB", "--weights",
                              "Q4_0", "--engine", "roofline", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json answer = json::parse(result.out);
  EXPECT_TRUE(answer["ttft_ms"].is_null());
  EXPECT_EQ(answer["reasons"]["ttft_ms"], "no_compute_rate");
  EXPECT_GT(answer["tpot_ms"], 0);
  EXPECT_EQ(answer["explanation"]["prefill"]["reason"], "no_compute_rate");
}

TEST(Predict, NotFittingIsAnAnswerAndAnErrorOnlyWhenAsked) {
  const std::vector<std::string> question = {"predict", "--model", "llama-3.1-70b", "--device", "h100_sxm"};
  const Outcome answered = run(question);
  EXPECT_EQ(answered.exit_code, 0);
  EXPECT_THAT(answered.out, AllOf(HasSubstr("does not fit"), HasSubstr("GiB short"), HasSubstr("What would fit"),
                                  Not(HasSubstr("to the first token out"))));
  std::vector<std::string> strict = question;
  strict.insert(strict.end(), {"--require-fit", "--json"});
  const Outcome refused = run(strict);
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, HasSubstr("does not fit"));
  const json answer = json::parse(refused.out);
  EXPECT_EQ(answer["fits"], false);
  EXPECT_GT(answer["shortfall_bytes"], 0);
  EXPECT_EQ(answer["memory_dominated_by"], "weights");
  EXPECT_EQ(answer["reasons"]["ttft_ms"], "does_not_fit");
}

TEST(Predict, MemoryChoosesAmongSizes) {
  const std::vector<std::string> mac = {"predict", "--model", "llama-3.1-70b", "--weights", "Q4_K_M", "--device"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), mac.begin(), mac.end());
    return run(more);
  };
  EXPECT_THAT(with({"apple_m3_max_40c@64GiB", "--csv"}).out, HasSubstr(",68719476736,"));
  EXPECT_EQ(with({"apple_m3_max_40c@64GiB", "--csv"}).out, with({"apple_m3_max_40c", "--memory", "64GB", "--csv"}).out);
  const Outcome unsaid = with({"apple_m3_max_40c"}); // 39.6 GiB of weights fit two of the three sizes
  EXPECT_EQ(unsaid.exit_code, 2);
  EXPECT_THAT(unsaid.err, AllOf(HasSubstr("48"), HasSubstr("64"), HasSubstr("128")));
}

TEST(Predict, TheSplitIsReadAndCounted) {
  const json answer = predict_json({"--tp", "2", "--dp", "2", "--batch", "8"});
  EXPECT_EQ(answer["devices"], 4);
  EXPECT_EQ(answer["tensor_parallel"], 2);
  EXPECT_EQ(answer["data_parallel"], 2);
}

TEST(Predict, ConfigFilesAndFoldersAreNetworks) {
  const std::string path = testing::TempDir() + "tokenroof_cli_config.json";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(R"({"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4,
                 "num_hidden_layers": 2, "num_key_value_heads": 2, "vocab_size": 1000, "torch_dtype": "float16",
                 "max_position_embeddings": 2048, "tie_word_embeddings": false})",
             file);
  (void)std::fclose(file);
  const Outcome result = run({"predict", "--model", path, "--device", "rtx_4090", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json answer = json::parse(result.out);
  EXPECT_EQ(answer["weight_format"], "fp16");
  EXPECT_EQ(answer["kv_format"], "fp16");
  EXPECT_EQ(answer["parameters"]["layers"], 2);
}

TEST(Predict, SaysWhatElseFits) {
  const json answer = predict_json({"--engine", "vllm", "--prompt", "8000", "--output", "192"});
  const json& capacity = answer["capacity"];
  EXPECT_EQ(capacity["bytes_per_token"], 131072);
  EXPECT_EQ(capacity["fixed_bytes_per_sequence"], 0);
  EXPECT_GT(capacity["sequences"], 1);
  EXPECT_GT(capacity["longest_context_tokens"], 8191);
  EXPECT_LE(capacity["cache_tokens"].get<double>() * 131072, capacity["cache_bytes"].get<double>());
}

TEST(Predict, LimitsOfTheEngineMoveItsMemory) {
  const auto peak = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--engine", "vllm", "--prompt", "8000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return predict_json(arguments)["peak_memory_bytes"].get<double>();
  };
  EXPECT_LT(peak({"--max-sequences", "8", "--batch-tokens", "512"}), peak({"--max-sequences", "8"}));
  EXPECT_LT(peak({"--max-sequences", "8"}), peak({}));
}

TEST(Predict, UsableMemoryIsWhatTheUserSays) {
  const auto budget = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--engine", "roofline"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return predict_json(arguments)["memory_budget_bytes"].get<double>();
  };
  EXPECT_DOUBLE_EQ(budget({"--usable-memory", "40GiB"}), 40.0 * 1073741824);
  EXPECT_DOUBLE_EQ(budget({"--usable-memory", "40GiB", "--memory-fraction", "0.5"}), 20.0 * 1073741824);
  EXPECT_EQ(run_predict({"--usable-memory", "1TiB"}).exit_code, 2);
  EXPECT_EQ(run_predict({"--usable-memory", "0GiB"}).exit_code, 2);
  EXPECT_EQ(run_predict({"--memory-fraction", "1.5"}).exit_code, 2);
  EXPECT_EQ(run_predict({"--memory-fraction", "nan"}).exit_code, 2);
}

/// Text on one line, however it was wrapped.
std::string unwrapped(std::string text) {
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) {
    text.replace(at, 3, " ");
  }
  return text;
}

TEST(Predict, RoomIsThatOfEachReplicaAndTheNetworksLimitIsSaid) {
  const std::string one = unwrapped(run_predict({"--batch", "1"}).out);
  EXPECT_THAT(one, HasSubstr("there is room for"));
  EXPECT_THAT(one, HasSubstr("beyond the 131072 that the network is made for"));
  const std::string two = unwrapped(run_predict({"--batch", "4", "--dp", "2"}).out);
  EXPECT_THAT(two, HasSubstr("each replica has room for"));
  EXPECT_THAT(two, HasSubstr("or 2 of"));
}

} // namespace
} // namespace tokenroof::test
