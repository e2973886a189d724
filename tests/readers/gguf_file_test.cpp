// The container: versions, byte orders, parts, and headers that lie.
#include <bit>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "readers/gguf_file.hpp"
#include "support/gguf_writer.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using test::as_bytes;
using test::GgufWriter;
using testing::HasSubstr;

GgufFile parse(const std::string& bytes) { return parse_gguf_file(as_bytes(bytes), "file"); }

/// The message and position of what is wrong with those bytes.
std::pair<std::string, std::string> complaint(const std::string& bytes) {
  try {
    (void)parse(bytes);
  } catch (const ParseError& error) {
    EXPECT_EQ(error.path(), "file");
    return {error.what(), error.position()};
  }
  return {};
}

std::int64_t whole(const GgufFile& file, const std::string& key) {
  return std::get<std::int64_t>(file.metadata.at(key));
}

GgufWriter two_tensors(GgufWriter out = GgufWriter()) {
  out.tensor("a", {32, 3}, 2, 3 * 18).tensor("b", {5}, 0, 20);
  return out;
}

class GgufVersions : public testing::TestWithParam<std::tuple<std::uint32_t, std::endian>> {};

TEST_P(GgufVersions, AreRead) {
  const auto [version, order] = GetParam();
  GgufWriter out(version, order);
  out.text("name", "value").number("small", 7).signed_number("negative", -7).number64("large", 1ULL << 40U);
  out.number16("short", 300)
      .real("real", 0.5F)
      .flag("flag", true)
      .numbers("list", {3, -4})
      .flags("flags", {true, false});
  out.texts("texts", {"a", "", "ccc"});
  const GgufFile file = parse(two_tensors(out).bytes());
  EXPECT_EQ(std::get<std::string>(file.metadata.at("name")), "value");
  EXPECT_EQ(whole(file, "small"), 7);
  EXPECT_EQ(whole(file, "negative"), -7);
  EXPECT_EQ(whole(file, "large"), std::int64_t{1} << 40);
  EXPECT_EQ(whole(file, "short"), 300);
  EXPECT_EQ(std::get<double>(file.metadata.at("real")), 0.5);
  EXPECT_TRUE(std::get<bool>(file.metadata.at("flag")));
  EXPECT_EQ(std::get<GgufArray>(file.metadata.at("list")).integers, (std::vector<std::int64_t>{3, -4}));
  EXPECT_TRUE(std::get<GgufArray>(file.metadata.at("flags")).flags);
  EXPECT_EQ(std::get<GgufArray>(file.metadata.at("texts")).count, 3);
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(file.tensors[0].shape, (std::array<Count, 4>{32, 3, 1, 1}));
  EXPECT_EQ(file.tensors[0].format.name, "Q4_0");
  EXPECT_EQ(file.tensors[0].bytes, 54U);
  EXPECT_EQ(file.tensors[1].bytes, 20U);
}

INSTANTIATE_TEST_SUITE_P(BothOrders, GgufVersions,
                         testing::Combine(testing::Values(1U, 2U, 3U),
                                          testing::Values(std::endian::little, std::endian::big)));

TEST(GgufFile, OtherVersionsAndFilesAreRefused) {
  EXPECT_THAT(complaint(GgufWriter(4).bytes()).first, HasSubstr("GGUF version 4"));
  EXPECT_THAT(complaint(GgufWriter(4, std::endian::big).bytes()).first, HasSubstr("GGUF version 4"));
  EXPECT_THAT(complaint("ggjt, of old").first, HasSubstr("begins with 'ggjt'"));
  EXPECT_THAT(complaint("").first, HasSubstr("truncated"));
}

TEST(GgufFile, DataMayBeAlignedOtherwise) {
  GgufWriter out(3, std::endian::little, 256);
  out.number("general.alignment", 256);
  const GgufFile file = parse(two_tensors(out).bytes());
  EXPECT_EQ(file.tensors.size(), 2U);
  EXPECT_THAT(complaint(GgufWriter().number("general.alignment", 24).tensor("a", {1}, 0, 4).bytes()).second,
              "general.alignment");
  EXPECT_THAT(complaint(GgufWriter().number("general.alignment", 0).tensor("a", {1}, 0, 4).bytes()).second,
              "general.alignment");
}

struct TypeCase {
  std::uint32_t id;
  std::uint64_t block;
  std::uint64_t bytes;
};

