// Constants of known engines, found again from the times that they would take.
#include "tokenroof/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/synthetic_times.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/integrations/gtest.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof::test {
namespace {

using calibration::calibrate;
using calibration::Calibration;
using calibration::FittedConstant;
using calibration::Metric;
using calibration::Observation;
using calibration::Options;

/// What the guesses of usual_guesses() are in truth.
Engine truth() {
  Engine engine = parse_engine(engine_text(usual_guesses()), "truth.json");
  EngineConstants& constants = engine.profiles[0].constants;
  constants.bandwidth_efficiency = 0.65;
  constants.decode_layer = Seconds::from_value(35e-6);
  constants.prefill_layer = Seconds::from_value(90e-6);
  constants.gemm_utilisation[static_cast<std::size_t>(Arithmetic::bf16)] = 0.48;
  return engine;
}

const std::vector<std::string_view> two_networks = {"llama-3.1-8b", "qwen3-4b"};

std::vector<Observation> usual_rows() { return measured_grid(truth(), "h100_sxm", two_networks); }

const FittedConstant& constant(const Calibration& calibration, std::string_view key) {
  const auto found = std::find_if(calibration.constants.begin(), calibration.constants.end(),
                                  [&](const FittedConstant& one) { return one.key == key; });
  EXPECT_NE(found, calibration.constants.end()) << key;
  return *found;
}

void expect_found(const Calibration& calibration, std::string_view key, double value, double tolerance) {
  const FittedConstant& found = constant(calibration, key);
  EXPECT_TRUE(found.identified) << key;
  EXPECT_NEAR(found.value / value, 1, tolerance) << key;
  EXPECT_LE(found.low, found.value) << key;
  EXPECT_GE(found.high, found.value) << key;
}

void expect_truth(const Calibration& calibration, double tolerance) {
  expect_found(calibration, "bandwidth_efficiency", 0.65, tolerance);
  expect_found(calibration, "decode_layer_us", 35, tolerance);
  expect_found(calibration, "prefill_layer_us", 90, tolerance);
  expect_found(calibration, "gemm_utilisation.bf16", 0.48, tolerance);
}

TEST(Calibration, FindsTheConstantsThatMadeTheTimes) {
  const Calibration found = calibrate(usual_rows(), engine_text(usual_guesses()), "test.json");
  expect_truth(found, 0.06); // a prior of 25 % and a factor of two still weighs a little
  EXPECT_EQ(found.errors.before.rows, 36U);
  EXPECT_GT(found.errors.before.median, 0.1);
  EXPECT_LT(found.errors.after.p90, 0.02);
  EXPECT_LT(found.errors.left_out.p90, 0.05);
  EXPECT_TRUE(found.not_used.empty());
}

TEST(Calibration, OutliersDoNotSpoilIt) {
  std::vector<Observation> rows = usual_rows();
  for (std::size_t i = 0; i < rows.size(); i += 5) {
    rows[i].measured *= i % 2 == 0 ? 3.0 : 0.4;
  }
  expect_truth(calibrate(rows, engine_text(usual_guesses()), "test.json"), 0.15);
}

TEST(Calibration, TheFileIsTheEngineItFound) {
  const Options options{.source = "rows.csv", .date = "2026-12-01"};
  const Calibration found = calibrate(usual_rows(), engine_text(usual_guesses()), "test.json", options);
  EXPECT_EQ(parse_engine(found.engine_file, "written.json"), found.engine);
  EXPECT_DOUBLE_EQ(found.engine.profiles[0].constants.bandwidth_efficiency,
                   constant(found, "bandwidth_efficiency").value);
  EXPECT_THAT(found.engine_file, testing::HasSubstr(R"("basis": "fitted")"));
  EXPECT_THAT(found.engine_file, testing::HasSubstr(R"("source": "rows.csv")"));
  EXPECT_THAT(found.engine_file, testing::HasSubstr(R"("date": "2026-12-01")"));
  EXPECT_THAT(found.engine_file, testing::HasSubstr("36 rows of llama-3.1-8b, qwen3-4b on h100_sxm"));
}

TEST(Calibration, SaysWhatTheRowsDoNotTell) {
  const std::string text =
      engine_text(usual_guesses() + "," + guess("expert_utilisation", 0.4) + "," + guess("link_efficiency", 0.7));
  const Calibration found = calibrate(usual_rows(), text, "test.json");
  for (const std::string_view key : {"expert_utilisation", "link_efficiency"}) {
    EXPECT_FALSE(constant(found, key).identified) << key;
    EXPECT_EQ(constant(found, key).rows, 0U) << key;
    EXPECT_EQ(constant(found, key).value, constant(found, key).prior) << key;
  }
  EXPECT_DOUBLE_EQ(found.engine.profiles[0].constants.expert_utilisation, 0.4);
  expect_truth(found, 0.06);
}

TEST(Calibration, OfTwoThatCannotBeToldApartOneStays) {
  // Decode of one network alone: a slower memory and dearer layers look the same.
  std::vector<Observation> rows;
  for (const double prompt : {100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0, 170.0, 180.0, 190.0}) {
    rows.push_back(observed(deployment_of("llama-3.1-8b", "h100_sxm"), {.prompt = Tokens::from_value(prompt)},
                            Metric::tpot, truth()));
  }
  const Calibration found = calibrate(rows, engine_text(usual_guesses()), "test.json");
  EXPECT_NE(constant(found, "bandwidth_efficiency").identified, constant(found, "decode_layer_us").identified);
  EXPECT_FALSE(constant(found, "prefill_layer_us").identified);
  EXPECT_GT(found.errors.before.median, 0.15);
  EXPECT_LT(found.errors.after.median, 0.02);
}

TEST(Calibration, StaysWithinWhatIsPossible) {
  std::vector<Observation> rows = usual_rows();
  for (Observation& row : rows) {
    row.measured *= 0.72; // about what the memory allows at most
  }
  const Calibration found = calibrate(rows, engine_text(usual_guesses()), "test.json");
  const EngineConstants& constants = found.engine.profiles[0].constants;
  EXPECT_LE(constants.bandwidth_efficiency, 1);
  EXPECT_GT(constants.bandwidth_efficiency, 0.85);
  EXPECT_GE(constants.decode_layer.value(), 0);
  EXPECT_EQ(parse_engine(found.engine_file, "written.json"), found.engine);
}

TEST(Calibration, TenRowsImproveWhatTheyAreNotOf) {
  std::vector<Observation> rows = measured_grid(truth(), "h100_sxm", {"llama-3.1-8b"});
  rows.resize(10);
  const Calibration found = calibrate(rows, engine_text(usual_guesses()), "test.json");
  const std::vector<Observation> others = measured_grid(truth(), "h100_sxm", {"qwen3-14b", "mistral-7b-v0.1"});
  const auto error = [&](const Engine& engine) {
    double sum = 0;
    for (const Observation& other : others) {
      const Observation predicted = observed(other.deployment, other.workload, other.metric, engine);
      sum += std::abs(predicted.measured / other.measured - 1) / static_cast<double>(others.size());
    }
    return sum;
  };
  EXPECT_LT(error(found.engine), 0.3 * error(parse_engine(engine_text(usual_guesses()), "test.json")));
}

TEST(Calibration, AGroupOfItsOwnKindIsPredictedWorseThanFitted) {
  std::vector<Observation> rows = usual_rows();
  for (Observation& row : rows) {
    row.measured *= row.group == "qwen3-4b" ? 1.3 : 1.0;
  }
  const Calibration found = calibrate(rows, engine_text(usual_guesses()), "test.json");
  ASSERT_EQ(found.groups.size(), 2U);
  EXPECT_EQ(found.groups[1].group, "qwen3-4b");
  EXPECT_GT(found.groups[1].errors.left_out.median, found.groups[1].errors.after.median + 0.05);
}

TEST(Calibration, WithOneGroupNothingIsLeftOut) {
  const std::vector<Observation> rows = measured_grid(truth(), "h100_sxm", {"llama-3.1-8b"});
  const Calibration found = calibrate(rows, engine_text(usual_guesses()), "test.json");
  EXPECT_TRUE(std::isnan(found.errors.left_out.median));
  EXPECT_EQ(found.errors.left_out.rows, 0U);
}

TEST(Calibration, ConstantsThatNobodyStatedAreFittedWhereTheyAreNamed) {
  Engine engine = parse_engine(engine_text(usual_guesses()), "truth.json");
  engine.profiles[0].constants.decode_step = Seconds::from_value(0.002);
  const std::vector<Observation> rows = measured_grid(engine, "h100_sxm", two_networks);
  const Calibration found =
      calibrate(rows, engine_text(usual_guesses()), "test.json", {.fit = {"decode_step_us", "gemm_utilisation"}});
  expect_found(found, "decode_step_us", 2000, 0.02);
  expect_found(found, "gemm_utilisation.bf16", 0.6, 0.02);
  EXPECT_FALSE(constant(found, "gemm_utilisation.int8").identified);
  EXPECT_EQ(found.constants.size(), arithmetic_count + 1);
}

const char* const hopper_profile = R"(, {"family": "hopper", "constants": {"bandwidth_efficiency":
    {"value": 0.8, "low": 0.6, "high": 0.9, "basis": "measured", "source": "somewhere"}}})";

