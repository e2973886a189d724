#include "report/remedy_text.hpp"

#include <fmt/format.h>

#include "tokenroof/text.hpp"

namespace tokenroof::report {

std::string change_text(const planning::Remedy& remedy) {
  using enum planning::RemedyKind;
  const Deployment& to = remedy.deployment;
  switch (remedy.kind) {
  case weight_format:
    return fmt::format("weights {}", to.weights.name.view());
  case kv_format:
    return fmt::format("KV cache {}", to.kv.name.view());
  case weight_and_kv_format:
    return fmt::format("weights {} and KV cache {}", to.weights.name.view(), to.kv.name.view());
  case context:
    return remedy.workload.context_depth.value() > 0
               ? fmt::format("{} cached before", to_text(remedy.workload.context_depth))
               : fmt::format("prompt {}", to_text(remedy.workload.prompt));
  case sequences:
    return fmt::format("batch {}", remedy.workload.batch);
  case batched_tokens:
    return fmt::format("passes of {}", to_text(*to.settings.batched_tokens));
  case tensor_parallel:
    return fmt::format("{} devices, tensor parallel {}", to.cluster.devices, to.parallelism.tensor);
  case pipeline_parallel:
    return fmt::format("{} devices, pipeline parallel {}", to.cluster.devices, to.parallelism.pipeline);
  case host_experts:
    return fmt::format("experts of {} layers on the host", to.offload.host_expert_layers);
  case host_layers:
    return fmt::format("{} of {} layers on the host", to.offload.host_layers, layer_count(*to.network));
  case memory_size:
    return fmt::format("{} with {}", to.cluster.device.id.view(), to_text(memory(to.cluster.device)->capacity));
  }
  return {};
}

} // namespace tokenroof::report
