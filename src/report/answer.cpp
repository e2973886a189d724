#include <utility>

#include "tokenroof/report.hpp"

namespace tokenroof::report {

Answer answer(Deployment deployment, const Workload& workload) {
  require_none(check(deployment));
  require_none(check(workload));
  const StepModels models = step_models(deployment);
  Prediction prediction = predict(bind_phases(models, deployment, workload), deployment, workload);
  Explanation explanation = explain(models, deployment, workload);
  std::optional<Capacity> room;
  if (const MemoryVariant* variant = memory(deployment.cluster.device)) {
    room = capacity(deployment, workload, *variant);
  }
  return {.deployment = std::move(deployment),
          .workload = workload,
          .prediction = std::move(prediction),
          .explanation = std::move(explanation),
          .capacity = room};
}

std::string_view reason_without_ttft(const Prediction& prediction) {
  return prediction.ttft.has_value() ? std::string_view() : name(prediction.ttft_absence);
}

std::string_view reason_without_tpot(const Prediction& prediction) {
  if (prediction.tpot.has_value()) {
    return {};
  }
  return prediction.tpot_absence == Absence::none ? "single_output_token" : name(prediction.tpot_absence);
}

std::string_view reason_without_end_to_end(const Prediction& prediction) {
  if (prediction.end_to_end.has_value()) {
    return {};
  }
  return prediction.ttft_absence != Absence::none ? name(prediction.ttft_absence) : name(prediction.tpot_absence);
}

} // namespace tokenroof::report
