#include "calibration/measurement_rows.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "calibration/collector.hpp"
#include "readers/csv_reader.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "validation/measurement.hpp"
#include "validation/question.hpp"

namespace tokenroof::calibration {

namespace {

using validation::Column;
using validation::Measurement;

struct Reading {
  std::string_view metric;
  Metric time = Metric::ttft;
  double (*seconds)(double value, const Workload& workload) = nullptr;
};

double tokens_of_prompts(const Workload& w) { return w.prompt.value() * static_cast<double>(w.batch); }
double tokens_of_outputs(const Workload& w) { return w.output.value() * static_cast<double>(w.batch); }

constexpr std::array<Reading, 7> readings = {{
    {"ttft_ms", Metric::ttft, [](double x, const Workload&) { return x * 1e-3; }},
    {"tpot_ms", Metric::tpot, [](double x, const Workload&) { return x * 1e-3; }},
    {"e2e_latency_ms", Metric::end_to_end, [](double x, const Workload&) { return x * 1e-3; }},
    {"prefill_tok_per_s", Metric::ttft, [](double x, const Workload& w) { return tokens_of_prompts(w) / x; }},
    {"decode_tok_per_s", Metric::tpot, [](double x, const Workload& w) { return static_cast<double>(w.batch) / x; }},
    {"output_tok_per_s_per_user", Metric::tpot, [](double x, const Workload&) { return 1 / x; }},
    {"output_tok_per_s_total", Metric::end_to_end,
     [](double x, const Workload& w) { return tokens_of_outputs(w) / x; }},
}};

const Reading* reading_of(const std::string& metric) {
  const auto found =
      std::find_if(readings.begin(), readings.end(), [&](const Reading& reading) { return reading.metric == metric; });
  return found != readings.end() ? &*found : nullptr;
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
    const Reading* const reading = reading_of(row[Column::metric]);
    if (reading == nullptr) {
      return "the metric is no time: " + row[Column::metric].substr(0, 64);
    }
    const std::string& batching = row[Column::batching];
    if (!batching.empty() && batching != "single-stream" && batching != "static") {
      return "no static batch: " + batching.substr(0, 64);
    }
    const validation::Understood understood = resolver_.understand(row, validation::Quantity::process_peak, {});
    if (!understood.engine.empty() && understood.engine != engine_) {
      return "of another engine: " + understood.engine;
    }
    if (!understood.reason.empty()) {
      return understood.reason;
    }
    const auto value = validation::number_in(row[Column::value]);
    if (!value || !(*value > 0)) {
      return "the value is no number above 0";
    }
    take(row, *reading, *value, understood.question);
    return {};
  }

  void take(const Measurement& row, const Reading& reading, double value, const validation::Question& question) {
    Observation observation{.deployment = question.deployment,
                            .workload = question.workload,
                            .metric = reading.time,
                            .measured = Seconds::from_value(reading.seconds(value, question.workload))};
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
