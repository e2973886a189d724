/// @file
/// What is wrong with a deployment or a workload, field by field.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof {

/// One fault: which field, what it holds, why that cannot be.
struct Issue {
  std::string field;
  std::string value;
  std::string reason;

  friend bool operator==(const Issue&, const Issue&) = default;
};

/// More sequences, tokens or devices than any real deployment has: what is larger is a slip of the pen.
inline constexpr std::int64_t most_sequences = 10'000'000;
inline constexpr Tokens most_tokens = Tokens::from_value(1e9);
inline constexpr std::int64_t most_devices = 1'000'000;

namespace detail {

/// Whole numbers, which tokens are meant to be, without a fraction.
[[nodiscard]] inline std::string as_text(double number) {
  constexpr double exact = 0x1p53;
  const bool whole = number == std::floor(number) && std::abs(number) < exact;
  return whole ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number);
}

class Checker {
public:
  [[nodiscard]] std::vector<Issue> issues() && { return std::move(issues_); }

  void report(std::string field, std::string value, std::string reason) {
    issues_.push_back({std::move(field), std::move(value), std::move(reason)});
  }

  void range(const char* field, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most) {
      report(field, std::to_string(value), "must lie in 1.." + std::to_string(most));
    }
  }

  void tokens(const char* field, Tokens value, double least) {
    const double number = value.value();
    if (!(number >= least && number <= most_tokens.value()) || number != std::floor(number)) {
      report(field, as_text(number),
             "must be a whole number of tokens in " + std::to_string(static_cast<std::int64_t>(least)) +
                 "..1000000000");
    }
  }

  void network(const Network& network) {
    range("network.hidden", network.hidden, std::int64_t{1} << 32);
    range("network.vocabulary", network.vocabulary, std::int64_t{1} << 32);
    if (network.layers.empty()) {
      report("network.layers", "0", "a network has at least one layer");
    }
    for (const LayerRun& run : network.layers) {
      range("network.layers.count", run.count, 1'000'000);
      for (const Mixer& mixer : run.block.mixers) {
        if (const auto* attention = std::get_if<GroupedQueryAttention>(&mixer)) {
          this->attention(*attention);
        }
      }
      if (run.block.feed_forward) {
        if (const auto* moe = std::get_if<MixtureOfExperts>(&*run.block.feed_forward)) {
          experts(*moe);
        }
      }
    }
  }

  void attention(const GroupedQueryAttention& attention) {
    range("network.attention.heads", attention.heads, 1'000'000);
    range("network.attention.kv_heads", attention.kv_heads, 1'000'000);
    range("network.attention.head_dim", attention.head_dim, 1'000'000);
    range("network.attention.value_head_dim", attention.value_head_dim, 1'000'000);
    if (attention.kv_heads > 0 && attention.heads % attention.kv_heads != 0) {
      report("network.attention.kv_heads", std::to_string(attention.kv_heads),
             "must divide the " + std::to_string(attention.heads) + " query heads");
    }
    if (attention.window && !(attention.window->value() >= 1)) {
      report("network.attention.window", std::to_string(attention.window->value()), "a query sees at least itself");
    }
  }

  void experts(const MixtureOfExperts& moe) {
    range("network.experts", moe.experts, 1'000'000);
    if (moe.active < 1 || moe.active > moe.experts) {
      report("network.experts.active", std::to_string(moe.active),
             "must lie in 1.." + std::to_string(moe.experts) + ", the number of experts");
    }
  }

  void parallelism(const Parallelism& parallelism, std::int64_t devices) {
    range("tensor_parallel", parallelism.tensor, most_devices);
    range("pipeline_parallel", parallelism.pipeline, most_devices);
    range("data_parallel", parallelism.data, most_devices);
    range("expert_parallel", parallelism.expert, most_devices);
    range("devices", devices, most_devices);
    if (!issues_.empty()) {
      return;
    }
    const std::int64_t needed = device_count(parallelism);
    if (needed != devices) {
      report("devices", std::to_string(devices),
             "must equal tensor x pipeline x data parallel degree = " + std::to_string(needed));
    }
    const std::int64_t ranks = parallelism.tensor * parallelism.data;
    const bool nested = parallelism.tensor % parallelism.expert == 0 || parallelism.expert % parallelism.tensor == 0;
    if (ranks % parallelism.expert != 0 || !nested) {
      report("expert_parallel", std::to_string(parallelism.expert),
             "must divide the tensor x data parallel ranks (" + std::to_string(ranks) +
                 ") and divide, or be a multiple of, the tensor parallel degree");
    }
  }

  void settings(const EngineSettings& settings) {
    if (settings.batched_tokens) {
      tokens("batched_tokens", *settings.batched_tokens, 1);
    }
    if (settings.most_sequences) {
      range("most_sequences", *settings.most_sequences, most_sequences);
    }
    if (settings.memory_fraction && !(*settings.memory_fraction > 0 && *settings.memory_fraction <= 1)) {
      report("memory_fraction", std::to_string(*settings.memory_fraction), "must be above 0 and at most 1");
    }
  }

  void split(const Network& network, const Parallelism& parallelism) {
    if (parallelism.pipeline > layer_count(network)) {
      report("pipeline_parallel", std::to_string(parallelism.pipeline),
             "exceeds the network's " + std::to_string(layer_count(network)) + " layers");
    }
    Count experts = 0;
    for (const LayerRun& run : network.layers) {
      for (const Mixer& mixer : run.block.mixers) {
        std::visit([&](const auto& kind) { heads(kind, parallelism.tensor); }, mixer);
      }
      const auto* moe = run.block.feed_forward ? std::get_if<MixtureOfExperts>(&*run.block.feed_forward) : nullptr;
      experts = moe ? moe->experts : experts;
    }
    if (parallelism.expert > 1 && experts % parallelism.expert != 0) {
      report("expert_parallel", std::to_string(parallelism.expert),
             "must divide the network's " + std::to_string(experts) + " experts");
    }
    if (parallelism.expert > 1 && experts == 0) {
      report("expert_parallel", std::to_string(parallelism.expert), "the network has no experts");
    }
  }

  void heads(const GroupedQueryAttention& attention, std::int64_t tensor) {
    divides("heads", attention.heads, tensor);
    if (attention.kv_heads % tensor != 0 && tensor % attention.kv_heads != 0) {
      report("tensor_parallel", std::to_string(tensor),
             "neither divides nor is a multiple of the network's " + std::to_string(attention.kv_heads) +
                 " key/value heads");
    }
  }
  void heads(const LatentAttention& attention, std::int64_t tensor) { divides("heads", attention.heads, tensor); }
  void heads(const StateSpace& mixer, std::int64_t tensor) { divides("state-space heads", mixer.heads, tensor); }
  void heads(const LinearAttention& mixer, std::int64_t tensor) { divides("value heads", mixer.value_heads, tensor); }
  void heads(const CompressedAttention& attention, std::int64_t tensor) {
    divides("heads", attention.heads, tensor);
    divides("groups of heads", attention.output_groups, tensor);
  }
  void heads(const SelectiveScan& mixer, std::int64_t tensor) { divides("state-space channels", mixer.inner, tensor); }
  void heads(const ShortConvolution&, std::int64_t) {}
  void heads(const LinearMap&, std::int64_t) {}

