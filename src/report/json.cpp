#include <cmath>
#include <cstdint>
#include <string>

#include "report/fields.hpp"
#include "report/json_values.hpp"
#include "report/remedy_text.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/report.hpp"
#include "tokenroof/version.hpp"

namespace tokenroof::report {

namespace {

Json milliseconds(Seconds time) { return number(time.value() * 1e3); }

/// Fills an object with the flat form.
class JsonFields {
public:
  explicit JsonFields(Json& object) : object_(object) {}

  void operator()(std::string_view name, double value) { object_[std::string(name)] = number(value); }
  void operator()(std::string_view name, std::int64_t value) { object_[std::string(name)] = value; }
  void operator()(std::string_view name, bool value) { object_[std::string(name)] = value; }
  void operator()(std::string_view name, std::string_view value) { object_[std::string(name)] = value; }

private:
  Json& object_;
};

void add_fields(Json& object, const Deployment& deployment, const Workload& workload, const Prediction& prediction) {
  for_each_deployment_field(deployment, JsonFields(object));
  for_each_prediction_field(workload, prediction, JsonFields(object));
}

/// Why each null of the flat form is null.
Json reasons(const Deployment& deployment, const Prediction& p) {
  Json reasons = Json::object();
  const auto add = [&](std::string_view reason, std::initializer_list<const char*> names) {
    for (const char* field : names) {
      if (!reason.empty()) {
        reasons[field] = reason;
      }
    }
  };
  add(reason_without_ttft(p), {"ttft_ms", "prefill_tokens_per_second"});
  add(reason_without_tpot(p), {"tpot_ms", "tokens_per_second_per_user"});
  add(reason_without_end_to_end(p), {"end_to_end_ms", "tokens_per_second"});
  if (!is_present(p.memory_budget)) {
    add("memory_size_not_stated", {"memory_capacity_bytes", "memory_budget_bytes"});
  }
  if (!is_present(p.load.cold_start)) {
    add(name(cold_start_absence(deployment)), {"cold_start_ms"});
  }
  add("not_calibrated", {"intervals"});
  return reasons;
}

Json parameters(const Network& network) {
  const ParameterCount count = count_parameters(network);
  return {{"total", count.total()},
          {"active", count.active()},
          {"active_without_embeddings", count.active_without_embeddings()},
          {"layers", layer_count(network)}};
}

Json operators(const StepCost& cost) {
  Json list = Json::array();
  for (const OperatorCost& op : cost.operators) {
    const bool timed = is_present(op.time);
    list.push_back({{"operator", name(op.name)},
                    {"roof", timed ? Json(name(op.roof)) : Json()},
                    {"share", number(share(cost, op))},
                    {"time_ms", milliseconds(op.time)},
                    {"compute_ms", milliseconds(op.compute)},
                    {"memory_ms", milliseconds(op.memory)},
                    {"flops", number(op.flops.value())},
                    {"bytes", number(op.bytes.value())},
                    {"repeats", number(op.repeats)}});
  }
  return list;
}

Json phase(const PhaseExplanation& phase) {
  const bool timed = phase.absence == Absence::none;
  Json by_roof = Json::object();
  for (std::size_t i = 0; i < roof_names.size(); ++i) {
    by_roof[std::string(roof_names[i]) + "_ms"] = milliseconds(phase.time_by_roof[i]);
  }
  return {{"reason", timed ? Json() : Json(name(phase.absence))},
          {"context_tokens", number(phase.context.value())},
          {"time_ms", milliseconds(phase.cost.time)},
          {"overhead_ms", milliseconds(phase.cost.overhead)},
          {"time_by_roof", by_roof},
          {"roof", timed ? Json(name(phase.roof)) : Json()},
          {"flops", number(phase.cost.flops.value())},
          {"bytes", number(phase.cost.bytes.value())},
          {"intensity_flops_per_byte", number(phase.intensity.value())},
          {"peak_flops_per_second", number(phase.peak.value())},
          {"ridge_flops_per_byte", number(phase.ridge.value())},
          {"mfu", number(phase.mfu)},
          {"mbu", number(phase.mbu)},
          {"operators", operators(phase.cost)}};
}

Json explanation(const Explanation& e) {
  const bool peak = e.peak.has_value();
  return {{"peak_arithmetic", peak ? Json(name(e.arithmetic)) : Json()},
          {"peak_flops_per_second", peak ? number(e.peak->value.value()) : Json()},
          {"peak_basis", peak ? Json(e.peak->basis == Basis::published ? "published" : "fitted") : Json()},
          {"bandwidth_bytes_per_second", number(e.bandwidth.value())},
          {"compute_bound_batch", number(e.compute_bound_batch)},
          {"compute_bound_batch_of_matrices", number(e.compute_bound_batch_of_matrices)},
          {"cache_exceeds_weights_tokens", number(e.cache_exceeds_weights.value())},
          {"prefill", phase(e.prefill)},
          {"decode", e.decode ? phase(*e.decode) : Json()}};
}

Json capacity(const Capacity& room) {
  const auto tokens = [](const std::optional<Tokens>& count) { return count ? number(count->value()) : Json(); };
  return {{"cache_bytes", number(room.cache.value())},
          {"fixed_bytes_per_sequence", number(room.fixed_per_sequence.value())},
          {"bytes_per_token", number(room.per_token.value())},
          {"cache_blocks", room.blocks ? number(*room.blocks) : Json()},
          {"cache_tokens", tokens(room.tokens)},
          {"sequences", number(room.sequences)},
          {"longest_context_tokens", tokens(room.context)}};
}

Json remedies(const Answer& answer) {
  if (!answer.remedies) {
    return nullptr;
  }
  Json list = Json::array();
  for (const planning::Remedy& remedy : *answer.remedies) {
    const Prediction& p = remedy.prediction;
    Json object{{"kind", name(remedy.kind)},
                {"change", change_text(remedy)},
                {"damage", number(remedy.damage)},
                {"ttft_ratio", number(remedy.ttft_ratio)},
                {"tpot_ratio", number(remedy.tpot_ratio)},
                {"margin_bytes", number(remedy.margin.value())},
                {"batched_tokens", number(batched_tokens(remedy.deployment).value())}};
    add_fields(object, remedy.deployment, remedy.workload, p);
    object["reasons"] = reasons(remedy.deployment, p);
    list.push_back(std::move(object));
  }
  return list;
}

} // namespace

Json number(double value) {
  if (!std::isfinite(value)) {
    return nullptr;
  }
  constexpr double exact = 0x1p53;
  if (value == std::floor(value) && std::abs(value) < exact) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

std::string dump(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json(const Answer& answer) {
  Json object;
  add_fields(object, answer.deployment, answer.workload, answer.prediction);
  object["tokenroof_version"] = linked_version();
  object["reasons"] = reasons(answer.deployment, answer.prediction);
  object["memory_dominated_by"] = name(dominant(answer.prediction.ledger));
  object["capacity"] = answer.capacity ? capacity(*answer.capacity) : Json();
  object["parameters"] = parameters(*answer.deployment.network);
  // What does not fit does not run, so there is no time to explain.
  object["explanation"] = answer.prediction.fits ? explanation(answer.explanation) : Json();
  object["remedies"] = remedies(answer);
  object["assumptions"] = answer.assumptions;
  return dump(object, 2);
}

std::string json_row(const Deployment& deployment, const Workload& workload, const Prediction& prediction) {
  Json object;
  add_fields(object, deployment, workload, prediction);
  return dump(object, -1);
}

} // namespace tokenroof::report
