#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/errors.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof {
namespace {

using namespace tokenroof::literals;
using testing::HasSubstr;

constexpr std::string_view minimal =
    R"({"schema_version": 1, "id": "mine", "name": "Mine", "device_class": "consumer_gpu",
  "memory": {"bandwidth_GBps": 1008, "variants": [{"capacity_GiB": 24}]},
  "compute_units": [{"kind": "gpu", "matrix_TFLOPS": {"fp16": 165.2}}]})";

/// The minimal file with one text replaced.
std::string with(std::string_view old_text, std::string_view new_text) {
  std::string text(minimal);
  const std::size_t place = text.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  return text.replace(place, old_text.size(), new_text);
}

std::string message_for(const std::string& text) {
  try {
    (void)parse_device(text, "mine.json");
  } catch (const Error& error) { // nothing else may be thrown
    return error.what();
  }
  return "accepted";
}

TEST(DeviceFile, MinimalOne) {
  const Device device = parse_device(minimal, "mine.json");
  EXPECT_EQ(device.id, "mine");
  EXPECT_EQ(memory_bandwidth(device), 1008_GBps);
  EXPECT_EQ(memory(device)->capacity, 24_GiB);
  EXPECT_EQ(find_rate(device.compute_units[0], Arithmetic::fp16)->value, 165.2_TFLOPS);
  EXPECT_FALSE(device.pcie);
}

TEST(DeviceFile, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(message_for(with("\"bandwidth_GBps\"", "\"bandwith_GBps\"")),
            "mine.json (memory.bandwith_GBps): unknown key; nearest: bandwidth_GBps");
  EXPECT_THAT(message_for(with("\"fp16\"", "\"fp15\"")), HasSubstr("compute_units[0].matrix_TFLOPS.fp15"));
}

TEST(DeviceFile, FiguresThatCannotBeNameTheirField) {
  for (const std::string_view value : {"0", "-1", "1e9", "-0.0", "1e300"}) {
    EXPECT_THAT(message_for(with("1008", value)), HasSubstr("memory.bandwidth_GBps")) << value;
    EXPECT_THROW((void)parse_device(with("1008", value), ""), InvalidSpec) << value;
  }
  for (const std::string_view value : {"NaN", "Infinity", "null", "\"1008\"", "[1008]", "1e999", "true", "{}"}) {
    EXPECT_THROW((void)parse_device(with("1008", value), ""), ParseError) << value;
  }
}

TEST(DeviceFile, ContradictionsAreErrors) {
  EXPECT_THAT(message_for(with("{\"capacity_GiB\": 24}", "{\"capacity_GiB\": 24, \"usable_GiB\": 25}")),
              HasSubstr("memory.variants[0].usable_GiB = 25"));
  EXPECT_THAT(message_for(with("{\"capacity_GiB\": 24}", "{\"capacity_GiB\": 24}, {\"capacity_GiB\": 24}")),
              HasSubstr("sizes must ascend"));
  EXPECT_THAT(message_for(with("165.2", R"({"value": 3, "low": 4, "high": 5, "basis": "fitted", "rows": "x"})")),
              HasSubstr("between its low and its high"));
  EXPECT_THAT(message_for(with("[{\"kind\": \"gpu\",", "[{\"kind\": \"gpu\"}, {\"kind\": \"gpu\",")),
              HasSubstr("one unit of a kind"));
}

TEST(DeviceFile, MissingPartsAreErrors) {
  EXPECT_EQ(message_for("{}"), "mine.json (schema_version): missing");
  EXPECT_THAT(message_for(with("\"schema_version\": 1", "\"schema_version\": 2")), HasSubstr("reads 1"));
  EXPECT_THAT(message_for(with("\"kind\": \"gpu\", ", "")), HasSubstr("compute_units[0].kind): missing"));
  EXPECT_THAT(message_for(with("consumer_gpu", "toaster")), HasSubstr("must be one of datacenter_gpu"));
  EXPECT_THROW((void)parse_device("[]", ""), ParseError);
}

TEST(DeviceFile, BoundsWhatItHolds) {
  EXPECT_THAT(message_for(with("Mine", std::string(97, 'x'))), HasSubstr("1 to 96 bytes"));
  std::string sizes;
  for (int i = 1; i <= 7; ++i) {
    sizes += (i > 1 ? ", " : "") + ("{\"capacity_GiB\": " + std::to_string(i)) + "}";
  }
  EXPECT_THAT(message_for(with("{\"capacity_GiB\": 24}", sizes)), HasSubstr("at most 6"));
  EXPECT_THROW((void)parse_device(std::string(100'000, '['), ""), ParseError);
  EXPECT_THROW((void)parse_device(std::string(2'000'000, ' '), ""), ParseError);
}

// Wherever the file breaks off it is a ParseError, and nothing else.
TEST(DeviceFile, TruncatedAnywhere) {
  for (std::size_t size = 0; size < minimal.size(); ++size) {
    EXPECT_THROW((void)parse_device(minimal.substr(0, size), ""), ParseError) << size;
  }
}

TEST(DeviceFile, IsReadFromDisk) {
  const auto path = std::filesystem::temp_directory_path() / "tokenroof_device_file_test.json";
  std::ofstream(path) << minimal;
  EXPECT_EQ(read_device(path), parse_device(minimal, ""));
  std::filesystem::remove(path);
  EXPECT_THROW((void)read_device(path), ParseError);
}

} // namespace
} // namespace tokenroof
