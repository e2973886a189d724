#include "calibration/benchmark_record.hpp"

#include <sstream>

#include "readers/csv_reader.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/errors.hpp"
#include "validation/measurement.hpp"

namespace tokenroof::calibration {

namespace {

using nlohmann::json;

/// Serving benchmarks may list every token's latency.
constexpr readers::JsonLimits limits{.depth = 16, .allow_non_finite = true};

constexpr std::string_view spaces = " \t\r\n";

/// Whether each line is an object of its own.
bool is_one_a_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return false;
  }
  const std::size_t last = text.find_last_not_of(spaces, end);
  const std::size_t next = text.find_first_not_of(spaces, end);
  return last != std::string_view::npos && text[last] == '}' && next != std::string_view::npos;
}

std::vector<json> documents_in(std::string_view text, std::string_view name) {
  std::vector<json> documents;
  if (!is_one_a_line(text)) {
    documents.push_back(readers::parse_json(text, name, limits));
    return documents;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.find_first_not_of(spaces) != std::string_view::npos) {
      documents.push_back(readers::parse_json(line, name, limits));
    }
    begin = end + 1;
  }
  return documents;
}

} // namespace

Record::Record(const json& object) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_string()) {
      set(key, value.get_ref<const std::string&>());
    } else if (value.is_number() || value.is_boolean()) {
      set(key, value.dump());
    }
  }
}

std::string Record::text(std::string_view name) const {
  const auto found = texts_.find(name);
  return found != texts_.end() ? found->second : std::string();
}

std::optional<double> Record::number(std::string_view name) const {
  const auto found = texts_.find(name);
  return found != texts_.end() ? validation::number_in(found->second) : std::nullopt;
}

std::optional<double> Record::number_of(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    if (const auto found = number(name)) {
      return found;
    }
  }
  return std::nullopt;
}

std::vector<Record> records_in_json(std::string_view text, std::string_view name) {
  std::vector<Record> records;
  for (const json& document : documents_in(text, name)) {
    const json list = document.is_array() ? document : json::array({document});
    for (const json& object : list) {
      if (!object.is_object()) {
        throw ParseError(std::string(name), "", "is no list of a benchmark's results");
      }
      records.emplace_back(object);
    }
  }
  return records;
}

std::vector<Record> records_in_csv(std::string_view text, std::string_view name) {
  std::istringstream in{std::string(text)};
  readers::CsvReader csv(in, std::string(name));
  std::vector<std::string> header;
  std::vector<std::string> fields;
  std::vector<Record> records;
  (void)csv.next(header);
  while (csv.next(fields)) {
    if (fields.size() != header.size()) {
      csv.fail("has " + std::to_string(fields.size()) + " fields, the header " + std::to_string(header.size()));
    }
    Record& record = records.emplace_back();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      record.set(header[i], fields[i]);
    }
  }
  return records;
}

} // namespace tokenroof::calibration