private:
  void divides(const char* what, Count heads, std::int64_t tensor) {
    if (heads % tensor != 0) {
      report("tensor_parallel", std::to_string(tensor),
             "must divide the network's " + std::to_string(heads) + " " + what);
    }
  }

  std::vector<Issue> issues_;
};

/// On a system on chip a unit that is not listed may exist with its rates unknown; a board has what it lists.
inline void check_unit(Checker& checker, const Engine& engine, const Device& device) {
  if (is_board(device.device_class) && engine.unit && !compute_unit(device, *engine.unit)) {
    checker.report("engine", std::string(engine.id.view()),
                   "runs on a device's " + std::string(name(*engine.unit)) + ", and " + std::string(device.id.view()) +
                       " has none");
  }
}

inline void check_links(Checker& checker, const Deployment& deployment) {
  const Parallelism& parallelism = deployment.parallelism;
  const std::int64_t group = std::max(parallelism.tensor, parallelism.expert);
  if (group > 1 && !link_of_group(deployment.cluster, group)) {
    checker.report("cluster.link", "missing",
                   "no bandwidth is known between " + std::to_string(group) + " devices of this kind; give one");
  }
  const std::int64_t stages = parallelism.tensor * parallelism.pipeline;
  if (parallelism.pipeline > 1 && !link_of_group(deployment.cluster, stages)) {
    checker.report("cluster.link", "missing",
                   "no bandwidth is known between " + std::to_string(stages) + " devices of this kind; give one");
  }
}

/// A count of layers that lie in host memory.
inline void check_host_layers(Checker& checker, const char* field, Count count, Count layers) {
  if (count < 0 || count > layers) {
    checker.report(field, std::to_string(count), "must lie in 0.." + std::to_string(layers) + ", the network's layers");
  }
}

[[nodiscard]] inline bool has_experts(const Network& network) {
  return std::any_of(network.layers.begin(), network.layers.end(), [](const LayerRun& run) {
    return run.block.feed_forward && std::holds_alternative<MixtureOfExperts>(*run.block.feed_forward);
  });
}

