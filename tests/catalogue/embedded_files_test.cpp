#include "catalogue/embedded_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace tokenroof::catalogue {
namespace {

const std::filesystem::path models = std::filesystem::path(TOKENROOF_SOURCE_DIR) / "models";

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EmbeddedFiles, EqualTheirSources) {
  for (const EmbeddedFile& file : embedded_files()) {
    EXPECT_TRUE(file.text == bytes_of(models / file.path)) << file.path;
  }
}

TEST(EmbeddedFiles, AreAllOfThem) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(models)) {
    const bool is_schema = entry.path().parent_path().filename() == "schema";
    count += entry.path().extension() == ".json" && !is_schema ? 1U : 0U;
  }
  EXPECT_EQ(embedded_files().size(), count);
}

TEST(EmbeddedFiles, AreFoundByPathAndFolder) {
  EXPECT_TRUE(std::ranges::is_sorted(embedded_files(), {}, &EmbeddedFile::path));
  EXPECT_TRUE(embedded_file("devices/rtx_4090.json"));
  EXPECT_FALSE(embedded_file("devices/rtx_4091.json"));
  EXPECT_FALSE(embedded_file("zzz"));
  EXPECT_TRUE(embedded_files("nowhere/").empty());
  for (const EmbeddedFile& file : embedded_files("devices/")) {
    EXPECT_TRUE(file.path.starts_with("devices/"));
  }
}

} // namespace
} // namespace tokenroof::catalogue
