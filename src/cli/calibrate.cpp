#include "tokenroof/calibration.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "readers/json_file.hpp"
#include "report/json_values.hpp"
#include "report/table.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::cli {

namespace {

using calibration::Calibration;
using calibration::Errors;
using calibration::ErrorSet;
using calibration::FittedConstant;
using calibration::Measurements;
using calibration::Metric;
using report::Align;
using report::Json;
using report::Table;

using Clock = std::chrono::steady_clock;

/// "42 % fitted" on a terminal, from the second second on.
class Progress {
public:
  Progress() : wanted_(stderr_is_terminal()), next_(Clock::now() + std::chrono::seconds(1)) {}
  Progress(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress() {
    if (shown_) {
      std::fputs("\r\x1b[K", stderr);
    }
  }

  void at(double part) {
    if (!wanted_ || Clock::now() < next_) {
      return;
    }
    next_ = Clock::now() + std::chrono::milliseconds(200);
    shown_ = true;
    fmt::print(stderr, "\r{:.0f} % fitted\x1b[K", 100 * part);
  }

private:
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) {
      words.push_back(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return words;
}

/// "family=hopper,device_class=datacenter_gpu", either part, or "any" for the profile of any device.
calibration::ProfileSelector selector_of(const std::string& text) {
  calibration::ProfileSelector selector;
  if (text == "any") {
    return selector;
  }
  for (const std::string& word : words_of(text)) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "family" && !value.empty() && value.size() <= 32) {
      selector.family = std::string_view(value);
    } else if (key == "device_class") {
      const auto found = std::find(device_class_names.begin(), device_class_names.end(), value);
      if (found == device_class_names.end()) {
        throw InvalidSpec("device_class", '\'' + value + '\'',
                          "is no class of device" + nearest_as_text(nearest_names(value, device_class_names)));
      }
      selector.device_class = static_cast<DeviceClass>(found - device_class_names.begin());
    } else {
      throw InvalidSpec("profile", '\'' + word + '\'', "must be family=NAME, device_class=NAME, both, or any");
    }
  }
  return selector;
}

/// The text of an engine's file, and what stands for it in messages.
struct EngineText {
  std::string text{};
  std::string name{};
};

EngineText engine_text(const std::string& engine) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  if (means_file(engine)) {
    return {.text = readers::read_text(engine, most_bytes), .name = engine};
  }
  const Shared<Engine> found = catalogue::engine(engine);
  if (found == roofline_engine()) {
    throw InvalidSpec("engine", engine, "is physics alone and has no constants to fit");
  }
  return {.text = std::string(catalogue::engine_file(engine)), .name = catalogue::versioned_id(*found)};
}

Parallelism parallelism_of(const CalibrateOptions& options) {
  return {.tensor = options.tensor.value_or(1),
          .pipeline = options.pipeline.value_or(1),
          .data = options.data.value_or(1),
          .expert = options.expert.value_or(1)};
}

calibration::ReadOptions read_options(const CalibrateOptions& options, const EngineText& engine) {
  calibration::ReadOptions result{.engine = parse_engine(engine.text, engine.name),
                                  .group_by = words_of(options.group_by)};
  calibration::Given& given = result.given;
  if (!options.model.empty()) {
    const Model model = find_model(options.model);
    given.network = model.entry.network;
    given.weights = model.entry.weights;
    given.kv = model.kv;
  }
  if (!options.device.empty()) {
    given.device = find_device(options.device, "");
  }
  if (!options.weights.empty()) {
    given.weights = scheme(options.weights);
  }
  if (!options.kv.empty()) {
    given.kv = find_kv_format(options.kv);
  }
  if (options.tensor || options.pipeline || options.data || options.expert) {
    given.parallelism = parallelism_of(options);
  }
  return result;
}

Measurements read_all(const CalibrateOptions& options, const calibration::ReadOptions& reading) {
  Measurements all;
  for (const std::string& path : options.paths) {
    Measurements one = calibration::read_measurements(path, reading);
    all.observations.insert(all.observations.end(), one.observations.begin(), one.observations.end());
    all.not_used.insert(all.not_used.end(), one.not_used.begin(), one.not_used.end());
  }
  return all;
}

void require_rows(const Measurements& measured) {
  if (measured.observations.empty()) {
    throw InvalidSpec("measurements", "no row that can be used",
                      measured.not_used.empty() ? "the files are empty" : measured.not_used.front().reason);
  }
}

