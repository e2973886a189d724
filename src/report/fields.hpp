/// @file
/// The flat form of a prediction, named once: the columns of CSV and the first keys of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tokenroof/report.hpp"

namespace tokenroof::report {

/// Calls `visit(name, value)` for what a deployment says; values as below.
template <class Visit>
void for_each_deployment_field(const Deployment& deployment, Visit&& visit) {
  const Parallelism& parallelism = deployment.parallelism;
  const MemoryVariant* chosen = memory(deployment.cluster.device);
  visit("schema_version", std::int64_t{schema_version});
  visit("network", std::string_view(deployment.network->name));
  visit("device", deployment.cluster.device.id.view());
  visit("memory_capacity_bytes", (chosen != nullptr ? chosen->capacity : absent<Bytes>()).value());
  visit("engine", deployment.engine->id.view());
  visit("engine_version", deployment.engine->version.view());
  visit("weight_format", deployment.weights.name.view());
  visit("kv_format", deployment.kv.name.view());
  visit("devices", deployment.cluster.devices);
  visit("tensor_parallel", parallelism.tensor);
  visit("pipeline_parallel", parallelism.pipeline);
  visit("expert_parallel", parallelism.expert);
  visit("data_parallel", parallelism.data);
  visit("host_layers", deployment.offload.host_layers);
  visit("host_expert_layers", deployment.offload.host_expert_layers);
  visit("host_cache", deployment.offload.host_cache);
  visit("mapped_from_storage", deployment.offload.mapped);
}

namespace detail {

template <class Quantity, class Visit>
void visit_estimate(std::string_view value, std::string_view low, std::string_view high,
                    const Estimate<Quantity>& estimate, double scale, Visit& visit) {
  visit(value, estimate.value.value() * scale);
  visit(low, estimate.low.value() * scale);
  visit(high, estimate.high.value() * scale);
}

} // namespace detail

/// Calls `visit(name, value)` for the workload and what is predicted; values are double (NaN: absent), std::int64_t, bool
/// or std::string_view.
template <class Visit>
void for_each_prediction_field(const Workload& workload, const Prediction& p, Visit&& visit) {
  using detail::visit_estimate;
  constexpr double milliseconds = 1e3;
  visit("batch", workload.batch);
  visit("arrival", name(workload.arrival));
  visit("prompt_tokens", workload.prompt.value());
  visit("output_tokens", workload.output.value());
  visit("context_depth_tokens", workload.context_depth.value());
  visit_estimate("ttft_ms", "ttft_low_ms", "ttft_high_ms", p.ttft, milliseconds, visit);
  visit_estimate("tpot_ms", "tpot_low_ms", "tpot_high_ms", p.tpot, milliseconds, visit);
  visit_estimate("end_to_end_ms", "end_to_end_low_ms", "end_to_end_high_ms", p.end_to_end, milliseconds, visit);
  visit_estimate("tokens_per_second_per_user", "tokens_per_second_per_user_low", "tokens_per_second_per_user_high",
                 p.tokens_per_second_per_user, 1, visit);
  visit_estimate("tokens_per_second", "tokens_per_second_low", "tokens_per_second_high", p.tokens_per_second, 1, visit);
  visit_estimate("prefill_tokens_per_second", "prefill_tokens_per_second_low", "prefill_tokens_per_second_high",
                 p.prefill_tokens_per_second, 1, visit);
  visit_estimate("peak_memory_bytes", "peak_memory_low_bytes", "peak_memory_high_bytes", p.peak_memory, 1, visit);
  visit("memory_budget_bytes", p.memory_budget.value());
  visit("fits", p.fits);
  visit("shortfall_bytes", p.shortfall.value());
  for (std::size_t i = 0; i < ledger_item_names.size(); ++i) {
    visit(std::string(ledger_item_names[i]) + "_bytes", p.ledger.items[i].value());
  }
  visit("host_weights_bytes", p.host.weights.value());
  visit("host_kv_cache_bytes", p.host.kv_cache.value());
  visit("host_budget_bytes", p.host_budget.value());
  visit("host_shortfall_bytes", p.host_shortfall.value());
  visit("weights_in_storage_bytes", p.in_storage.value());
  visit("load_peak_device_bytes", p.load.device.value());
  visit("load_clean_device_bytes", p.load.device_clean.value());
  visit("load_peak_host_bytes", p.load.host.value());
  visit("load_clean_host_bytes", p.load.host_clean.value());
  visit("cold_start_ms", p.load.cold_start.value() * milliseconds);
  visit("trust", name(p.trust));
}

} // namespace tokenroof::report
