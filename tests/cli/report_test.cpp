#include "tokenroof/report.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof::test {
namespace {

using namespace tokenroof::literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Deployment named(const std::string& name) {
  Network network = *catalogue::network("llama-3.2-1b");
  network.name = name;
  return {.network = network, .cluster = {.device = catalogue::device("h100_sxm")}};
}

TEST(Report, NoFormEverHoldsWhatIsNoNumber) {
  for (const Device& device : catalogue::devices()) {
    Deployment deployment = named("llama");
    deployment.cluster.device = device;
    if (device.memory_variant_count == 0) {
      deployment.cluster.device = with_memory(device, 512_GiB);
    } else {
      deployment.cluster.device.chosen_memory = 0;
    }
    const report::Answer answer = report::answer(deployment, {});
    std::string row;
    report::CsvRows(deployment).append(row, answer.workload, answer.prediction);
    for (const std::string& form : {report::text(answer), row}) {
      EXPECT_THAT(form, Not(testing::ContainsRegex("(^|[^a-z])(nan|inf)([^a-z]|$)"))) << device.id.view();
    }
    EXPECT_TRUE(json::accept(report::json(answer))) << device.id.view();
    EXPECT_EQ(fields(row).size(), fields(report::csv_header()).size());
  }
}

TEST(Report, CsvQuotesWhatItGivesAMeaningTo) {
  std::string row;
  report::CsvRows(named("a,\"b\"\n")).append(row, {}, {});
  EXPECT_THAT(row, HasSubstr("1,\"a,\"\"b\"\"\n\",h100_sxm,"));
}

TEST(Report, JsonStaysValidWhateverANetworkIsCalled) {
  const std::string text = report::json(report::answer(named("\xff\xfe\"\n"), {}));
  EXPECT_TRUE(json::accept(text));
}

TEST(Report, StylesAreOnlyEscapeSequences) {
  const report::Answer answer = report::answer(named("llama"), {});
  std::string styled = report::text(answer, {.styled = true});
  for (const char* sequence : {"\x1b[1m", "\x1b[2m", "\x1b[0m"}) {
    for (std::size_t at = styled.find(sequence); at != std::string::npos; at = styled.find(sequence)) {
      styled.erase(at, std::string(sequence).size());
    }
  }
  EXPECT_EQ(styled, report::text(answer));
}

} // namespace
} // namespace tokenroof::test
