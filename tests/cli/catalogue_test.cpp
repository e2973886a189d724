#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/version.hpp"

namespace tokenroof::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CatalogueCommands, ListEveryEntry) {
  EXPECT_EQ(lines(output({"models"})).size(), 1 + catalogue::network_ids().size());
  const std::string devices = output({"devices"});
  for (const Device& device : catalogue::devices()) {
    EXPECT_THAT(devices, HasSubstr("\n" + std::string(device.id.view()) + " "));
  }
}

TEST(CatalogueCommands, ModelsCountParametersByPart) {
  EXPECT_THAT(output({"models", "deepseek-v3"}),
              AllOf(StartsWith("deepseek-v3\n"), HasSubstr("671026419200"), HasSubstr("active a token"),
                    HasSubstr("8 of 256 experts"), HasSubstr("68.62 KiB/tok"), HasSubstr("source")));
}

TEST(CatalogueCommands, DevicesShowWhereFiguresComeFrom) {
  EXPECT_THAT(output({"devices", "h100_sxm"}), AllOf(StartsWith("NVIDIA H100"), HasSubstr("memory.bandwidth_GBps"),
                                                     HasSubstr("sources"), HasSubstr("high"), HasSubstr("conflicts")));
}

TEST(CatalogueCommands, FilesAreShownToo) {
  EXPECT_THAT(output({"devices", TOKENROOF_SOURCE_DIR "/models/devices/rtx_4090.json"}),
              AllOf(HasSubstr("RTX 4090"), HasSubstr("1.008 TB/s")));
}

nlohmann::json json_output(const std::vector<std::string>& arguments) {
  const nlohmann::json value = nlohmann::json::parse(output(arguments));
  EXPECT_EQ(value.at("schema_version"), 1);
  return value;
}

TEST(CatalogueCommands, JsonListsEveryEntry) {
  EXPECT_EQ(json_output({"models", "--json"}).at("models").size(), catalogue::network_ids().size());
  EXPECT_EQ(json_output({"devices", "--json"}).at("devices").size(), catalogue::devices().size());
  EXPECT_EQ(json_output({"engines", "--json"}).at("engines").size(), catalogue::engine_versions().size());
}

TEST(CatalogueCommands, JsonOfOneEntryHasItsFiguresAndSources) {
  const nlohmann::json model = json_output({"models", "llama-2-7b", "--json"});
  EXPECT_EQ(model.at("parameters").at("total"), 6738415616);
  EXPECT_EQ(model.at("kv_cache_bytes_per_token_at_16_bit"), 524288);
  EXPECT_EQ(json_output({"devices", "rtx_4090", "--json"}).at("memory").at("bandwidth_GBps"), 1008);
  EXPECT_TRUE(json_output({"engines", "vllm", "--json"}).at("memory").contains("memory_fraction"));
  EXPECT_EQ(json_output({"engines", "roofline", "--json"}).at("id"), "roofline");
  EXPECT_EQ(json_output({"devices", TOKENROOF_SOURCE_DIR "/models/devices/l4.json", "--json"}).at("id"), "l4");
  EXPECT_EQ(run({"models", "nothing-like-it", "--json"}).exit_code, 3);
}

TEST(Help, IsPrintedOnStdout) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"predict", "--help"}, {"sweep", "--help"}, {"models", "--help"}}) {
    EXPECT_THAT(output(arguments), HasSubstr("Usage: tokenroof"));
  }
  EXPECT_THAT(output({"sweep", "--help"}), HasSubstr("1,2,4..64"));
}

TEST(Help, VersionIsTheLibrarys) { EXPECT_EQ(output({"--version"}), std::string(linked_version()) + "\n"); }

} // namespace
} // namespace tokenroof::test
