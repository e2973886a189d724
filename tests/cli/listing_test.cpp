#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "tokenroof/catalogue.hpp"
#include "tokenroof/network/named_schemes.hpp"

namespace tokenroof::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

json parsed(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return json::parse(output(arguments));
}

/// Whether a number's name says what it is: by its unit, or by what it counts.
bool says_its_unit(const std::string& name) {
  static const std::set<std::string> counts = {
      "schema_version", "layers",   "hidden",        "vocabulary",
      "heads",          "kv_heads", "profile_count", "parameters_beyond_published"};
  static const std::vector<std::string> ends = {"_bytes",
                                                "_bytes_per_second",
                                                "_bytes_per_second_per_direction",
                                                "_bytes_per_token_at_16_bit",
                                                "_bits_per_weight",
                                                "_tokens",
                                                "_flops_per_second",
                                                "_watts",
                                                "_usd",
                                                "_usd_per_hour",
                                                "_parameters",
                                                "_devices"};
  return counts.count(name) > 0 ||
         std::any_of(ends.begin(), ends.end(), [&](const std::string& end) { return name.ends_with(end); });
}

struct Command {
  std::string name;
  std::string key; ///< of what finds an entry
  std::size_t size;
};

class Listing : public testing::TestWithParam<Command> {
protected:
  static json list() { return parsed({GetParam().name}).at(GetParam().name); }
  static std::vector<std::string> csv() { return lines(output({GetParam().name, "--csv"})); }
};