/// What an engine cannot put into host memory, and devices that have no host beside themselves.
inline void check_host_use(Checker& checker, const Deployment& deployment) {
  const Device& device = deployment.cluster.device;
  const Parallelism& parallelism = deployment.parallelism;
  const OffloadStyle style = deployment.engine->offload.style;
  if (shares_host_memory(device.device_class)) {
    checker.report(
        "offload", std::string(device.id.view()),
        "has no host: its memory is that of its processor, and moving parts of a network within it gains nothing");
  } else if (style == OffloadStyle::none) {
    checker.report("offload", std::string(deployment.engine->id.view()), "keeps nothing in host memory");
  } else if (style != OffloadStyle::streamed && device_count(parallelism) != parallelism.pipeline) {
    checker.report("offload", std::to_string(device_count(parallelism)) + " devices",
                   "one host computes for one replica: only pipeline stages go with that");
  } else if (style == OffloadStyle::streamed && parallelism.pipeline > 1) {
    checker.report("offload", std::to_string(parallelism.pipeline) + " stages",
                   "streaming from host memory is modelled for one pipeline stage");
  }
  const Count left = layer_count(*deployment.network) - deployment.offload.host_layers;
  if (left < parallelism.pipeline && parallelism.pipeline > 1) {
    checker.report("offload.host_layers", std::to_string(deployment.offload.host_layers),
                   "leaves fewer layers than pipeline stages");
  }
  if (deployment.offload.host_expert_layers > 0 && !has_experts(*deployment.network)) {
    checker.report("offload.host_expert_layers", std::to_string(deployment.offload.host_expert_layers),
                   "the network has no experts");
  }
}

/// Mapped weights fill the memory that is left, so that its size must be known, and be of one device.
inline void check_mapping(Checker& checker, const Deployment& deployment) {
  const Cluster& cluster = deployment.cluster;
  const LoadStyle style = deployment.engine->load.style;
  if (style != LoadStyle::in_place && style != LoadStyle::mapped) {
    checker.report("offload.mapped", std::string(deployment.engine->id.view()), "does not compute with mapped files");
  }
  if (!shares_host_memory(cluster.device.device_class)) {
    if (!uses_host(deployment.offload)) {
      checker.report("offload.mapped", std::string(cluster.device.id.view()),
                     "copies all weights into its own memory; only what lies in host memory can stay mapped");
    } else if (!cluster.host || !cluster.host->memory) {
      checker.report("host.memory", "not stated", "how much of a mapped file stays in memory depends on it; state it");
    }
  } else if (cluster.devices > 1) {
    checker.report("offload.mapped", std::to_string(cluster.devices) + " devices",
                   "mapping from storage is modelled for one device");
  } else if (memory(cluster.device) == nullptr) {
    checker.report("device.memory", "not stated", "how much of a mapped file stays in memory depends on it; state it");
  }
}

inline void check_offload(Checker& checker, const Deployment& deployment) {
  const Offload& offload = deployment.offload;
  const Count layers = layer_count(*deployment.network);
  check_host_layers(checker, "offload.host_layers", offload.host_layers, layers);
  check_host_layers(checker, "offload.host_expert_layers", offload.host_expert_layers, layers);
  if (uses_host(offload)) {
    check_host_use(checker, deployment);
  }
  if (offload.mapped) {
    check_mapping(checker, deployment);
  }
}

} // namespace detail

/// All faults of a deployment; empty when there are none. Does not throw.
[[nodiscard]] inline std::vector<Issue> check(const Deployment& deployment) {
  detail::Checker checker;
  if (!deployment.network) {
    checker.report("network", "none", "a deployment needs a network");
  }
  if (!deployment.engine) {
    checker.report("engine", "none", "a deployment needs an engine");
  }
  if (!deployment.network || !deployment.engine) {
    return std::move(checker).issues();
  }
  checker.network(*deployment.network);
  checker.parallelism(deployment.parallelism, deployment.cluster.devices);
  checker.settings(deployment.settings);
  detail::check_unit(checker, *deployment.engine, deployment.cluster.device);
  std::vector<Issue> issues = std::move(checker).issues();
  if (!issues.empty()) {
    return issues; // the rest divides by what was just found faulty
  }
  detail::Checker of_split;
  of_split.split(*deployment.network, deployment.parallelism);
  detail::check_links(of_split, deployment);
  detail::check_offload(of_split, deployment);
  return std::move(of_split).issues();
}

/// All faults of a workload; empty when there are none. Does not throw.
[[nodiscard]] inline std::vector<Issue> check(const Workload& workload) {
  detail::Checker checker;
  checker.range("batch", workload.batch, most_sequences);
  checker.tokens("prompt", workload.prompt, 1);
  checker.tokens("output", workload.output, 1);
  checker.tokens("context_depth", workload.context_depth, 0);
  if (const double requests = workload.requests_per_client; !(requests == 0 || (requests >= 1 && requests <= 1e9))) {
    checker.report("requests_per_client", std::to_string(requests), "must be 1 to 1e9, or 0 for steady state");
  }
  return std::move(checker).issues();
}

/// Throws InvalidSpec for the first of some faults.
inline void require_none(const std::vector<Issue>& issues) {
  if (!issues.empty()) {
    throw InvalidSpec(issues.front().field, issues.front().value, issues.front().reason);
  }
}

} // namespace tokenroof
