#include <utility>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "tokenroof/report.hpp"
#include "tokenroof/text.hpp"

namespace tokenroof::cli {

namespace {

Workload workload_of(const PredictOptions& options) {
  const auto tokens = [](std::int64_t count) { return Tokens::from_value(static_cast<double>(count)); };
  return {.batch = options.batch,
          .prompt = tokens(options.prompt),
          .output = tokens(options.output),
          .context_depth = tokens(options.context_depth)};
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

} // namespace

int predict(const PredictOptions& options) {
  ResolvedDeployment resolved = resolve(options.deployment);
  report::Answer answer = report::answer(std::move(resolved.deployment), workload_of(options));
  answer.assumptions = std::move(resolved.assumptions);
  write_answer(answer, options.form);
  flush();
  if (options.require_fit && !answer.prediction.fits) {
    const Prediction& prediction = answer.prediction;
    complain(prediction.shortfall.value() > 0
                 ? "does not fit: " + to_text(prediction.shortfall) + " short"
                 : "does not fit the host: " + to_text(prediction.host_shortfall) + " short");
    return does_not_fit;
  }
  return success;
}

} // namespace tokenroof::cli