// Block sizes as ggml.h, ggml-common.h state them.
TEST(GgufFile, EveryTypeHasItsSize) {
  const std::vector<TypeCase> cases = {
      {0, 1, 4},      {1, 1, 2},     {2, 32, 18},    {3, 32, 20},    {6, 32, 22},    {7, 32, 24},    {8, 32, 34},
      {9, 32, 36},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144}, {13, 256, 176}, {14, 256, 210}, {15, 256, 292},
      {16, 256, 66},  {17, 256, 74}, {18, 256, 98},  {19, 256, 50},  {20, 32, 18},   {21, 256, 110}, {22, 256, 82},
      {23, 256, 136}, {24, 1, 1},    {25, 1, 2},     {26, 1, 4},     {27, 1, 8},     {28, 1, 8},     {29, 256, 56},
      {30, 1, 2},     {34, 256, 54}, {35, 256, 66},  {39, 32, 17},   {40, 64, 36},   {41, 128, 18},  {42, 64, 18}};
  for (const TypeCase& type : cases) {
    GgufWriter out;
    out.tensor("t", {2 * type.block, 3}, type.id, 3 * 2 * type.bytes).tensor("next", {1}, 0, 4);
    EXPECT_EQ(parse(out.bytes()).tensors.at(0).bytes, 6 * type.bytes) << type.id;
  }
}

TEST(GgufFile, RowsOfSomeTypesHaveAScaleOfTheirOwn) {
  GgufWriter out;
  out.tensor("t", {512, 3}, 144, 3 * (4 + 2 * 136)).tensor("next", {1}, 0, 4);
  EXPECT_EQ(parse(out.bytes()).tensors.at(0).bytes, 3U * (4 + 2 * 136));
}

TEST(GgufFile, TypesThatAreGoneOrUnknownAreNamed) {
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {32}, 31, 18).bytes()).first, HasSubstr("Q4_0_4_4"));
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {32}, 9999, 18).bytes()).first, HasSubstr("9999"));
}

TEST(GgufFile, ShapesThatCannotBe) {
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {33}, 2, 18).bytes()).first, HasSubstr("no multiple"));
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {0}, 0, 0).bytes()).first, HasSubstr("dimension of 0"));
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {1, 1, 1, 1, 1}, 0, 4).bytes()).first, HasSubstr("5 dimensions"));
  const std::uint64_t large = 1ULL << 40U;
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {large, large}, 0, 4).bytes()).first, HasSubstr("2^48"));
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {large * 4}, 0, 4).bytes()).first, HasSubstr("dimension of"));
}

TEST(GgufFile, DataMustBeWhereTheTableSays) {
  GgufWriter gap;
  gap.tensor("a", {8}, 0, 64).tensor("b", {8}, 0, 32); // a's data are said to be twice as long as they are
  EXPECT_THAT(complaint(gap.bytes()).first, HasSubstr("'b' has the offset 64"));
}

TEST(GgufFile, ACutDownloadIsReported) {
  std::string bytes = two_tensors().bytes();
  EXPECT_NO_THROW((void)parse(bytes));
  bytes.pop_back();
  const auto [message, position] = complaint(bytes);
  EXPECT_THAT(message, HasSubstr("truncated"));
  EXPECT_EQ(position, "byte " + std::to_string(bytes.size()));
}

TEST(GgufFile, EveryShorterFileIsAnError) {
  GgufWriter out;
  out.text("key", "value").texts("list", {"a", "b"}).numbers("numbers", {1, 2, 3});
  const std::string bytes = two_tensors(out).bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)parse(bytes.substr(0, size)), ParseError) << size;
  }
}

TEST(GgufFile, NothingIsThereTwice) {
  EXPECT_THAT(complaint(GgufWriter().number("key", 1).number("key", 2).bytes()).first,
              HasSubstr("'key' is there twice"));
  EXPECT_THAT(complaint(GgufWriter().tensor("t", {1}, 0, 4).tensor("t", {1}, 0, 4).bytes()).first,
              HasSubstr("'t' is there twice"));
}

/// A header whose numbers of tensors and entries are these, and nothing after them.
std::string counts(std::uint64_t tensors, std::uint64_t entries) {
  std::string bytes = GgufWriter().bytes().substr(0, 8);
  for (const std::uint64_t count : {tensors, entries}) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes += static_cast<char>((count >> shift) & 0xFFU);
    }
  }
  return bytes;
}

TEST(GgufFile, CountsAreNotBelieved) {
  EXPECT_THAT(complaint(counts(0, 1ULL << 60U)).first, HasSubstr("metadata entries cannot be"));
  EXPECT_THAT(complaint(counts(1ULL << 60U, 0)).first, HasSubstr("tensors cannot be"));
  EXPECT_EQ(parse(counts(0, 0)).tensors.size(), 0U);
}

/// An entry of metadata whose key is "k": its type and what follows.
std::string entry(const std::string& value) {
  std::string bytes = counts(0, 1) + std::string("\1\0\0\0\0\0\0\0k", 9);
  return bytes + value;
}

TEST(GgufFile, LengthsAreNotBelieved) {
  const std::string huge(8, '\x7F');
  EXPECT_THAT(complaint(entry(std::string("\x08\0\0\0", 4) + huge)).first, HasSubstr("text of"));
  EXPECT_THAT(complaint(entry(std::string("\x09\0\0\0\x04\0\0\0", 8) + huge)).first, HasSubstr("elements of an array"));
  EXPECT_THAT(complaint(entry(std::string("\x09\0\0\0\x08\0\0\0", 8) + huge)).first, HasSubstr("elements of an array"));
  EXPECT_THAT(complaint(entry(std::string("\x63\0\0\0", 4))).first, HasSubstr("type 99"));
  EXPECT_THAT(complaint(counts(0, 1) + huge + "kkkkkkk").first, HasSubstr("metadata key of"));
}

