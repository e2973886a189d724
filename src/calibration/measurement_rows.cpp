#include "calibration/measurement_rows.hpp"

#include <sstream>
#include <utility>

#include "calibration/collector.hpp"
#include "readers/csv_reader.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "validation/aliases.hpp"
#include "validation/measurement.hpp"
#include "validation/question.hpp"

namespace tokenroof::calibration {

namespace {

using validation::Column;
using validation::Measurement;
using validation::Quantity;

/// Which time a quantity is, or is a rate over: in a closed loop, prompts count over the whole time.
Metric metric_of(Quantity quantity, const Workload& workload) {
  const validation::Needs needed = validation::needs(quantity);
  if (quantity == Quantity::prefill_rate && workload.arrival == Arrival::closed_loop) {
    return Metric::end_to_end;
  }
  return needed.prefill && needed.decode ? Metric::end_to_end : needed.prefill ? Metric::ttft : Metric::tpot;
}

/// Tokens of the whole batch that a rate counts in its time.
double tokens_of(Quantity rate, const Workload& workload) {
  const double each = rate == Quantity::prefill_rate  ? workload.prompt.value()
                      : rate == Quantity::decode_rate ? 1
                                                      : workload.output.value();
  return each * static_cast<double>(workload.batch);
}

/// In which a row is of something else than what was asked for; empty: in nothing.
std::string difference(const Deployment& deployment, const Given& given) {
  if (given.network && (*given.network)->name != deployment.network->name) {
    return "of another network";
  }
  if (given.device && given.device->id != deployment.cluster.device.id) {
    return "of another device";
  }
  if (given.weights && given.weights->name != deployment.weights.name) {
    return "in another format of weights";
  }
  if (given.kv && *given.kv != deployment.kv) {
    return "with a KV cache in another format";
  }
  return given.parallelism && *given.parallelism != deployment.parallelism ? "split in another way" : "";
}

class Reader {
public:
  explicit Reader(const ReadOptions& options) : options_(options), engine_(catalogue::versioned_id(*options.engine)) {}

  void add(const Measurement& row) {
    const std::string reason = why_not(row);
    if (!reason.empty()) {
      reasons_.add(reason);
    }
  }

  [[nodiscard]] Measurements result() && {
    result_.not_used = reasons_.sorted();
    return std::move(result_);
  }

private:
  [[nodiscard]] std::string why_not(const Measurement& row) {
    const validation::Reading* const reading =
        validation::find_reading(row[Column::metric], row[Column::notes], row[Column::framework]);
    if (reading == nullptr || !reading->quantity || !validation::is_time(*reading->quantity)) {
      return "the metric is no time: " + row[Column::metric].substr(0, 64);
    }
    const validation::Understood understood = resolver_.understand(row, *reading->quantity, {});
    if (!understood.engine.empty() && understood.engine != engine_) {
      const bool same = understood.engine.starts_with(std::string(options_.engine->id.view()) + "@");
      return same ? "of another version: " + understood.engine : "of another engine";
    }
    if (!understood.reason.empty()) {
      return understood.reason;
    }
    const auto value = validation::number_in(row[Column::value]);
    if (!value || !(*value > 0)) {
      return "the value is no number above 0";
    }
    const std::string other = difference(understood.question.deployment, options_.given);
    if (other.empty()) {
      take(row, *reading->quantity, *value * reading->unit, understood.question);
    }
    return other;
  }

  /// `value`: in seconds, or tokens a second.
  void take(const Measurement& row, Quantity quantity, double value, const validation::Question& question) {
    const Metric metric = metric_of(quantity, question.workload);
    const bool rate = validation::is_rate(quantity);
    Observation observation{.deployment = question.deployment,
                            .workload = question.workload,
                            .metric = metric,
                            .measured =
                                Seconds::from_value(rate ? tokens_of(quantity, question.workload) / value : value)};
    std::size_t column = 0;
    observation.group =
        group_of(observation, options_.group_by, [&](const std::string&) { return row.group[column++]; });
    result_.observations.push_back(std::move(observation));
  }

  const ReadOptions& options_;
  std::string engine_;
  validation::Resolver resolver_{};
  Reasons reasons_{};
  Measurements result_{};
};

} // namespace

Measurements measurement_rows(std::string_view text, std::string_view name, const ReadOptions& options) {
  std::istringstream in{std::string(text)};
  readers::CsvReader csv(in, std::string(name));
  validation::MeasurementReader rows(csv, columns_in(options.group_by), {});
  Reader reader(options);
  for (Measurement row; rows.next(row);) {
    reader.add(row);
  }
  return std::move(reader).result();
}

} // namespace tokenroof::calibration
