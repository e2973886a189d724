#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "calibration/benchmarks.hpp"
#include "calibration/named_deployment.hpp"

namespace tokenroof::calibration {

namespace {

Names names_in(const Record& record) {
  return {.networks = {record.text("model_id"), record.text("model"), record.text("model_path"),
                       record.text("tokenizer_id")},
          .device = record.text("device")};
}

constexpr double most_clients = 1e6;

Tokens tokens(double count) { return Tokens::from_value(std::round(count)); }

/// The clients' mean request; nothing where the record does not tell. How much lengths vary no benchmark writes down.
std::optional<Workload> mean_request(const Record& record, double clients) {
  const auto requests = record.number_of({"completed", "num_prompts"});
  const auto input = record.number_of({"total_input_tokens", "total_input"});
  const auto output = record.number_of({"total_output_tokens", "total_output"});
  if (!requests || !input || !output || !(*requests >= 1) || !(*input >= *requests) || !(*output >= *requests)) {
    return std::nullopt;
  }
  return Workload{.batch = static_cast<std::int64_t>(clients),
                  .prompt = tokens(*input / *requests),
                  .output = tokens(*output / *requests),
                  .arrival = Arrival::closed_loop,
                  .requests_per_client = std::max(*requests / clients, 1.0)};
}

struct Time {
  Metric metric = Metric::ttft;
  std::array<std::string_view, 2> names{}; ///< median and mean
};

constexpr std::array<Time, 3> serving_times = {{
    {Metric::ttft, {"median_ttft_ms", "mean_ttft_ms"}},
    {Metric::tpot, {"median_tpot_ms", "mean_tpot_ms"}},
    {Metric::end_to_end, {"median_e2el_ms", "mean_e2el_ms"}},
}};

void add(Understood& understood, const Deployment& deployment, const Workload& workload, Metric metric,
         std::optional<double> seconds) {
  const bool possible = metric != Metric::tpot || workload.output > Tokens::from_value(1);
  if (seconds && *seconds > 0 && possible) {
    understood.observations.push_back(
        {.deployment = deployment, .workload = workload, .metric = metric, .measured = Seconds::from_value(*seconds)});
  }
}

std::optional<double> in_seconds(std::optional<double> milliseconds) {
  return milliseconds ? std::optional(*milliseconds * 1e-3) : std::nullopt;
}

} // namespace

bool is_serving_benchmark(const Record& record) {
  return record.has("request_throughput") && (record.has("mean_ttft_ms") || record.has("mean_tpot_ms"));
}

Understood understand_serving_benchmark(const Record& record, const ReadOptions& options) {
  const auto clients = record.number("max_concurrency");
  if (!clients || !(*clients >= 1) || !(*clients <= most_clients)) {
    return {.reason = "requests arrive at a rate of their own (no max_concurrency)"};
  }
  const std::optional<Workload> workload = mean_request(record, *clients);
  if (!workload) {
    return {.reason = "no numbers of requests and tokens (completed, total_input_tokens, total_output_tokens)"};
  }
  const NamedDeployment named = deployment_of(names_in(record), options);
  Understood understood{.reason = named.reason};
  if (!named.reason.empty()) {
    return understood;
  }
  for (const Time& time : serving_times) {
    // Of one client the median, since the first requests warm up; of several the mean, which is what waiting adds up to.
    const std::size_t first = *clients > 1 ? 1 : 0;
    add(understood, named.deployment, *workload, time.metric,
        in_seconds(record.number_of({time.names[first], time.names[1 - first]})));
  }
  understood.reason = understood.observations.empty() ? "no time above 0" : "";
  return understood;
}

bool is_one_batch(const Record& record) {
  return record.has("batch_size") && record.has("input_len") && record.has("prefill_latency");
}

Understood understand_one_batch(const Record& record, const ReadOptions& options) {
  const auto batch = record.number("batch_size");
  const auto input = record.number("input_len");
  const auto output = record.number("output_len");
  if (!batch || !input || !output || !(*batch >= 1) || !(*batch <= 1e6) || !(*input >= 1) || !(*output >= 1)) {
    return {.reason = "no batch, input or output (batch_size, input_len, output_len)"};
  }
  const NamedDeployment named = deployment_of(names_in(record), options);
  Understood understood{.reason = named.reason};
  if (!named.reason.empty()) {
    return understood;
  }
  const Workload workload{
      .batch = static_cast<std::int64_t>(*batch), .prompt = tokens(*input), .output = tokens(*output)};
  add(understood, named.deployment, workload, Metric::ttft, record.number("prefill_latency"));
  add(understood, named.deployment, workload, Metric::tpot, record.number("median_decode_latency"));
  understood.reason = understood.observations.empty() ? "no time above 0" : "";
  return understood;
}

} // namespace tokenroof::calibration
