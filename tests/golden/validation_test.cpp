// The committed measurements against the committed report: predictions may come closer to them, never drift away.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tokenroof/validation.hpp"

namespace tokenroof::validation {
namespace {

const std::filesystem::path folder = std::filesystem::path(TOKENROOF_SOURCE_DIR) / "benchmarks/accuracy";

/// A row of the report by column name. No text in it is quoted.
using Line = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) {
    fields.push_back(field);
  }
  return fields;
}

std::vector<Line> committed_report() {
  std::ifstream file(folder / "memory_report.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split(line);
  std::vector<Line> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split(line);
    Line row;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      row[names.at(i)] = fields[i];
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(CommittedMeasurements, AreMetAsWellAsTheReportSays) {
  const Report report = validate(folder / "memory.csv");
  const std::vector<Line> committed = committed_report();
  ASSERT_FALSE(committed.empty());
  ASSERT_EQ(report.groups.size(), committed.size())
      << "renew it: tokenroof validate benchmarks/accuracy/memory.csv --csv > benchmarks/accuracy/memory_report.csv";
  constexpr double drift = 0.005;
  for (std::size_t i = 0; i < committed.size(); ++i) {
    const Group& group = report.groups[i];
    const Line& line = committed[i];
    SCOPED_TRACE(line.at("framework") + " " + line.at("version") + " " + line.at("metric"));
    EXPECT_EQ(group.key.back(), line.at("metric"));
    EXPECT_GE(group.of(Outcome::compared), std::stoull(line.at("compared_rows")));
    if (group.of(Outcome::compared) > 0) {
      EXPECT_LE(group.median_error, std::stod(line.at("median_error_ratio")) + drift);
      EXPECT_LE(group.p90_error, std::stod(line.at("p90_error_ratio")) + drift);
    }
  }
}

TEST(CommittedMeasurements, ResolveWithoutExceptions) {
  const Report report = validate(folder / "memory.csv");
  EXPECT_EQ(report.total.of(Outcome::not_claimed), 0U);
  EXPECT_GE(coverage(report.total), 0.9);
  EXPECT_TRUE(report.set_aside.empty());
}

} // namespace
} // namespace tokenroof::validation
