#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "readers/csv_reader.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/units/parse.hpp"
#include "tokenroof/validation.hpp"
#include "validation/aliases.hpp"
#include "validation/measurement.hpp"
#include "validation/question.hpp"
#include "validation/statistics.hpp"

namespace tokenroof::validation {

namespace {

/// What rows are grouped by that is no column: what their names, and the name of their metric, were resolved to.
constexpr std::array<std::string_view, 4> resolved_columns = {"network", "device", "engine", "quantity"};

constexpr std::size_t most_groups = 2000;
constexpr std::size_t most_reasons_of_group = 50;
constexpr std::size_t most_reasons = 1000;
constexpr const char* others = "(others)";

class ReasonCounter {
public:
  explicit ReasonCounter(std::size_t most) : most_(most) {}

  void add(const std::string& reason) {
    const bool room = counts_.size() < most_ || counts_.count(reason) > 0;
    ++counts_[room ? reason : others];
  }

  [[nodiscard]] std::vector<ReasonCount> sorted() const {
    std::vector<ReasonCount> all;
    for (const auto& [reason, rows] : counts_) {
      all.push_back({reason, rows});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const ReasonCount& a, const ReasonCount& b) { return a.rows > b.rows; });
    return all;
  }

private:
  std::size_t most_;
  std::map<std::string, std::uint64_t> counts_{};
};

/// Gathers the rows of one group.
class Tally {
public:
  explicit Tally(std::size_t most_reasons_kept) : reasons_(most_reasons_kept) {}

  void add(const Row& row) {
    ++rows_[static_cast<std::size_t>(row.outcome)];
    if (row.outcome == Outcome::compared) {
      const double ratio = row.predicted / row.measured;
      errors_.add(std::abs(ratio - 1));
      if (row.low <= row.high) {
        ++with_interval_;
        inside_ += row.low <= row.measured && row.measured <= row.high ? 1U : 0U;
      }
      log_ratios_ += std::log(ratio);
    } else {
      reasons_.add(row.reason);
    }
  }

