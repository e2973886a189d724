/// @file
/// What to change when a deployment does not fit: the nearest change of each kind that does, and what it costs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/predict.hpp"

namespace tokenroof::planning {

enum class RemedyKind : std::uint8_t {
  weight_format,
  kv_format,
  weight_and_kv_format, ///< looked for where neither alone suffices
  context,              ///< fewer tokens: of the context cached before, then of the prompt
  sequences,
  batched_tokens, ///< fewer tokens a pass: prompts in chunks
  tensor_parallel,
  pipeline_parallel,
  host_experts,
  host_layers,
  memory_size, ///< the same device with more memory
};

inline constexpr std::array<std::string_view, 11> remedy_names = {
    "weight_format",   "kv_format",         "weight_and_kv_format", "context",     "sequences",  "batched_tokens",
    "tensor_parallel", "pipeline_parallel", "host_experts",         "host_layers", "memory_size"};

[[nodiscard]] constexpr std::string_view name(RemedyKind kind) { return remedy_names[static_cast<std::size_t>(kind)]; }

/// What may stand in for what a deployment has.
struct Candidates {
  std::vector<WeightScheme> weights{};
  std::vector<Format> kv{};
  std::int64_t most_devices = 8;
};

/// One change that makes a workload fit, evaluated.
struct Remedy {
  RemedyKind kind = RemedyKind::weight_format;
  Deployment deployment{}; ///< as changed
  Workload workload{};     ///< as changed
  Prediction prediction{};
  /// Times as parts of those that the unchanged question would have if memory were no limit; absent (NaN) where either is.
  double ttft_ratio = std::numeric_limits<double>::quiet_NaN();
  double tpot_ratio = std::numeric_limits<double>::quiet_NaN();
  Bytes margin{}; ///< of the device's budget that stays free; absent where every size it is sold in would do
  /// How much is lost, for ranking: doublings of end-to-end time and of devices or memory, halvings of bytes a weight or
  /// cached element, of tokens and of sequences, added up. What has no time counts `unknown_time` doublings.
  double damage = 0;
};

inline constexpr double unknown_time = 10;

namespace detail {

/// The times of a question if memory were no limit.
[[nodiscard]] inline Prediction unlimited(const Deployment& deployment, const Workload& workload) {
  Prediction prediction;
  tokenroof::detail::set_times(prediction, bind_phases(step_models(deployment), deployment, workload), deployment,
                               workload);
  return prediction;
}

/// Doublings from a smaller amount to a larger one; none the other way.
[[nodiscard]] inline double doublings(double from, double to) { return to > from ? std::log2(to / from) : 0; }

[[nodiscard]] inline double memory_bytes(const Device& device) {
  const MemoryVariant* variant = memory(device);
  return variant != nullptr ? variant->capacity.value() : 0;
}

/// A question that does not fit, and the tools to try changes of it.
class Search {
public:
  Search(Deployment deployment, Workload workload, const Candidates& candidates)
      : deployment_(std::move(deployment)), workload_(std::move(workload)), candidates_(candidates) {
    choose_largest_memory();
    reference_ = unlimited(deployment_, workload_);
  }

  [[nodiscard]] std::vector<Remedy> remedies() {
    formats();
    tokens();
    devices();
    host();
    memory_size();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Remedy& a, const Remedy& b) { return a.damage < b.damage; });
    return std::move(found_);
  }

private:
  /// What fits no size that is sold is tried on the largest.
  void choose_largest_memory() {
    Device& device = deployment_.cluster.device;
    if (memory(device) != nullptr) {
      return;
    }
    const auto first = device.memory_variants.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(device.memory_variant_count);
    const auto largest = std::max_element(
        first, last, [](const MemoryVariant& a, const MemoryVariant& b) { return a.capacity < b.capacity; });
    device.chosen_memory = static_cast<std::size_t>(largest - first);
  }