INSTANTIATE_TEST_SUITE_P(OfTheCatalogue, Listing,
                         testing::Values(Command{"models", "id", catalogue::network_ids().size()},
                                         Command{"devices", "id", catalogue::devices().size()},
                                         Command{"engines", "versioned_id", catalogue::engine_versions().size()},
                                         Command{"formats", "id", weight_schemes().size()}),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(Listing, EveryEntryIsThere) {
  EXPECT_EQ(list().size(), GetParam().size);
  EXPECT_EQ(csv().size(), 1 + GetParam().size);
}

TEST_P(Listing, TheColumnsOfCsvAreInEveryObject) {
  const std::vector<std::string> names = fields(csv()[0]);
  EXPECT_EQ(names[0], "schema_version");
  EXPECT_EQ(names[1], "id");
  for (const json& entry : list()) {
    for (const std::string& name : names) {
      ASSERT_TRUE(entry.contains(name)) << entry["id"] << ' ' << name;
      EXPECT_FALSE(entry[name].is_structured()) << name;
      EXPECT_TRUE(!entry[name].is_number() || says_its_unit(name)) << name;
    }
  }
}

TEST_P(Listing, RowsOfCsvAreInTheOrderOfJson) {
  const json entries = list();
  const std::vector<std::string> rows = csv();
  ASSERT_EQ(rows.size(), 1 + entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_THAT(rows[i + 1], StartsWith("1," + entries[i]["id"].get<std::string>() + ","));
  }
}

TEST_P(Listing, AnEntryIsTheSameAlone) {
  const json entries = list();
  for (const std::size_t i : {std::size_t{0}, entries.size() / 2, entries.size() - 1}) {
    EXPECT_EQ(parsed({GetParam().name, entries[i][GetParam().key].get<std::string>()}), entries[i]);
  }
}

TEST_P(Listing, NothingIsNotANumber) {
  for (const char* form : {"--json", "--csv"}) {
    EXPECT_THAT(output({GetParam().name, form}), Not(testing::ContainsRegex("[:,] ?-?(nan|NaN|inf|Infinity)[,\n]")));
  }
}

TEST_P(Listing, UnknownIdsAndTwoFormsAreRefused) {
  const std::string& command = GetParam().name;
  EXPECT_EQ(run({command, "no-such-thing"}).exit_code, 3);
  EXPECT_EQ(run({command, "no-such-thing", "--json"}).exit_code, 3);
  EXPECT_EQ(run({command, "--json", "--csv"}).exit_code, 2);
  EXPECT_EQ(run({command, "no-such-thing", "--csv"}).exit_code, 2);
}

TEST(ListingOfModels, HoldsLayersAndSources) {
  const json network = parsed({"models", "deepseek-v3"});
  EXPECT_EQ(network["total_parameters"], 671026419200);
  EXPECT_EQ(network["layer_kinds"][1]["feed_forward"]["active_experts"], 8);
  EXPECT_THAT(network["source"].get<std::string>(), HasSubstr("DeepSeek-V3"));
  EXPECT_TRUE(network["kv_heads"].is_null());
}

TEST(ListingOfFormats, TellsWhichTensorsAreInWhich) {
  const json mixture = parsed({"formats", "q4_k_m"});
  EXPECT_EQ(mixture["id"], "Q4_K_M");
  EXPECT_EQ(mixture["matrices_bits_per_weight"], 4.5);
  EXPECT_EQ(mixture["head"], "Q6_K");
  EXPECT_FALSE(mixture["rules"].empty());
  EXPECT_THAT(output({"formats", "Q4_K_M"}), AllOf(StartsWith("Q4_K_M, 4.5 bits a weight\n"),
                                                   HasSubstr("feed forward down"), HasSubstr("every third")));
}

TEST(ListingOfFormats, NamesAliases) {
  EXPECT_EQ(parsed({"formats", "awq"})["id"], "int4-g128");
  EXPECT_THAT(output({"formats"}), AllOf(HasSubstr("gptq-4bit-g128"), HasSubstr("--weights"), HasSubstr("IQ1_S")));
}

TEST(ListingOfFormats, ShortNamesAreSuggestedFrom) {
  EXPECT_THAT(run({"formats", "4bit"}).err, AllOf(HasSubstr("Q4_K_M"), HasSubstr("int4-g128")));
}

TEST(ListingOfDevices, WhatIsMissingIsNull) {
  const json device = parsed({"devices", "snapdragon_8_elite"});
  EXPECT_TRUE(device["memory_capacity_bytes"].is_null());
  EXPECT_TRUE(device["power_watts"].is_null());
  EXPECT_EQ(device["largest_memory_bytes"], 25769803776);
  EXPECT_EQ(device["best_16_bit_basis"], "fitted");
  EXPECT_TRUE(device["provenance"]["absent"].contains("compute_units.gpu.matrix_TFLOPS"));
}

TEST(ListingOfDevices, ASizeIsChosen) {
  EXPECT_EQ(parsed({"devices", "apple_m3_max_40c@64GiB"})["memory_capacity_bytes"], 68719476736);
}

TEST(ListingOfDevices, FilesSayTheSame) {
  EXPECT_EQ(parsed({"devices", TOKENROOF_SOURCE_DIR "/models/devices/rtx_4090.json"}), parsed({"devices", "rtx_4090"}));
}

TEST(ListingOfDevices, ASourceWithASemicolonIsOneSource) {
  EXPECT_THAT(output({"devices", "snapdragon_8_elite"}), HasSubstr("45\n    TOPS; 90 GB/s)\n"));
}

TEST(ListingOfEngines, ProfilesSayWhatTheyInherit) {
  const json engine = parsed({"engines", "llama.cpp-cuda"});
  EXPECT_EQ(engine, parsed({"engines", TOKENROOF_SOURCE_DIR "/models/engines/llama.cpp-cuda.json"}));
  const json& general = engine["profiles"][0];
  const json& ada = engine["profiles"][1];
  ASSERT_EQ(ada["family"], "ada");
  EXPECT_EQ(general["inherited"].size(), 0);
  EXPECT_EQ(ada["inherited"]["attention_utilisation"], general["constants"]["attention_utilisation"]);
  EXPECT_TRUE(ada["constants"].contains("gemm_picojoules_per_flop"));
  EXPECT_FALSE(ada["inherited"].contains("gemm_picojoules_per_flop"));
  EXPECT_TRUE(ada["inherited"].contains("gemm_utilisation.fp16"));
}

TEST(ListingOfEngines, TextSaysItToo) {
  EXPECT_THAT(output({"engines", "llama.cpp-cuda"}),
              AllOf(HasSubstr("constants for ada\n  gemm_picojoules_per_flop  "),
                    HasSubstr("\n  inherited from any device: attention_utilisation 0.4, bandwidth_efficiency")));
}

TEST(ListingAsText, WrapsToEightyColumns) {
  for (const char* engine : {"llama.cpp-cuda", "vllm", "executorch"}) {
    for (const std::string& line : lines(output({"engines", engine}))) {
      EXPECT_LE(line.size(), 80) << line;
    }
  }
  for (const std::string& line : lines(output({"devices", "snapdragon_8_elite"}))) {
    EXPECT_LE(line.size(), 80) << line;
  }
}

} // namespace
} // namespace tokenroof::test