TEST(Calibration, WhatProfilesShareIsFittedToTheRowsOfAll) {
  const std::string text = engine_text(usual_guesses(), hopper_profile);
  Engine engine = parse_engine(text, "test.json");
  engine.profiles[0].constants.bandwidth_efficiency = 0.9;
  engine.profiles[1].constants.bandwidth_efficiency = 0.6;
  for (EngineProfile& profile : engine.profiles) {
    profile.constants.decode_layer = Seconds::from_value(35e-6);
  }
  std::vector<Observation> rows = measured_grid(engine, "h100_sxm", two_networks);
  const std::vector<Observation> others = measured_grid(engine, "a100_sxm@80GB", two_networks);
  rows.insert(rows.end(), others.begin(), others.end());
  const Calibration found = calibrate(rows, text, "test.json");
  EXPECT_NEAR(found.engine.profiles[0].constants.bandwidth_efficiency, 0.9, 0.01);
  EXPECT_NEAR(found.engine.profiles[1].constants.bandwidth_efficiency, 0.6, 0.01);
  EXPECT_NEAR(found.engine.profiles[0].constants.decode_layer.value(), 35e-6, 1e-6);
  EXPECT_EQ(found.engine.profiles[0].constants.decode_layer, found.engine.profiles[1].constants.decode_layer);
}

