#include "readers/engine_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tokenroof/errors.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof {
namespace {

using namespace tokenroof::literals;
using nlohmann::json;
using testing::HasSubstr;

json figure(json value) { return {{"value", std::move(value)}, {"basis", "assumed"}, {"note", "for a test"}}; }

json valid() {
  return {{"schema_version", 1},
          {"id", "mine"},
          {"version", "1.2"},
          {"date", "2026-02"},
          {"unit", "gpu"},
          {"aliases", {"My Engine"}},
          {"default_for", {{{"device_class", "consumer_gpu"}, {"family", "ada"}}}},
          {"profiles",
           {{{"family", "ada"}, {"constants", {{"decode_layer_us", figure(20)}}}},
            {{"constants",
              {{"bandwidth_efficiency", figure(0.8)},
               {"gemm_utilisation", {{"fp8", figure(0.5)}}},
               {"decode_layer_us", figure(40)},
               {"prefill_step_ms", figure(2)},
               {"quantised_arithmetic", figure("int8")}}}}}},
          {"memory",
           {{"kv_block_tokens", figure(16)}, {"context_MiB", figure(0)}, {"logits_for_every_row", figure(true)}}}};
}

/// A valid file with one value replaced, or added.
json with(std::string_view pointer, json value) {
  json file = valid();
  file[json::json_pointer(std::string(pointer))] = std::move(value);
  return file;
}

json without(std::string_view pointer, std::string_view key) {
  json file = valid();
  file[json::json_pointer(std::string(pointer))].erase(std::string(key));
  return file;
}

std::string error_of(const json& file) {
  try {
    (void)parse_engine(file.dump(), "mine.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

const std::string constants = "/profiles/1/constants/";

TEST(EngineFile, IsRead) {
  const readers::EngineFile file = readers::parse_engine_file(valid().dump(), "mine.json");
  EXPECT_EQ(file.engine.id, "mine");
  EXPECT_EQ(file.engine.version, "1.2");
  EXPECT_EQ(file.date, "2026-02");
  EXPECT_THAT(file.aliases, testing::ElementsAre("My Engine"));
  ASSERT_EQ(file.default_for.size(), 1U);
  EXPECT_EQ(file.default_for[0].device_class, DeviceClass::consumer_gpu);
  EXPECT_EQ(file.engine.memory.kv_block, 16_tok);
  EXPECT_TRUE(file.engine.memory.logits_for_every_row);
}

TEST(EngineFile, ProfilesTakeWhatTheyLeaveOutFromTheGeneralOne) {
  const Engine engine = parse_engine(valid().dump(), "mine.json");
  ASSERT_EQ(engine.profiles.size(), 2U);
  const EngineConstants& ada = engine.profiles[0].constants;
  EXPECT_NEAR(ada.decode_layer.value(), 20e-6, 1e-15);
  EXPECT_NEAR(engine.profiles[1].constants.decode_layer.value(), 40e-6, 1e-15);
  EXPECT_EQ(ada.bandwidth_efficiency, 0.8);
  EXPECT_EQ(ada.gemm_utilisation[static_cast<std::size_t>(Arithmetic::fp8)], 0.5);
  EXPECT_EQ(ada.gemm_utilisation[static_cast<std::size_t>(Arithmetic::bf16)], 1) << "what nobody states is physics";
  EXPECT_NEAR(ada.prefill_step.value(), 2e-3, 1e-15);
  EXPECT_EQ(ada.quantised_arithmetic, Arithmetic::int8);
}

TEST(EngineFile, UnknownKeysAreErrorsWithTheNearest) {
  EXPECT_THAT(error_of(with("/alias", json::array())), HasSubstr("aliases"));
  EXPECT_THAT(error_of(with(constants + "decode_layer", figure(1))), HasSubstr("decode_layer_us"));
  EXPECT_THAT(error_of(with(constants + "gemm_utilisation/bf61", figure(1))), HasSubstr("bf16"));
  EXPECT_THAT(error_of(with(constants + "decode_layer_us/vallue", 1)), HasSubstr("value"));
  EXPECT_THAT(error_of(with("/memory/context_GiB", figure(1))), HasSubstr("context_MiB"));
  EXPECT_THAT(error_of(with("/profiles/0/famliy", "ada")), HasSubstr("profiles[0].famliy"));
}

TEST(EngineFile, EfficienciesLieWithinPhysics) {
  for (const std::string key : {"bandwidth_efficiency", "kv_bandwidth_efficiency", "attention_utilisation",
                                "expert_utilisation", "link_efficiency", "gemm_utilisation/bf16"}) {
    for (const double value : {0.0, -0.5, 1.01}) {
      EXPECT_THAT(error_of(with(constants + key, figure(value))), HasSubstr("must be above 0 and at most 1")) << key;
    }
    EXPECT_EQ(error_of(with(constants + key, figure(1))), "accepted") << key;
  }
  EXPECT_THAT(error_of(with("/memory/memory_fraction", figure(1.1))), HasSubstr("at most 1"));
  EXPECT_THAT(error_of(with("/memory/fragmentation", figure(2))), HasSubstr("0 to 1"));
}

TEST(EngineFile, CostsAreNotNegativeAndInTheUnitOfTheirKey) {
  EXPECT_THAT(error_of(with(constants + "decode_layer_us", figure(-1))), HasSubstr("must not be negative"));
  EXPECT_THAT(error_of(with(constants + "decode_layer_us", figure(1e12))), HasSubstr("1e9"));
  EXPECT_THAT(error_of(with("/memory/kv_block_tokens", figure(0))), HasSubstr("whole number"));
  EXPECT_THAT(error_of(with("/memory/kv_block_tokens", figure(1.5))), HasSubstr("whole number"));
}

TEST(EngineFile, IntervalsHoldTheirValue) {
  EXPECT_THAT(error_of(with(constants + "decode_layer_us/low", 41)), HasSubstr("within low and high"));
  EXPECT_THAT(error_of(with(constants + "decode_layer_us/high", 39)), HasSubstr("within low and high"));
  EXPECT_THAT(error_of(with(constants + "bandwidth_efficiency/high", 1.2)), HasSubstr("at most 1"));
}

TEST(EngineFile, EveryFigureSaysWhereItComesFrom) {
  const std::string at = constants + "decode_layer_us";
  EXPECT_THAT(error_of(without(at, "basis")), HasSubstr("basis"));
  EXPECT_THAT(error_of(without(at, "note")), HasSubstr("note"));
  EXPECT_THAT(error_of(with(at + "/basis", "guessed")), HasSubstr("datasheet measured fitted assumed"));
  EXPECT_THAT(error_of(with(at + "/basis", "measured")), HasSubstr("source"));
  json fitted = with(at + "/basis", "fitted");
  fitted[json::json_pointer(at)]["source"] = "somewhere";
  EXPECT_THAT(error_of(fitted), HasSubstr("rows"));
}

TEST(EngineFile, MayDescribeMemoryAlone) {
  const json alone = with("/profiles", json::array());
  EXPECT_TRUE(parse_engine(alone.dump(), "alone.json").profiles.empty());
}

TEST(EngineFile, RejectsWhatHasAnotherType) {
  EXPECT_THAT(error_of(json::array()), HasSubstr("not an object"));
  EXPECT_THAT(error_of(with("/profiles", json::object())), HasSubstr("not an array"));
  json nothing = with("/profiles", json::array());
  nothing.erase("memory");
  EXPECT_THAT(error_of(nothing), HasSubstr("at least one"));
  EXPECT_THAT(error_of(with("/profiles/0", 7)), HasSubstr("profiles[0]"));
  EXPECT_THAT(error_of(with(constants + "decode_layer_us", 40)), HasSubstr("not an object"));
  EXPECT_THAT(error_of(with(constants + "decode_layer_us/value", "40")), HasSubstr("not a number"));
  EXPECT_THAT(error_of(with(constants + "decode_layer_us/value", nullptr)), HasSubstr("not a number"));
  EXPECT_THAT(error_of(with(constants + "quantised_arithmetic/value", "int9")), HasSubstr("must be one of"));
  EXPECT_THAT(error_of(with("/memory/logits_for_every_row", figure(1))), HasSubstr("not true or false"));
  EXPECT_THAT(error_of(with("/aliases", {1})), HasSubstr("aliases[0]"));
  EXPECT_THAT(error_of(with("/unit", "tpu")), HasSubstr("gpu npu cpu"));
}

TEST(EngineFile, RejectsNamesThatNothingCouldFind) {
  EXPECT_THAT(error_of(with("/id", "roofline")), HasSubstr("not roofline"));
  EXPECT_THAT(error_of(with("/id", "a@b")), HasSubstr("id"));
  EXPECT_THAT(error_of(with("/id", std::string(49, 'x'))), HasSubstr("1 to 48 bytes"));
  EXPECT_THAT(error_of(with("/version", "")), HasSubstr("1 to 32 bytes"));
  EXPECT_THAT(error_of(with("/date", "May 2026")), HasSubstr("YYYY"));
  EXPECT_THAT(error_of(with("/schema_version", 2)), HasSubstr("must be 1"));
  EXPECT_THAT(error_of(with("/profiles/1/family", "ada")), HasSubstr("same devices"));
}

TEST(EngineFile, RejectsHostileText) {
  EXPECT_THROW((void)parse_engine("", "mine.json"), ParseError);
  EXPECT_THROW((void)parse_engine(std::string(1000, '['), "mine.json"), ParseError);
  EXPECT_THROW((void)parse_engine(std::string(2'000'000, ' '), "mine.json"), ParseError);
  EXPECT_THROW((void)parse_engine(R"({"schema_version": NaN})", "mine.json"), ParseError);
  std::string cut = valid().dump();
  for (std::size_t size = 0; size < cut.size(); size += 7) {
    EXPECT_THROW((void)parse_engine(cut.substr(0, size), "mine.json"), ParseError) << size;
  }
}

TEST(EngineFile, IsReadFromDisk) {
  const auto path = std::filesystem::temp_directory_path() / "tokenroof_engine_file_test.json";
  std::ofstream(path) << valid().dump();
  EXPECT_EQ(read_engine(path).id, "mine");
  std::filesystem::remove(path);
  EXPECT_THROW((void)read_engine(path), ParseError);
}

json offload(json style) { return {{"style", figure(std::move(style))}}; }

TEST(EngineFile, OffloadIsWhatItSays) {
  json habits = offload("host_computes");
  habits["streamed_from_rows"] = figure(32);
  habits["overlapped"] = figure(false);
  habits["link_efficiency"] = figure(0.8);
  habits["handover_us"] = figure(15);
  habits["storage_efficiency"] = figure(0.4);
  habits["host"] = {{"bandwidth_efficiency", figure(0.7)}, {"quantised_arithmetic", figure("int8")}};
  const OffloadHabits read = parse_engine(with("/offload", habits).dump(), "mine.json").offload;
  EXPECT_EQ(read.style, OffloadStyle::host_computes);
  EXPECT_EQ(read.streamed_from_rows, 32);
  EXPECT_FALSE(read.overlapped);
  EXPECT_EQ(read.link_efficiency, 0.8);
  EXPECT_NEAR(read.handover.value(), 15e-6, 1e-12);
  EXPECT_EQ(read.storage_efficiency, 0.4);
  EXPECT_EQ(read.host.bandwidth_efficiency, 0.7);
  EXPECT_EQ(read.host.quantised_arithmetic, Arithmetic::int8);
}

TEST(EngineFile, SilenceOnOffloadMeansNone) {
  EXPECT_EQ(parse_engine(valid().dump(), "mine.json").offload.style, OffloadStyle::none);
  EXPECT_EQ(Engine{}.offload.style, OffloadStyle::fastest) << "the neutral engine is the bound of all";
}

TEST(EngineFile, OffloadIsChecked) {
  EXPECT_THAT(error_of(with("/offload", offload("fastest"))), HasSubstr("offload.style.value"));
  EXPECT_THAT(error_of(with("/offload", json::object())), HasSubstr("style"));
  json habits = offload("streamed");
  habits["link_efficiency"] = figure(0);
  EXPECT_THAT(error_of(with("/offload", habits)), HasSubstr("above 0"));
}

} // namespace
} // namespace tokenroof
