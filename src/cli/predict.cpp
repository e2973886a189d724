#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/planning/remedies.hpp"
#include "tokenroof/report.hpp"
#include "tokenroof/text.hpp"

namespace tokenroof::cli {

namespace {

Workload workload_of(const PredictOptions& options) {
  const auto tokens = [](std::int64_t count) { return Tokens::from_value(static_cast<double>(count)); };
  Workload workload{.batch = options.batch,
                    .prompt = tokens(options.prompt),
                    .output = tokens(options.output),
                    .context_depth = tokens(options.context_depth)};
  if (options.concurrency) {
    workload.batch = *options.concurrency;
    workload.arrival = Arrival::closed_loop;
  }
  if (options.requests) {
    workload.requests_per_client = static_cast<double>(*options.requests) / static_cast<double>(workload.batch);
  }
  return workload;
}

void write_answer(const report::Answer& answer, OutputForm form) {
  switch (form) {
  case OutputForm::text:
    write(report::text(answer, {.styled = stdout_is_styled()}));
    return;
  case OutputForm::json:
    write(report::json(answer) + "\n");
    return;
  case OutputForm::csv: {
    std::string rows = report::csv_header();
    report::CsvRows(answer.deployment).append(rows, answer.workload, answer.prediction);
    write(rows);
    return;
  }
  }
}

/// Checkpoints that are published for most networks; those of a Mac's own format beside Macs alone.
std::vector<WeightScheme> usual_checkpoints(const Device& device) {
  std::vector<const char*> names = {"fp8", "int8", "nvfp4", "int4-g128"};
  if (device.device_class == DeviceClass::apple_mac) {
    names = {"mlx-8bit", "mlx-6bit", "mlx-4bit", "mlx-3bit"};
  }
  std::vector<WeightScheme> schemes;
  schemes.reserve(names.size());
  for (const char* name : names) {
    schemes.push_back(scheme(name));
  }
  return schemes;
}

std::vector<WeightScheme> ggml_mixtures() {
  std::vector<WeightScheme> mixtures;
  const std::vector<WeightScheme>& all = weight_schemes();
  std::copy_if(all.begin(), all.end(), std::back_inserter(mixtures),
               [](const WeightScheme& scheme) { return scheme.format.encoding == Encoding::ggml; });
  return mixtures;
}

/// What an engine could load instead: ggml's mixtures where its kernels multiply ggml's blocks, else checkpoints.
planning::Candidates candidates_for(const Deployment& deployment) {
  const Device& device = deployment.cluster.device;
  const bool ggml = deployment.weights.format.encoding == Encoding::ggml ||
                    constants_for(*deployment.engine, device).quantised_arithmetic.has_value();
  return {.weights = ggml ? ggml_mixtures() : usual_checkpoints(device),
          .kv = ggml ? std::vector{*find_format("Q8_0"), *find_format("Q4_0")} : std::vector{*find_format("fp8")}};
}

} // namespace

int predict(const PredictOptions& options) {
  ResolvedDeployment resolved = resolve(options.deployment);
  report::Answer answer = report::answer(std::move(resolved.deployment), workload_of(options));
  answer.assumptions = std::move(resolved.assumptions);
  if (!answer.prediction.fits) {
    answer.remedies = planning::remedies(answer.deployment, answer.workload, candidates_for(answer.deployment));
  }
  write_answer(answer, options.form);
  flush();
  if (options.require_fit && !answer.prediction.fits) {
    const Prediction& prediction = answer.prediction;
    complain(prediction.shortfall.value() > 0
                 ? "does not fit: " + to_text(prediction.shortfall) + " short, most of it " +
                       std::string(name(dominant(prediction.ledger)))
                 : "does not fit the host: " + to_text(prediction.host_shortfall) + " short");
    return does_not_fit;
  }
  return success;
}

} // namespace tokenroof::cli
