#include "tokenroof/validation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "report/csv_text.hpp"
#include "report/table.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::cli {

namespace {

using report::Align;
using report::Json;
using report::Table;
using validation::Group;
using validation::Outcome;

using Clock = std::chrono::steady_clock;

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(','); end != std::string::npos; end = text.find(',', begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// "42 % read" on a terminal, from the second second on.
class Progress {
public:
  explicit Progress(const std::string& path) : wanted_(stderr_is_terminal()), next_(Clock::now() + first_after) {
    std::error_code unknown;
    size_ = std::filesystem::file_size(path, unknown);
    wanted_ = wanted_ && !unknown && size_ > 0;
  }
  Progress(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress() {
    if (shown_) {
      std::fputs("\r\x1b[K", stderr);
    }
  }

  void at(std::uint64_t bytes) {
    if (!wanted_ || Clock::now() < next_) {
      return;
    }
    next_ = Clock::now() + between_updates;
    shown_ = true;
    fmt::print(stderr, "\r{:.0f} % read\x1b[K", 100 * static_cast<double>(bytes) / static_cast<double>(size_));
  }

private:
  static constexpr auto first_after = std::chrono::seconds(1);
  static constexpr auto between_updates = std::chrono::milliseconds(200);

  bool wanted_;
  bool shown_ = false;
  std::uint64_t size_ = 0;
  Clock::time_point next_;
};

/// Writes one line a row into a file of its own.
class RowsFile {
public:
  explicit RowsFile(const std::string& path) : path_(path) {
    if (path.empty()) {
      return;
    }
    file_.open(path, std::ios::binary);
    file_ << "schema_version,line,id,metric,outcome,measured,predicted,low,high,trust,reason\n";
    require_good();
  }

  [[nodiscard]] bool wanted() const { return !path_.empty(); }

  void add(const validation::Row& row) {
    std::string line = fmt::format("{},{},", report::schema_version, row.line);
    for (const std::string_view text : {std::string_view(row.id), std::string_view(row.metric), name(row.outcome)}) {
      report::append_csv_text(line, text);
      line += ',';
    }
    for (const double number : {row.measured, row.predicted, row.low, row.high}) {
      line += std::isfinite(number) ? fmt::format("{:.9g},", number) : ",";
    }
    line += std::isfinite(row.predicted) ? fmt::format("{},", name(row.trust)) : ",";
    report::append_csv_text(line, row.reason);
    file_ << line << '\n';
  }

  void finish() {
    if (wanted()) {
      file_.close();
      require_good();
    }
  }

private:
  void require_good() const {
    if (!file_) {
      throw std::system_error(errno, std::generic_category(), "cannot write " + path_);
    }
  }

  std::string path_;
  std::ofstream file_{};
};

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : ""; }
std::string signed_percent(double share) { return std::isfinite(share) ? fmt::format("{:+.1f} %", 100 * share) : ""; }

std::vector<std::string> cells(const Group& group) {
  return {fmt::format("{}", group.of(Outcome::compared)),
          percent(group.median_error),
          percent(group.p90_error),
          signed_percent(group.bias),
          percent(group.inside),
          percent(coverage(group)),
          fmt::format("{}", group.of(Outcome::set_aside)),
          fmt::format("{}", group.of(Outcome::not_claimed))};
}

std::string groups_text(const validation::Report& report) {
  std::vector<Align> columns(report.group_by.size(), Align::left);
  columns.insert(columns.end(), 8, Align::right);
  Table table(std::move(columns));
  const auto add = [&](std::vector<std::string> row, const std::vector<std::string>& rest) {
    row.insert(row.end(), rest.begin(), rest.end());
    table.add(std::move(row));
  };
  add(report.group_by, {"compared", "median", "90th", "bias", "inside", "coverage", "set aside", "not claimed"});
  std::size_t left_out = 0;
  for (const Group& group : report.groups) {
    if (claimed(group) > 0) {
      add(group.key, cells(group));
    } else {
      ++left_out;
    }
  }
  std::vector<std::string> all(report.group_by.size());
  all.front() = "all";
  add(std::move(all), cells(report.total));
  return table.str() +
         (left_out > 0 ? fmt::format("and {} groups of metrics that are not claimed\n", left_out) : std::string());
}

std::string reasons_text(const validation::Report& report) {
  constexpr std::size_t most = 20;
  Table table({Align::right, Align::left});
  const auto& reasons = report.total.reasons;
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i) {
    table.add({fmt::format("{}", reasons[i].rows), reasons[i].reason});
  }
  if (table.empty()) {
    return {};
  }
  const std::string more =
      reasons.size() > most ? fmt::format("  and {} reasons more: --json lists them\n", reasons.size() - most) : "";
  return "\nrows that were not compared, and why\n" + table.str(2, stdout_width()) + more;
}

void write_text(const validation::Report& report) {
  write(groups_text(report));
  write(
      "\nErrors are |predicted - measured| / measured of the compared rows; bias is the geometric mean of predicted /\n"
      "measured, less 1; inside is the part that lies in its 80 % interval, where there is one. Coverage is the part "
      "of the rows of a claimed metric that was predicted. Rows that "
      "contradict\n"
      "physics are set aside: they count in no error.\n");
  write(reasons_text(report));
}

Json columns(const Group& group, const std::vector<std::string>& names) {
  Json object = {{"schema_version", report::schema_version}};
  for (std::size_t i = 0; i < group.key.size(); ++i) {
    object[names[i]] = group.key[i];
  }
  object["compared_rows"] = group.of(Outcome::compared);
  object["median_error_ratio"] = report::number(group.median_error);
  object["p90_error_ratio"] = report::number(group.p90_error);
  object["bias_ratio"] = report::number(group.bias);
  object["inside_ratio"] = report::number(group.inside);
  object["coverage_ratio"] = report::number(coverage(group));
  object["set_aside_rows"] = group.of(Outcome::set_aside);
  object["unpredicted_rows"] = group.of(Outcome::unpredicted);
  object["not_claimed_rows"] = group.of(Outcome::not_claimed);
  object["exact_quantiles"] = group.exact_quantiles;
  return object;
}

Json reasons(const Group& group) {
  Json list = Json::array();
  for (const validation::ReasonCount& reason : group.reasons) {
    list.push_back({{"reason", reason.reason}, {"rows", reason.rows}});
  }
  return list;
}

Json document(const Group& group, const std::vector<std::string>& names) {
  Json object = columns(group, names);
  object.erase("schema_version");
  object["reasons"] = reasons(group);
  return object;
}

Json set_aside(const validation::Report& report) {
  Json list = Json::array();
  for (const validation::Row& row : report.set_aside) {
    list.push_back({{"line", row.line},
                    {"id", row.id},
                    {"metric", row.metric},
                    {"measured", report::number(row.measured)},
                    {"predicted", report::number(row.predicted)},
                    {"reason", row.reason}});
  }
  return list;
}

void write_json(const validation::Report& report) {
  Json object = {{"schema_version", report::schema_version}, {"group_by", report.group_by}};
  object["total"] = document(report.total, {});
  object["groups"] = Json::array();
  for (const Group& group : report.groups) {
    object["groups"].push_back(document(group, report.group_by));
  }
  object["set_aside"] = set_aside(report);
  write_document(object);
}

void write_groups_csv(const validation::Report& report) {
  std::vector<Json> rows;
  for (const Group& group : report.groups) {
    rows.push_back(columns(group, report.group_by));
  }
  if (rows.empty()) {
    rows.push_back(columns(report.total, {}));
  }
  write_csv(rows);
}

} // namespace

int validate(const ValidateOptions& options) {
  RowsFile rows(options.rows);
  Progress progress(options.path);
  validation::Options validation_options{.group_by = split_at_commas(options.group_by),
                                         .on_progress = [&](std::uint64_t bytes) { progress.at(bytes); }};
  if (rows.wanted()) {
    validation_options.on_row = [&](const validation::Row& row) { rows.add(row); };
  }
  const validation::Report report = validation::validate(std::filesystem::path(options.path), validation_options);
  rows.finish();
  switch (options.form) {
  case OutputForm::csv:
    write_groups_csv(report);
    break;
  case OutputForm::json:
    write_json(report);
    break;
  case OutputForm::text:
    write_text(report);
    break;
  }
  flush();
  return success;
}

} // namespace tokenroof::cli
