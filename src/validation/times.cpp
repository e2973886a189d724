#include "validation/times.hpp"

#include <algorithm>
#include <string>

#include "tokenroof/predict.hpp"

namespace tokenroof::validation {

namespace {

/// What was measured did run: times do not depend on whether we believe that it fits.
Prediction times(const Question& q) {
  Prediction prediction;
  detail::set_times(prediction, bind_phases(step_models(q.deployment), q.deployment, q.workload), q.deployment,
                    q.workload);
  return prediction;
}

template <class Quantity>
Answer answer(const Estimate<Quantity>& estimate, Absence absence, double factor = 1) {
  if (!estimate.has_value()) {
    return {.reason = "no time: " + std::string(name(absence))};
  }
  return {.value = estimate.value.value() * factor,
          .low = estimate.low.value() * factor,
          .high = estimate.high.value() * factor};
}

Absence of_whole(const Prediction& prediction) {
  return prediction.ttft_absence != Absence::none ? prediction.ttft_absence : prediction.tpot_absence;
}

} // namespace

Answer ttft(const Question& q) {
  const Prediction prediction = times(q);
  return answer(prediction.ttft, prediction.ttft_absence);
}

Answer tpot(const Question& q) {
  const Prediction prediction = times(q);
  return answer(prediction.tpot, prediction.tpot_absence);
}

Answer end_to_end(const Question& q) {
  const Prediction prediction = times(q);
  return answer(prediction.end_to_end, of_whole(prediction));
}

Answer prefill_rate(const Question& q) {
  const Prediction prediction = times(q);
  return answer(prediction.prefill_tokens_per_second, prediction.ttft_absence);
}

Answer decode_rate(const Question& q) {
  const Prediction prediction = times(q);
  return answer(prediction.tokens_per_second_per_user, prediction.tpot_absence, static_cast<double>(q.workload.batch));
}

Answer output_rate(const Question& q) {
  const Prediction prediction = times(q);
  return answer(prediction.tokens_per_second, of_whole(prediction));
}

} // namespace tokenroof::validation