TEST(Calibration, RowsOfOneProfileChangeNoOther) {
  const std::string text = engine_text(usual_guesses(), hopper_profile);
  const Calibration found = calibrate(usual_rows(), text, "test.json");
  EXPECT_EQ(found.engine.profiles[0], parse_engine(text, "test.json").profiles[0]);
  EXPECT_NEAR(found.engine.profiles[1].constants.decode_layer.value(), 35e-6, 2e-6);
  EXPECT_EQ(constant(found, "decode_layer_us").profile.family.view(), "hopper");
}

TEST(Calibration, AProfileThatIsAskedForIsAdded) {
  std::vector<Observation> rows = usual_rows();
  rows.push_back(observed(deployment_of("llama-3.1-8b", "a100_sxm@80GB"), {}, Metric::tpot, truth()));
  const std::string text = engine_text(usual_guesses());
  const Calibration found =
      calibrate(rows, text, "test.json", {.profile = calibration::ProfileSelector{.family = "hopper"}});
  ASSERT_EQ(found.engine.profiles.size(), 2U);
  EXPECT_EQ(found.engine.profiles[1].family.view(), "hopper");
  EXPECT_EQ(found.engine.profiles[0], parse_engine(text, "test.json").profiles[0]);
  EXPECT_NEAR(found.engine.profiles[1].constants.bandwidth_efficiency, 0.65, 0.01);
  ASSERT_EQ(found.not_used.size(), 1U);
  EXPECT_EQ(found.not_used[0].reason, "another profile is closer to the device");
}

TEST(Calibration, RowsThatCannotBeUsedAreCounted) {
  std::vector<Observation> rows = usual_rows();
  rows.push_back(rows[0]);
  rows.back().measured = Seconds();
  rows.push_back(rows[1]);
  rows.back().workload.output = Tokens::from_value(1); // has no TPOT
  const Calibration found = calibrate(rows, engine_text(usual_guesses()), "test.json");
  ASSERT_EQ(found.not_used.size(), 2U);
  EXPECT_EQ(found.errors.after.rows, 36U);
}

TEST(Calibration, FaultyQuestionsAreNamed) {
  const std::string text = engine_text(usual_guesses());
  const auto message_of = [](auto&& call) -> std::string {
    try {
      (void)call();
    } catch (const InvalidSpec& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message_of([&] { return calibrate(usual_rows(), text, "test.json", {.fit = {"decode_layer"}}); }),
              testing::HasSubstr("nearest: decode_layer_us"));
  EXPECT_THAT(message_of([&] { return calibrate({}, text, "test.json"); }), testing::HasSubstr("measurements"));
  EXPECT_THROW((void)calibrate(usual_rows(), "{}", "test.json"), Error);
}

TEST(Calibration, IsDeterministic) {
  const Calibration first = calibrate(usual_rows(), engine_text(usual_guesses()), "test.json");
  const Calibration second = calibrate(usual_rows(), engine_text(usual_guesses()), "test.json");
  EXPECT_EQ(first.engine_file, second.engine_file);
}

TEST(Calibration, ShippedFilesSurviveIt) {
  const Engine engine = *catalogue::engine("vllm");
  std::vector<Observation> rows = measured_grid(engine, "h100_sxm", two_networks);
  for (Observation& row : rows) {
    row.measured *= 1.1;
  }
  const Calibration found = calibrate(rows, catalogue::engine_file("vllm"), "vllm.json");
  EXPECT_EQ(found.engine.memory, engine.memory);
  EXPECT_EQ(found.engine.profiles.size(), engine.profiles.size());
  EXPECT_LT(found.errors.after.median, 0.05);
}

} // namespace
} // namespace tokenroof::test