/// The files' names without their folders: what a figure's source says.
std::string source_of(const std::vector<std::string>& paths) {
  std::string source;
  for (const std::string& path : paths) {
    source += (source.empty() ? "" : ", ") + std::filesystem::path(path).filename().string();
  }
  return source;
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::array<char, 16> text{};
  std::tm parts{};
#ifdef _WIN32
  gmtime_s(&parts, &now);
#else
  gmtime_r(&now, &parts);
#endif
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw std::system_error(errno, std::generic_category(), "cannot write " + path);
  }
}

std::string number_text(double number) { return std::isfinite(number) ? fmt::format("{:.4g}", number) : ""; }

std::string interval_text(double low, double high) {
  return std::isfinite(low) ? fmt::format("{} .. {}", number_text(low), number_text(high)) : "";
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"; }
std::string signed_percent(double share) { return std::isfinite(share) ? fmt::format("{:+.1f} %", 100 * share) : "-"; }

/// Constants that no row depends on, under a heading of their own.
std::string independent_text(const Calibration& result) {
  std::vector<std::string> keys;
  for (const FittedConstant& constant : result.constants) {
    if (constant.rows == 0 && std::find(keys.begin(), keys.end(), constant.key) == keys.end()) {
      keys.push_back(constant.key);
    }
  }
  return keys.empty()
             ? ""
             : report::wrap(fmt::format("no row depends on {}", fmt::join(keys, ", ")), stdout_width(), 2) + "\n";
}

std::string constants_text(const Calibration& result) {
  Table table({Align::left, Align::left, Align::right, Align::right, Align::right, Align::left, Align::right});
  table.add({"profile", "constant", "before", "after", "80 % interval", "", "rows"});
  for (const FittedConstant& constant : result.constants) {
    if (constant.rows > 0) {
      table.add({text_of(constant.profile), constant.key, number_text(constant.prior),
                 constant.identified ? number_text(constant.value) : "kept",
                 constant.identified ? interval_text(constant.low, constant.high) : "",
                 constant.identified ? "" : "not identified", fmt::format("{}", constant.rows)});
    }
  }
  return table.str() + independent_text(result);
}

std::vector<std::string> error_cells(const Errors& errors) {
  return {percent(errors.median), percent(errors.p90), signed_percent(errors.bias)};
}

void add_errors(Table& table, const std::string& name, const ErrorSet& errors) {
  std::vector<std::string> row = {name, fmt::format("{}", errors.after.rows)};
  for (const Errors* one : {&errors.before, &errors.after, &errors.left_out}) {
    const std::vector<std::string> cells = error_cells(*one);
    row.insert(row.end(), cells.begin(), cells.end());
  }
  table.add(std::move(row));
}

std::string errors_text(const Calibration& result, const std::string& group_by) {
  constexpr std::size_t most_groups = 30;
  Table table(std::vector<Align>{Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
                                 Align::right, Align::right, Align::right, Align::right, Align::right});
  table.add({"", "", "before", "", "", "after", "", "", "left out", "", ""});
  table.add({group_by, "rows", "median", "90th", "bias", "median", "90th", "bias", "median", "90th", "bias"});
  for (std::size_t i = 0; i < std::min(most_groups, result.groups.size()); ++i) {
    add_errors(table, result.groups[i].group, result.groups[i].errors);
  }
  for (std::size_t metric = 0; metric < calibration::metric_count; ++metric) {
    if (result.by_metric[metric].after.rows > 0) {
      add_errors(table, fmt::format("all {}", name(static_cast<Metric>(metric))), result.by_metric[metric]);
    }
  }
  add_errors(table, "all", result.errors);
  const std::size_t more = result.groups.size() - std::min(most_groups, result.groups.size());
  return table.str() + (more > 0 ? fmt::format("and {} groups more: --json lists them\n", more) : "");
}

std::string not_used_text(const std::vector<calibration::NotUsed>& reasons) {
  constexpr std::size_t most = 20;
  Table table({Align::right, Align::left});
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i) {
    table.add({fmt::format("{}", reasons[i].rows), reasons[i].reason});
  }
  if (table.empty()) {
    return {};
  }
  const std::string more =
      reasons.size() > most ? fmt::format("  and {} reasons more: --json lists them\n", reasons.size() - most) : "";
  return "\nrows that were not used, and why\n" + table.str(2, stdout_width()) + more;
}

