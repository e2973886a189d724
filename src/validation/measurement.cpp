#include "validation/measurement.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"

namespace tokenroof::validation {

namespace {

constexpr std::size_t most_names = 3;

/// A column with the names under which public files have it, ours first.
struct ColumnNames {
  bool necessary = false;
  std::array<std::string_view, most_names> names{};
};

constexpr std::array<ColumnNames, column_count> columns = {{
    {false, {"id"}},
    {false, {"source", "source_url", "source_repo"}},
    {true, {"framework"}},
    {false, {"version", "framework_version"}},
    {false, {"backend"}},
    {true, {"hardware"}},
    {false, {"devices", "num_devices"}},
    {false, {"tp"}},
    {false, {"pp"}},
    {false, {"ep"}},
    {false, {"dp"}},
    {true, {"model"}},
    {true, {"weight_format"}},
    {false, {"kv_format"}},
    {false, {"batch"}},
    {false, {"concurrency"}},
    {false, {"batching"}},
    {false, {"prompt_tokens", "input_len"}},
    {false, {"output_tokens", "output_len"}},
    {false, {"context_depth"}},
    {false, {"context_limit", "ctx_or_max_len"}},
    {false, {"sequences", "max_num_seqs"}},
    {false, {"memory_fraction", "gpu_mem_util"}},
    {true, {"metric"}},
    {true, {"value"}},
    {false, {"unit"}},
    {false, {"notes"}},
}};

bool has_name(const ColumnNames& column, std::string_view name) {
  return !name.empty() && std::find(column.names.begin(), column.names.end(), name) != column.names.end();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  return begin == std::string_view::npos ? std::string_view{}
                                         : text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

} // namespace

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

MeasurementReader::MeasurementReader(readers::CsvReader& csv, std::span<const std::string> group_by,
                                     std::span<const std::string_view> elsewhere)
    : csv_(csv) {
  find_columns();
  for (const std::string& name : group_by) {
    const bool is_elsewhere = std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end();
    const bool is_column =
        std::any_of(columns.begin(), columns.end(), [&](const ColumnNames& column) { return has_name(column, name); });
    group_fields_.push_back(is_elsewhere ? std::nullopt : field_named(name));
    if (!group_fields_.back() && !is_elsewhere && !is_column) {
      std::vector<std::string_view> names(header_.begin(), header_.end());
      names.insert(names.end(), elsewhere.begin(), elsewhere.end());
      throw InvalidSpec("group-by", '\'' + name.substr(0, 128) + '\'',
                        "is no column of " + csv_.name() + nearest_as_text(nearest_names(name, names)));
    }
  }
}

void MeasurementReader::find_columns() {
  if (!csv_.next(header_)) {
    throw ParseError(csv_.name(), "", "is empty: a header with the names of its columns comes first");
  }
  for (std::string& name : header_) {
    name = trimmed(name);
  }
  for (auto name = header_.begin(); name != header_.end(); ++name) {
    if (!name->empty() && std::find(header_.begin(), name, *name) != name) {
      csv_.fail("two columns are named '" + name->substr(0, 128) + "'");
    }
  }
  std::string missing;
  for (std::size_t i = 0; i < column_count; ++i) {
    for (auto name = columns[i].names.begin(); name != columns[i].names.end() && !field_of_[i]; ++name) {
      const auto found = name->empty() ? header_.end() : std::find(header_.begin(), header_.end(), *name);
      field_of_[i] =
          found != header_.end() ? std::optional(static_cast<std::size_t>(found - header_.begin())) : std::nullopt;
    }
    if (columns[i].necessary && !field_of_[i]) {
      missing += (missing.empty() ? "" : ", ") + std::string(columns[i].names[0]);
    }
  }
  if (!missing.empty()) {
    csv_.fail("the header lacks " + missing);
  }
}

std::optional<std::size_t> MeasurementReader::field_named(std::string_view name) const {
  if (const auto own = std::find(header_.begin(), header_.end(), name); own != header_.end()) {
    return static_cast<std::size_t>(own - header_.begin());
  }
  for (std::size_t i = 0; i < column_count; ++i) {
    if (has_name(columns[i], name)) {
      return field_of_[i];
    }
  }
  return std::nullopt;
}

std::string_view MeasurementReader::text_of(std::optional<std::size_t> field) const {
  return field ? trimmed(fields_[*field]) : std::string_view{};
}

bool MeasurementReader::next(Measurement& row) {
  if (!csv_.next(fields_)) {
    return false;
  }
  if (fields_.size() != header_.size()) {
    csv_.fail("has " + std::to_string(fields_.size()) + " fields, the header " + std::to_string(header_.size()));
  }
  row.line = csv_.line();
  for (std::size_t i = 0; i < column_count; ++i) {
    row.texts[i] = text_of(field_of_[i]);
  }
  row.group.clear();
  for (const std::optional<std::size_t>& field : group_fields_) {
    row.group.emplace_back(text_of(field));
  }
  return true;
}

} // namespace tokenroof::validation