  [[nodiscard]] Group group(std::vector<std::string> key) const {
    constexpr double most_of_them = 0.9;
    Group result{.key = std::move(key), .rows = rows_, .reasons = reasons_.sorted()};
    if (with_interval_ > 0) {
      result.inside = static_cast<double>(inside_) / static_cast<double>(with_interval_);
    }
    if (errors_.count() > 0) {
      result.median_error = errors_.quantile(0.5);
      result.p90_error = errors_.quantile(most_of_them);
      result.bias = std::expm1(log_ratios_ / static_cast<double>(errors_.count()));
      result.exact_quantiles = errors_.exact();
    }
    return result;
  }

private:
  std::array<std::uint64_t, outcome_count> rows_{};
  Quantiles errors_{};
  double log_ratios_ = 0;
  std::uint64_t with_interval_ = 0;
  std::uint64_t inside_ = 0;
  ReasonCounter reasons_;
};

/// A row with how its metric is read.
struct ReadRow {
  Measurement row{};
  const Reading* reading = nullptr;
};

bool is_quantity(const ReadRow& read, Quantity quantity) {
  return read.reading != nullptr && read.reading->quantity == quantity;
}

/// Whether two rows are of the same run of the same program: all but what was measured agrees.
bool same_log(const Measurement& a, const Measurement& b) {
  constexpr std::array own = {Column::id, Column::metric, Column::value, Column::unit, Column::notes};
  for (std::size_t i = 0; i < column_count; ++i) {
    const bool differs = a.texts[i] != b.texts[i];
    if (differs && std::find(own.begin(), own.end(), static_cast<Column>(i)) == own.end()) {
      return false;
    }
  }
  return true;
}

/// Bytes that one metric's unit is; a column for units decides where there is one.
double unit_of(const ReadRow& read) {
  const std::string& unit = read.row[Column::unit];
  if (unit.empty() || read.reading->unit_is_certain) {
    return read.reading->unit;
  }
  const std::optional<Bytes> one = parse_bytes("1" + unit);
  return one ? one->value() : read.reading->unit;
}

/// What a row states of a quantity, in base units.
std::optional<Bytes> stated_by(const ReadRow& read, Quantity quantity) {
  const std::optional<double> number = is_quantity(read, quantity) ? number_in(read.row[Column::value]) : std::nullopt;
  return number && *number > 0 ? std::optional(Bytes::from_value(*number * unit_of(read))) : std::nullopt;
}

/// What another row of the log states: the last one before row `from`, else the first behind it.
std::optional<Bytes> stated_in_log(const std::vector<ReadRow>& log, std::size_t from, Quantity quantity) {
  for (std::size_t i = from; i-- > 0;) {
    if (const auto found = stated_by(log[i], quantity)) {
      return found;
    }
  }
  for (std::size_t i = from + 1; i < log.size(); ++i) {
    if (const auto found = stated_by(log[i], quantity)) {
      return found;
    }
  }
  return std::nullopt;
}

/// Of all rows of the log together.
Bytes sum_in_log(const std::vector<ReadRow>& log, Quantity quantity) {
  Bytes sum;
  for (const ReadRow& read : log) {
    sum += stated_by(read, quantity).value_or(Bytes());
  }
  return sum;
}

/// Whether a row cannot be of the log so far: other settings, or the file is loaded anew.
bool begins_log(const std::vector<ReadRow>& log, const ReadRow& next) {
  const auto states_file = [](const ReadRow& read) { return is_quantity(read, Quantity::file_weights); };
  return !same_log(log.front().row, next.row) ||
         (states_file(next) && std::any_of(log.begin(), log.end(), states_file));
}

/// The format of a scheme that takes least.
Format smallest_format(const WeightScheme& scheme) {
  Format smallest = scheme.format;
  for (std::size_t i = 0; i < scheme.rule_count; ++i) {
    const Format& format = scheme.rules[i].format;
    smallest = bytes_per_element(format) < bytes_per_element(smallest) ? format : smallest;
  }
  return smallest;
}

/// Fewer bytes than the parameters take when every matrix is in the scheme's smallest format, a twentieth allowed for what
/// people round.
bool lacks_weights(Quantity quantity, const Question& question, double measured) {
  if (quantity != Quantity::file_weights && quantity != Quantity::weights) {
    return false;
  }
  constexpr double allowed = 0.95;
  Question least = question;
  least.deployment.weights.format = smallest_format(question.deployment.weights);
  least.deployment.weights.rule_count = 0;
  return measured < allowed * predict(quantity, least).value;
}

bool exceeds_capacity(const Question& question, double measured, bool of_all_devices) {
  const Device& device = question.deployment.cluster.device;
  Bytes largest;
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    largest = larger(largest, device.memory_variants[i].capacity);
  }
  if (const MemoryVariant* const chosen = memory(device)) {
    largest = chosen->capacity;
  }
  const double devices = of_all_devices ? static_cast<double>(question.deployment.cluster.devices) : 1;
  return largest > Bytes() && measured > largest.value() * devices;
}

/// Faster than the neutral engine, a twentieth allowed for clocks above the published ones and for rounding.
bool is_faster_than_physics(Quantity quantity, const Question& question, double measured) {
  constexpr double allowed = 0.95;
  Question bound = question;
  bound.deployment.engine = roofline_engine();
  const double least = predict(quantity, bound).value;
  return is_rate(quantity) ? measured * allowed > least : measured < allowed * least;
}

/// Why a measured value cannot be, or an empty text.
std::string contradiction(Quantity quantity, const Question& question, double measured) {
  if (lacks_weights(quantity, question, measured)) {
    return "fewer bytes than the parameters take in " + std::string(question.deployment.weights.name.view());
  }
  if (is_time(quantity) && is_faster_than_physics(quantity, question, measured)) {
    return "faster than the device's published rates allow";
  }
  const Extent extent = extent_of(quantity);
  if (extent != Extent::elsewhere && exceeds_capacity(question, measured, extent == Extent::all_devices)) {
    return "more than the device holds";
  }
  return {};
}

class Validator {
public:
  explicit Validator(const Options& options) : options_(options), total_(most_reasons) {
    report_.group_by = options.group_by;
  }

  void run(readers::CsvReader& csv) {
    MeasurementReader reader(csv, options_.group_by, resolved_columns);
    constexpr std::uint64_t between_progress = 1024;
    for (std::uint64_t rows = 0; reader.next(next_.row); ++rows) {
      next_.reading = find_reading(next_.row[Column::metric], next_.row[Column::notes], next_.row[Column::framework]);
      if (!log_.empty() && (log_.size() == most_rows_of_log || begins_log(log_, next_))) {
        finish_log();
      }
      log_.push_back(next_);
      if (options_.on_progress && rows % between_progress == 0) {
        options_.on_progress(csv.bytes());
      }
    }
    finish_log();
  }

  [[nodiscard]] Report report() && {
    report_.total = total_.group({});
    for (const auto& [key, tally] : groups_) {
      report_.groups.push_back(tally.group(key));
    }
    return std::move(report_);
  }

private:
  static constexpr std::size_t most_rows_of_log = 256;

