// The schemas describe every key of every file, and ask for none that is not there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "catalogue/embedded_files.hpp"

namespace tokenroof::catalogue {
namespace {

using nlohmann::json;

class Schema {
public:
  explicit Schema(json document) : document_(std::move(document)) {}

  [[nodiscard]] const json& root() const { return document_; }

  /// Reports keys without a description, and required ones that are missing.
  void check(const json& schema, const json& value, const std::string& place) const {
    const json& node = resolved(schema, value);
    if (value.is_object()) {
      check_object(node, value, place);
    } else if (value.is_array()) {
      ASSERT_TRUE(node.contains("items")) << place << " is an array";
      for (const json& element : value) {
        check(node["items"], element, place + "[]");
      }
    } else if (node.contains("enum")) {
      EXPECT_TRUE(std::find(node["enum"].begin(), node["enum"].end(), value) != node["enum"].end()) << place;
    }
  }

private:
  /// Follows a reference, and takes the alternative of the value's own kind.
  [[nodiscard]] const json& resolved(const json& schema, const json& value) const {
    const json& node = schema.contains("$ref")
                           ? document_.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1)))
                           : schema;
    return node.contains("oneOf") ? node["oneOf"][value.is_object() ? 1 : 0] : node;
  }

  void check_object(const json& node, const json& value, const std::string& place) const {
    for (const json& key : node.value("required", json::array())) {
      EXPECT_TRUE(value.contains(key)) << place << "." << key;
    }
    for (const auto& [key, member] : value.items()) {
      const json* described = described_by(node, key);
      ASSERT_NE(described, nullptr) << place << "." << key << " is not described";
      check(*described, member, place + "." + key);
    }
  }

  [[nodiscard]] static const json* described_by(const json& node, const std::string& key) {
    if (node.contains("properties") && node["properties"].contains(key)) {
      return &node["properties"][key];
    }
    const bool any_key = node.contains("additionalProperties") && node["additionalProperties"].is_object();
    return any_key ? &node["additionalProperties"] : nullptr;
  }

  json document_;
};

void expect_described(const std::string& schema_name, std::string_view folder) {
  std::ifstream file(std::filesystem::path(TOKENROOF_SOURCE_DIR) / "models/schema" / schema_name);
  const Schema schema(json::parse(file));
  for (const EmbeddedFile& embedded : embedded_files(folder)) {
    schema.check(schema.root(), json::parse(embedded.text), std::string(embedded.path));
  }
}

TEST(Schema, DescribesEveryKeyOfDevices) { expect_described("device.schema.json", "devices/"); }

TEST(Schema, DescribesEveryKeyOfEngines) { expect_described("engine.schema.json", "engines/"); }

TEST(Schema, DescribesEveryKeyOfAliases) { expect_described("aliases.schema.json", "aliases.json"); }

TEST(Schema, DescribesEveryKeyOfTheNamesOfModules) { expect_described("module_names.schema.json", "module_names.json"); }

TEST(Schema, DescribesEveryKeyOfTheTablesForGguf) {
  expect_described("gguf_architectures.schema.json", "gguf_architectures.json");
  expect_described("gguf_tensors.schema.json", "gguf_tensors.json");
  expect_described("gguf_types.schema.json", "gguf_types.json");
}

} // namespace
} // namespace tokenroof::catalogue
