#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace tokenroof::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

Outcome run_sweep(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"sweep", "--model", "llama-3.1-8b", "--device", "h100_sxm"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

TEST(Sweep, RowsEqualThePredictionsOfTheirPoints) {
  const std::vector<std::string> rows =
      lines(run_sweep({"--batch", "1,64", "--prompt", "512..32768*8", "--output", "1,128", "--csv"}).out);
  ASSERT_EQ(rows.size(), 1 + 2 * 3 * 2);
  std::size_t row = 1;
  for (const char* batch : {"1", "64"}) {
    for (const char* prompt : {"512", "4096", "32768"}) {
      for (const char* output : {"1", "128"}) {
        const std::vector<std::string> point =
            lines(run_predict({"--batch", batch, "--prompt", prompt, "--output", output, "--csv"}).out);
        ASSERT_EQ(point.size(), 2);
        EXPECT_EQ(rows[0], point[0]);
        EXPECT_EQ(rows[row++], point[1]);
      }
    }
  }
}

TEST(Sweep, JsonIsOneDocumentOfPoints) {
  const json sweep = json::parse(run_sweep({"--batch", "1,2", "--context-depth", "0..1024+512", "--json"}).out);
  EXPECT_EQ(sweep["schema_version"], 1);
  ASSERT_EQ(sweep["points"].size(), 6);
  json point = json::parse(run_predict({"--batch", "2", "--context-depth", "1024", "--json"}).out);
  for (const auto& [name, value] : sweep["points"][5].items()) {
    EXPECT_EQ(value, point[name]) << name;
  }
}

TEST(Sweep, TableHasALineAPoint) {
  const Outcome result = run_sweep({"--batch", "1..64*4", "--prompt", "512..32768*4"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(lines(result.out).size(), 3 + 16);
  EXPECT_THAT(result.out, AllOf(HasSubstr("TTFT ms"), HasSubstr("does not fit")));
}

TEST(Sweep, RequireFitNeedsEveryPointToFit) {
  EXPECT_EQ(run_sweep({"--batch", "1,4", "--require-fit"}).exit_code, 0);
  const Outcome result = run_sweep({"--batch", "1,4,100000", "--require-fit"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr("1 of 3 points"));
}

TEST(Sweep, AFaultyAxisIsNamedBeforeTheFirstRow) {
  for (const auto& [option, field] : {std::pair{"--batch", "batch"},
                                      {"--prompt", "prompt"},
                                      {"--output", "output"},
                                      {"--context-depth", "context_depth"}}) {
    for (const char* values : {"1,x", "", "-5,1", "1..2000000", "1,1e30", "nan"}) {
      const Outcome result = run_sweep({option, values, "--csv"});
      EXPECT_EQ(result.exit_code, 2) << option << ' ' << values;
      EXPECT_EQ(result.out, "") << option << ' ' << values;
      EXPECT_THAT(result.err, testing::AnyOf(HasSubstr(field), HasSubstr(option))) << option << ' ' << values;
    }
  }
}

TEST(Sweep, TheNumberOfPointsIsBounded) {
  const Outcome result = run_sweep({"--batch", "1..100000", "--prompt", "1..100000", "--csv"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("points = 1e+10"));
}

TEST(Sweep, ASizeThatMattersIsAskedForBeforeTheFirstRow) {
  const std::vector<std::string> mac = {"sweep", "--model", "llama-3.1-8b", "--device", "apple_m3_max_40c", "--csv"};
  const auto with_batch = [&](const char* batch) {
    std::vector<std::string> arguments = mac;
    arguments.insert(arguments.end(), {"--batch", batch});
    return run(arguments);
  };
  EXPECT_EQ(with_batch("1,2").exit_code, 0);
  const Outcome unsaid = with_batch("1,1000");
  EXPECT_EQ(unsaid.exit_code, 2);
  EXPECT_EQ(unsaid.out, "");
  EXPECT_THAT(unsaid.err, AllOf(HasSubstr("memory"), HasSubstr("64 GiB")));
}

} // namespace
} // namespace tokenroof::test
