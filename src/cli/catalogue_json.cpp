#include "cli/catalogue_json.hpp"

#include <utility>

#include "report/csv_text.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::cli {

namespace {

using report::Json;

std::string field_text(const Json& value) {
  if (value.is_null()) {
    return {};
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Appends a line of what `text(name, value)` makes of each column.
template <class Text>
void append_row(std::string& out, const Json& row, Text&& text) {
  for (const auto& [name, value] : row.items()) {
    report::append_csv_text(out, text(name, value));
    out += ',';
  }
  out.back() = '\n';
}

} // namespace

void write_csv(const std::vector<Json>& rows) {
  std::string out;
  append_row(out, rows.at(0), [](const std::string& name, const Json&) { return name; });
  for (const Json& row : rows) {
    append_row(out, row, [](const std::string&, const Json& value) { return field_text(value); });
  }
  write(out);
}

void write_list(std::string_view name, Json documents) {
  Json object = {{"schema_version", report::schema_version}};
  object[std::string(name)] = std::move(documents);
  write_document(object);
}

void write_document(const Json& document) { write(report::dump(document, 2) + '\n'); }

} // namespace tokenroof::cli