TEST(GgufFile, NestingIsBounded) {
  std::string nested("\x09\0\0\0", 4);
  for (int i = 0; i < 1000; ++i) {
    nested += std::string("\x09\0\0\0\1\0\0\0\0\0\0\0", 12);
  }
  EXPECT_THAT(complaint(entry(nested)).first, HasSubstr("nested deeper"));
  const std::string two =
      std::string("\x09\0\0\0\x09\0\0\0\1\0\0\0\0\0\0\0", 16) + std::string("\x04\0\0\0\1\0\0\0\0\0\0\0\7\0\0\0", 16);
  EXPECT_EQ(std::get<GgufArray>(parse(entry(two)).metadata.at("k")).count, 1U);
}

TEST(GgufFile, LongTextsAndListsArePassedOver) {
  GgufWriter out;
  out.text("template", std::string(100000, 'x'))
      .numbers("scores", std::vector<std::int32_t>(100000, 1))
      .number("after", 5);
  const GgufFile file = parse(out.bytes());
  EXPECT_EQ(std::get<std::string>(file.metadata.at("template")), "");
  EXPECT_EQ(std::get<GgufArray>(file.metadata.at("scores")).count, 100000U);
  EXPECT_TRUE(std::get<GgufArray>(file.metadata.at("scores")).integers.empty());
  EXPECT_EQ(whole(file, "after"), 5);
}

TEST(GgufFile, AMegabyteOfSmallThingsTakesNoSecond) {
  GgufWriter out;
  for (std::uint32_t i = 0; i < 35000; ++i) {
    out.number(std::to_string(i), i);
  }
  for (std::uint32_t i = 0; i < 8000; ++i) {
    out.tensor(std::to_string(i), {1}, 24, 1);
  }
  const std::string bytes = out.header();
  EXPECT_GT(bytes.size(), 900'000U);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW((void)parse(bytes), ParseError) << "the data are not there";
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

/// A folder of this test's own, removed after it.
class GgufParts : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("gguf_parts_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path path(int part, int count = 2) const {
    return folder_ / ("model-0000" + std::to_string(part) + "-of-0000" + std::to_string(count) + ".gguf");
  }

  static GgufWriter part(std::uint16_t index, const std::string& tensor) {
    GgufWriter out;
    if (index == 0) {
      out.text("general.architecture", "llama");
    }
    out.number16("split.no", index).number16("split.count", 2).signed_number("split.tensors.count", 2);
    out.tensor(tensor, {8}, 0, 32);
    return out;
  }

  std::filesystem::path folder_{};
};

TEST_F(GgufParts, AnyOneFindsItsSiblings) {
  part(0, "a").write(path(1));
  part(1, "b").write(path(2));
  for (const int given : {1, 2}) {
    const GgufFile file = read_gguf_file(path(given));
    ASSERT_EQ(file.tensors.size(), 2U);
    EXPECT_EQ(file.tensors[0].name, "a");
    EXPECT_EQ(file.tensors[1].name, "b");
    EXPECT_EQ(std::get<std::string>(file.metadata.at("general.architecture")), "llama");
  }
}

TEST_F(GgufParts, AMissingOneIsNamed) {
  part(1, "b").write(path(2));
  try {
    (void)read_gguf_file(path(2));
    FAIL() << "the first part is missing";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.path(), path(1).string());
  }
}

TEST_F(GgufParts, TheyMustBeOfOneFile) {
  part(0, "a").write(path(1));
  part(0, "b").write(path(2));
  EXPECT_THROW((void)read_gguf_file(path(1)), ParseError) << "two first parts";
  part(1, "a").write(path(2));
  EXPECT_THROW((void)read_gguf_file(path(1)), ParseError) << "the tensor is in both";
  GgufWriter extra = part(1, "b");
  extra.tensor("c", {8}, 0, 32);
  extra.write(path(2));
  EXPECT_THROW((void)read_gguf_file(path(1)), ParseError) << "three tensors where two are stated";
}

TEST_F(GgufParts, TheirNamesFollowTheConvention) {
  part(0, "a").write(folder_ / "renamed.gguf");
  try {
    (void)read_gguf_file(folder_ / "renamed.gguf");
    FAIL() << "siblings cannot be found";
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("-00001-of-00002.gguf"));
  }
  EXPECT_THAT(complaint(part(0, "a").bytes()).first, HasSubstr("one of 2 parts"));
}

TEST_F(GgufParts, FoldersAndMissingFilesAreNoFiles) {
  EXPECT_THROW((void)read_gguf_file(folder_), ParseError);
  EXPECT_THROW((void)read_gguf_file(folder_ / "missing.gguf"), ParseError);
}

} // namespace
} // namespace tokenroof::readers
