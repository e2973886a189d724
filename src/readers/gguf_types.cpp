#include "readers/gguf_types.hpp"

#include <map>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"

namespace tokenroof::readers {
namespace {

struct TypeTable {
  std::map<std::uint64_t, GgmlType> types{};
  std::map<std::uint64_t, std::string> file_types{};
};

GgmlType ggml_type(const nlohmann::json& entry) {
  GgmlType type{.id = entry.at("id").get<std::uint32_t>(), .name = entry.at("name").get<std::string>()};
  if (entry.contains("format")) {
    type.format = find_format(entry.at("format").get<std::string>()).value();
  }
  return type;
}

TypeTable parse_table() {
  constexpr std::string_view file = "gguf_types.json";
  const nlohmann::json document = parse_json(catalogue::embedded_file(file).value(), file);
  TypeTable table;
  for (const nlohmann::json& entry : document.at("types")) {
    GgmlType type = ggml_type(entry);
    table.types.emplace(type.id, std::move(type));
  }
  for (const nlohmann::json& entry : document.at("file_types")) {
    table.file_types.emplace(entry.at("id").get<std::uint64_t>(), entry.at("name").get<std::string>());
  }
  return table;
}

const TypeTable& table() {
  static const TypeTable parsed = parse_table();
  return parsed;
}

} // namespace

const GgmlType* find_ggml_type(std::uint32_t id) {
  const auto found = table().types.find(id);
  return found == table().types.end() ? nullptr : &found->second;
}

std::string_view gguf_file_type(std::uint64_t id) {
  const auto found = table().file_types.find(id);
  return found == table().file_types.end() ? std::string_view() : std::string_view(found->second);
}

} // namespace tokenroof::readers