  void finish_log() {
    for (std::size_t i = 0; i < log_.size(); ++i) {
      finish_row(i);
    }
    log_.clear();
  }

  void finish_row(std::size_t i) {
    const ReadRow& read = log_[i];
    std::vector<std::string> key = read.row.group;
    Row row{.line = read.row.line, .id = read.row[Column::id], .metric = read.row[Column::metric]};
    if (read.reading == nullptr || !read.reading->quantity) {
      row.outcome = Outcome::not_claimed;
      row.reason = read.reading == nullptr ? "no prediction of '" + row.metric.substr(0, longest_name) + "' is claimed"
                                           : read.reading->reason;
    } else {
      const LogFacts facts{.kv_pool = stated_in_log(log_, i, Quantity::kv_pool),
                           .file_weights = stated_in_log(log_, i, Quantity::file_weights),
                           .device_weights = sum_in_log(log_, Quantity::device_weights)};
      compare(read, facts, row, key);
    }
    record(row, std::move(key));
  }

  void compare(const ReadRow& read, const LogFacts& facts, Row& row, std::vector<std::string>& key) {
    const Quantity quantity = *read.reading->quantity;
    const Understood understood = resolver_.understand(read.row, quantity, facts);
    set_resolved(key, understood, name(quantity));
    row.reason = understood.reason;
    const std::optional<double> value = number_in(read.row[Column::value]);
    if (!value || *value <= 0) {
      row.reason = "the value is no number above 0";
      return;
    }
    row.measured = *value;
    if (!row.reason.empty()) {
      return;
    }
    const double unit = unit_of(read);
    const Answer answer = predict(quantity, understood.question);
    row.reason = answer.reason + (answer.reason.empty() || understood.assumed.empty() ? "" : "; ") + understood.assumed;
    if (!(answer.value > 0)) {
      row.reason = std::isnan(answer.value) ? answer.reason : "nothing is predicted";
      return;
    }
    row.predicted = answer.value / unit;
    row.low = answer.low / unit;
    row.high = answer.high / unit;
    row.trust = detail::trust_in(understood.question.deployment);
    row.outcome = Outcome::compared;
    if (const std::string reason = contradiction(quantity, understood.question, row.measured * unit); !reason.empty()) {
      row.outcome = Outcome::set_aside;
      row.reason = reason;
    }
  }

  void set_resolved(std::vector<std::string>& key, const Understood& understood, std::string_view quantity) const {
    const std::array<std::string_view, resolved_columns.size()> meanings = {understood.network, understood.device,
                                                                            understood.engine, quantity};
    for (std::size_t i = 0; i < key.size(); ++i) {
      const auto column = std::find(resolved_columns.begin(), resolved_columns.end(), options_.group_by[i]);
      if (column != resolved_columns.end()) {
        key[i] = meanings[static_cast<std::size_t>(column - resolved_columns.begin())];
      }
    }
  }

  void record(const Row& row, std::vector<std::string> key) {
    total_.add(row);
    if (groups_.size() >= most_groups && groups_.count(key) == 0) {
      key.assign(key.size(), others);
    }
    groups_.try_emplace(std::move(key), most_reasons_of_group).first->second.add(row);
    if (row.outcome == Outcome::set_aside && report_.set_aside.size() < Report::most_listed) {
      report_.set_aside.push_back(row);
    }
    if (options_.on_row) {
      options_.on_row(row);
    }
  }

  static constexpr std::size_t longest_name = 64;

  const Options& options_;
  Resolver resolver_{};
  ReadRow next_{};
  std::vector<ReadRow> log_{};
  Tally total_;
  std::map<std::vector<std::string>, Tally> groups_{};
  Report report_{};
};

} // namespace

std::string_view name(Outcome outcome) {
  constexpr std::array<std::string_view, outcome_count> names = {"compared", "set_aside", "unpredicted", "not_claimed"};
  return names[static_cast<std::size_t>(outcome)];
}

Report validate(const std::filesystem::path& path, const Options& options) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw ParseError(path.string(), "", "is a folder");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw ParseError(path.string(), "", "cannot be opened");
  }
  return validate(file, path.string(), options);
}

Report validate(std::istream& csv, std::string_view name, const Options& options) {
  readers::CsvReader reader(csv, std::string(name));
  Validator validator(options);
  validator.run(reader);
  return std::move(validator).report();
}

} // namespace tokenroof::validation