  [[nodiscard]] double damage(const Remedy& remedy) const {
    const Deployment& to = remedy.deployment;
    const Seconds time = remedy.prediction.end_to_end.value;
    const Seconds before = reference_.end_to_end.value;
    const bool timed = is_present(time) || !is_present(before);
    const auto bytes = [](const Deployment& d) { return weight_bytes(*d.network, d.weights).value(); };
    const auto devices = [](const Deployment& d) { return static_cast<double>(d.cluster.devices); };
    return (timed ? doublings(before.value(), time.value()) : unknown_time) + doublings(bytes(to), bytes(deployment_)) +
           doublings(bytes_per_element(to.kv), bytes_per_element(deployment_.kv)) +
           doublings(final_context(remedy.workload).value(), final_context(workload_).value()) +
           doublings(static_cast<double>(remedy.workload.batch), static_cast<double>(workload_.batch)) +
           doublings(devices(deployment_), devices(to)) +
           doublings(memory_bytes(deployment_.cluster.device), memory_bytes(to.cluster.device));
  }

  /// The change, if it is one that can be and fits.
  [[nodiscard]] std::optional<Remedy> fitting(RemedyKind kind, Deployment deployment, const Workload& workload) const {
    if (!check(deployment).empty()) {
      return std::nullopt;
    }
    Remedy remedy{.kind = kind, .prediction = predict(deployment, workload)};
    if (!remedy.prediction.fits) {
      return std::nullopt;
    }
    remedy.deployment = std::move(deployment);
    remedy.workload = workload;
    remedy.ttft_ratio = remedy.prediction.ttft.value / reference_.ttft.value;
    remedy.tpot_ratio = remedy.prediction.tpot.value / reference_.tpot.value;
    remedy.margin = remedy.prediction.memory_budget - remedy.prediction.peak_memory.value;
    remedy.damage = damage(remedy);
    return remedy;
  }

  bool keep(std::optional<Remedy> remedy) {
    if (!remedy) {
      return false;
    }
    found_.push_back(std::move(*remedy));
    return true;
  }

  /// The smallest `amount` of 1..most for which `change(amount)` fits, given that more of it never takes more memory.
  template <class Change>
  void keep_smallest(std::int64_t most, Change&& change) {
    std::optional<Remedy> best = most > 0 ? change(most) : std::nullopt;
    if (!best) {
      return;
    }
    std::int64_t too_little = 0;
    std::int64_t enough = most;
    while (enough - too_little > 1) {
      const std::int64_t middle = too_little + (enough - too_little) / 2;
      if (std::optional<Remedy> smaller_change = change(middle)) {
        best = std::move(smaller_change);
        enough = middle;
      } else {
        too_little = middle;
      }
    }
    keep(std::move(best));
  }

