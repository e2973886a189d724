// Headers of safetensors files and their index: exact bytes, and refusal of what cannot be.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "readers/safetensors.hpp"
#include "support/safetensors_writer.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using test::bytes_of_text;
using test::safetensors_file;
using test::SafetensorsWriter;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

SafetensorsFile read(const std::string& file) { return parse_safetensors(bytes_of_text(file), "test.safetensors"); }

std::string complaint(const std::string& file) {
  try {
    (void)read(file);
  } catch (const ParseError& error) {
    return error.what();
  }
  return {};
}

std::string complaint(const std::string& header, std::size_t data_bytes) {
  return complaint(safetensors_file(header, data_bytes));
}

TEST(Safetensors, EveryTypeTakesItsBytes) {
  SafetensorsWriter out;
  for (const char* type : {"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "I16", "U16", "F16", "BF16", "I32",
                           "U32", "F32", "F64", "I64", "U64", "C64", "F4"}) {
    out.add(type, type, {3, 8});
  }
  const SafetensorsFile file = read(out.file());
  std::uint64_t bytes = 0;
  for (const SafetensorsTensor& tensor : file.tensors) {
    EXPECT_EQ(tensor.elements, 24);
    bytes += tensor.bytes;
  }
  EXPECT_EQ(bytes, out.tensor_bytes());
  EXPECT_EQ(bytes, 24 * (6 * 1 + 4 * 2 + 3 * 4 + 4 * 8) + 12U);
  EXPECT_EQ(file.file_bytes, out.file().size());
}

TEST(Safetensors, MetadataScalarsAndEmptyTensorsAreAllowed) {
  const auto file = read(safetensors_file(
      R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
          "b": {"dtype": "F32", "shape": [0, 7], "data_offsets": [4, 4]}}  )",
      4));
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].elements, 1);
  EXPECT_EQ(file.tensors[1].elements, 0);
}

TEST(Safetensors, HeadersMustBeThere) {
  EXPECT_THAT(complaint("abc"), AllOf(HasSubstr("test.safetensors"), HasSubstr("header")));
  EXPECT_THAT(complaint(std::string(8, '\xff')), HasSubstr("18446744073709551615 bytes"));
  EXPECT_THAT(complaint(safetensors_file("{}", 0).substr(0, 9)), HasSubstr("a header of 2 bytes; 1 at most"));
  EXPECT_THAT(complaint("[]", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint("{\"a\":", 0), HasSubstr("byte"));
}

TEST(Safetensors, OffsetsMustFitShapeAndFile) {
  const auto one = [](std::string_view shape, std::string_view offsets) {
    return R"({"a": {"dtype": "F16", "shape": )" + std::string(shape) + R"(, "data_offsets": )" + std::string(offsets) +
           "}}";
  };
  EXPECT_EQ(complaint(one("[2, 3]", "[0, 12]"), 12), "");
  EXPECT_THAT(complaint(one("[2, 3]", "[0, 10]"), 10), AllOf(HasSubstr("\"a\""), HasSubstr("[0,10]")));
  EXPECT_THAT(complaint(one("[2, 3]", "[12, 0]"), 12), HasSubstr("do not hold"));
  EXPECT_THAT(complaint(one("[2, 3]", "[0, 12]"), 11), HasSubstr("truncated"));
  EXPECT_THAT(complaint(one("[2, 3]", "[0, 12]"), 13), HasSubstr("13 follow the header"));
  EXPECT_THAT(complaint(one("[2, 3]", "[4, 16]"), 16), HasSubstr("gap"));
  EXPECT_THAT(complaint(one("[-2, 3]", "[0, 12]"), 12), HasSubstr("no whole number"));
  EXPECT_THAT(complaint(one("[4294967296, 4294967296]", "[0, 0]"), 0), HasSubstr("2^52"));
  EXPECT_THAT(complaint(one("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0, 2]"), 2), HasSubstr("17 dimensions"));
}

TEST(Safetensors, TensorsMustNotOverlap) {
  EXPECT_THAT(complaint(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                            "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]}})",
                        6),
              AllOf(HasSubstr("\"b\""), HasSubstr("overlaps")));
}

TEST(Safetensors, EntriesMustBeWhole) {
  EXPECT_THAT(complaint(R"({"a": 1})", 0), HasSubstr("not described by an object"));
  EXPECT_THAT(complaint(R"({"a": {"dtype": "F17", "shape": [1], "data_offsets": [0, 2]}})", 2), HasSubstr("F17"));
  EXPECT_THAT(complaint(R"({"a": {"shape": [1], "data_offsets": [0, 2]}})", 2), HasSubstr("'dtype' is missing"));
  EXPECT_THAT(complaint(R"({"a": {"dtype": "F16", "data_offsets": [0, 2]}})", 2), HasSubstr("'shape' is missing"));
  EXPECT_THAT(complaint(R"({"a": {"dtype": "F16", "shape": [1], "data_offsets": [0]}})", 2), HasSubstr("two numbers"));
}

TEST(SafetensorsIndex, ListsFilesAndTheTotal) {
  const auto index = parse_safetensors_index(
      R"({"metadata": {"total_size": 1e3}, "weight_map": {"a": "two.safetensors", "b": "one.safetensors", "c": "two.safetensors"}})",
      "index.json");
  EXPECT_THAT(index.files, ElementsAre("one.safetensors", "two.safetensors"));
  EXPECT_EQ(index.map.size(), 3U);
  EXPECT_EQ(index.total_bytes, 1000U);
  EXPECT_FALSE(parse_safetensors_index(R"({"weight_map": {}})", "index.json").total_bytes);
}

TEST(SafetensorsIndex, RefusesWhatIsNone) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      (void)parse_safetensors_index(text, "index.json");
    } catch (const ParseError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("[]"), HasSubstr("weight_map"));
  EXPECT_THAT(message("{}"), HasSubstr("weight_map"));
  EXPECT_THAT(message(R"({"weight_map": {"a": "../b"}})"), HasSubstr("../b"));
  EXPECT_THAT(message(R"({"weight_map": {"a": 1}})"), HasSubstr("weight_map.a"));
  EXPECT_THAT(message(R"({"weight_map": {}, "metadata": {"total_size": -1}})"), HasSubstr("total_size"));
}

} // namespace
} // namespace tokenroof::readers