void write_text(const Calibration& result, const CalibrateOptions& options) {
  write(constants_text(result) + "\n" + errors_text(result, options.group_by));
  write("\nErrors are |predicted - measured| / measured; bias is the geometric mean of predicted / measured, less 1.\n"
        "Left out: each row predicted by constants that were fitted without its group (--group-by).\n");
  write(not_used_text(result.not_used));
  write(options.output.empty() ? "\nNothing was written: -o FILE writes the engine.\n"
                               : fmt::format("\nWritten to {}: predict --engine {}\n", options.output, options.output));
}

Json errors_json(const Errors& errors) {
  return {{"rows", errors.rows},
          {"median_error_ratio", report::number(errors.median)},
          {"p90_error_ratio", report::number(errors.p90)},
          {"bias_ratio", report::number(errors.bias)}};
}

Json errors_json(const ErrorSet& errors) {
  return {{"before", errors_json(errors.before)},
          {"after", errors_json(errors.after)},
          {"left_out", errors_json(errors.left_out)}};
}

Json constants_json(const Calibration& result) {
  Json list = Json::array();
  for (const FittedConstant& constant : result.constants) {
    const calibration::ProfileSelector& profile = constant.profile;
    list.push_back({{"family", report::text_or_null(profile.family.view())},
                    {"device_class", profile.device_class ? Json(name(*profile.device_class)) : Json()},
                    {"constant", constant.key},
                    {"identified", constant.identified},
                    {"rows", constant.rows},
                    {"before", report::number(constant.prior)},
                    {"before_low", report::number(constant.prior_low)},
                    {"before_high", report::number(constant.prior_high)},
                    {"after", report::number(constant.value)},
                    {"after_low", report::number(constant.low)},
                    {"after_high", report::number(constant.high)}});
  }
  return list;
}

Json groups_json(const Calibration& result) {
  Json list = Json::array();
  for (const calibration::GroupErrors& group : result.groups) {
    Json object = {{"group", group.group}};
    object.update(errors_json(group.errors));
    list.push_back(std::move(object));
  }
  return list;
}

Json metrics_json(const Calibration& result) {
  Json object = Json::object();
  for (std::size_t metric = 0; metric < calibration::metric_count; ++metric) {
    object[std::string(name(static_cast<Metric>(metric)))] = errors_json(result.by_metric[metric]);
  }
  return object;
}

Json not_used_json(const std::vector<calibration::NotUsed>& reasons) {
  Json list = Json::array();
  for (const calibration::NotUsed& one : reasons) {
    list.push_back({{"reason", one.reason}, {"rows", one.rows}});
  }
  return list;
}

void write_json(const Calibration& result, const CalibrateOptions& options) {
  Json object = {{"schema_version", report::schema_version},
                 {"engine", catalogue::versioned_id(result.engine)},
                 {"written_to", report::text_or_null(options.output)},
                 {"residual_spread_ratio", report::number(result.spread)}};
  object["constants"] = constants_json(result);
  object["errors"] = errors_json(result.errors);
  object["errors_by_metric"] = metrics_json(result);
  object["group_by"] = options.group_by;
  object["groups"] = groups_json(result);
  object["not_used"] = not_used_json(result.not_used);
  write_document(object);
}

} // namespace

int calibrate(const CalibrateOptions& options) {
  const EngineText engine = engine_text(options.engine);
  const Measurements measured = read_all(options, read_options(options, engine));
  require_rows(measured);
  Progress progress;
  calibration::Options fit_options{.fit = words_of(options.fit),
                                   .source = source_of(options.paths),
                                   .date = today(),
                                   .on_progress = [&](double part) { progress.at(part); }};
  if (!options.profile.empty()) {
    fit_options.profile = selector_of(options.profile);
  }
  Calibration result = calibration::calibrate(measured.observations, engine.text, engine.name, fit_options);
  result.not_used.insert(result.not_used.end(), measured.not_used.begin(), measured.not_used.end());
  std::stable_sort(result.not_used.begin(), result.not_used.end(),
                   [](const auto& a, const auto& b) { return a.rows > b.rows; });
  if (!options.output.empty()) {
    write_file(options.output, result.engine_file);
  }
  if (options.form == OutputForm::json) {
    write_json(result, options);
  } else {
    write_text(result, options);
  }
  flush();
  return success;
}

} // namespace tokenroof::cli