  /// Weight schemes smaller than the one there is, the largest first.
  [[nodiscard]] std::vector<WeightScheme> smaller_weights() const {
    std::vector<std::pair<double, const WeightScheme*>> sized;
    const double now = weight_bytes(*deployment_.network, deployment_.weights).value();
    for (const WeightScheme& scheme : candidates_.weights) {
      const double bytes = weight_bytes(*deployment_.network, scheme).value();
      if (bytes < now) {
        sized.emplace_back(bytes, &scheme);
      }
    }
    std::stable_sort(sized.begin(), sized.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<WeightScheme> result;
    result.reserve(sized.size());
    for (const auto& [bytes, scheme] : sized) {
      result.push_back(*scheme);
    }
    return result;
  }

  [[nodiscard]] std::vector<Format> smaller_kv() const {
    std::vector<Format> result;
    std::copy_if(candidates_.kv.begin(), candidates_.kv.end(), std::back_inserter(result),
                 [&](const Format& format) { return bytes_per_element(format) < bytes_per_element(deployment_.kv); });
    std::stable_sort(result.begin(), result.end(),
                     [](const Format& a, const Format& b) { return bytes_per_element(a) > bytes_per_element(b); });
    return result;
  }

  void formats() {
    const std::vector<WeightScheme> weights = smaller_weights();
    const std::vector<Format> kv = smaller_kv();
    const auto with = [&](RemedyKind kind, const WeightScheme& scheme, const Format& cache) {
      Deployment changed = deployment_;
      changed.weights = scheme;
      changed.kv = cache;
      return keep(fitting(kind, std::move(changed), workload_));
    };
    const bool by_weights = std::any_of(weights.begin(), weights.end(), [&](const WeightScheme& scheme) {
      return with(RemedyKind::weight_format, scheme, deployment_.kv);
    });
    const bool by_cache = std::any_of(kv.begin(), kv.end(), [&](const Format& format) {
      return with(RemedyKind::kv_format, deployment_.weights, format);
    });
    if (!by_weights && !by_cache && !kv.empty()) {
      (void)std::any_of(weights.begin(), weights.end(), [&](const WeightScheme& scheme) {
        return with(RemedyKind::weight_and_kv_format, scheme, kv.back());
      });
    }
  }

  /// The workload with so many tokens fewer in each sequence.
  [[nodiscard]] Workload shortened(std::int64_t by) const {
    Workload workload = workload_;
    const Tokens all = Tokens::from_value(static_cast<double>(by));
    const Tokens of_depth = smaller(all, workload.context_depth);
    workload.context_depth -= of_depth;
    workload.prompt -= all - of_depth;
    return workload;
  }

  void tokens() {
    const auto most = static_cast<std::int64_t>((workload_.context_depth + workload_.prompt).value()) - 1;
    keep_smallest(most, [&](std::int64_t by) { return fitting(RemedyKind::context, deployment_, shortened(by)); });
    keep_smallest(workload_.batch - 1, [&](std::int64_t by) {
      Workload fewer = workload_;
      fewer.batch -= by;
      return fitting(RemedyKind::sequences, deployment_, fewer);
    });
    constexpr double smallest_chunk = 32;
    const double pass = largest_pass(deployment_, workload_).rows.value();
    for (double chunk = std::exp2(std::ceil(std::log2(pass)) - 1); chunk >= smallest_chunk; chunk /= 2) {
      Deployment changed = deployment_;
      changed.settings.batched_tokens = Tokens::from_value(chunk);
      if (keep(fitting(RemedyKind::batched_tokens, std::move(changed), workload_))) {
        return;
      }
    }
  }

  void more_devices(RemedyKind kind, std::int64_t Parallelism::*degree) {
    Deployment changed = deployment_;
    for (;;) {
      ++(changed.parallelism.*degree);
      changed.cluster.devices = device_count(changed.parallelism);
      if (changed.cluster.devices > candidates_.most_devices || keep(fitting(kind, changed, workload_))) {
        return;
      }
    }
  }

  void devices() {
    more_devices(RemedyKind::tensor_parallel, &Parallelism::tensor);
    more_devices(RemedyKind::pipeline_parallel, &Parallelism::pipeline);
  }

  void host() {
    // One by one: too much of it may not fit the host.
    const auto on_host = [&](RemedyKind kind, Count Offload::*part) {
      Deployment changed = deployment_;
      while (changed.offload.*part < layer_count(*deployment_.network)) {
        ++(changed.offload.*part);
        if (keep(fitting(kind, changed, workload_))) {
          return;
        }
      }
    };
    on_host(RemedyKind::host_experts, &Offload::host_expert_layers);
    on_host(RemedyKind::host_layers, &Offload::host_layers);
  }

  /// The smallest size of the device that suffices.
  void memory_size() {
    const Device& device = deployment_.cluster.device;
    std::optional<Remedy> best;
    for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
      Deployment changed = deployment_;
      changed.cluster.device.chosen_memory = i;
      std::optional<Remedy> other = fitting(RemedyKind::memory_size, std::move(changed), workload_);
      if (other &&
          (!best || memory_bytes(other->deployment.cluster.device) < memory_bytes(best->deployment.cluster.device))) {
        best = std::move(other);
      }
    }
    keep(std::move(best));
  }

  Deployment deployment_;
  Workload workload_;
  const Candidates& candidates_;
  Prediction reference_{};
  std::vector<Remedy> found_{};
};

} // namespace detail

/// The nearest change of each kind that makes a workload fit, the least damaging first; empty when it fits already, and
/// when no single change helps. Throws InvalidSpec, naming the field, for a faulty deployment or workload.
[[nodiscard]] inline std::vector<Remedy> remedies(const Deployment& deployment, const Workload& workload,
                                                  const Candidates& candidates) {
  if (predict(deployment, workload).fits) {
    return {};
  }
  return detail::Search(deployment, workload, candidates).remedies();
}

} // namespace tokenroof::planning
