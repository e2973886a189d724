/// @file
/// The itemised memory of one device at its fullest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/memory/activations.hpp"
#include "tokenroof/memory/cache_layout.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/memory/weights.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof {

enum class LedgerItem : std::uint8_t {
  weights,
  kv_cache,    ///< of all sequences at their longest, nothing padded
  kv_padding,  ///< what the engine's blocks add to it
  activations, ///< live at once in the fullest moment of a pass
  logits,      ///< in that moment: none while the layers are wider
  graphs,
  communication,
  context, ///< driver and libraries
  staging, ///< weights on their way from host memory
  fragmentation,
};

inline constexpr std::array<std::string_view, 10> ledger_item_names = {
    "weights", "kv_cache",      "kv_padding", "activations", "logits",
    "graphs",  "communication", "context",    "staging",     "fragmentation"};

[[nodiscard]] constexpr std::string_view name(LedgerItem item) {
  return ledger_item_names[static_cast<std::size_t>(item)];
}

/// Bytes by item on the fullest device. Their sum is the peak.
struct Ledger {
  std::array<Bytes, ledger_item_names.size()> items{};

  [[nodiscard]] Bytes& operator[](LedgerItem item) { return items[static_cast<std::size_t>(item)]; }
  [[nodiscard]] const Bytes& operator[](LedgerItem item) const { return items[static_cast<std::size_t>(item)]; }
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

/// The sum of all items.
[[nodiscard]] inline Bytes peak(const Ledger& ledger) {
  Bytes total;
  for (const Bytes& item : ledger.items) {
    total += item;
  }
  return total;
}

/// The largest item.
[[nodiscard]] inline LedgerItem dominant(const Ledger& ledger) {
  const auto largest = std::max_element(ledger.items.begin(), ledger.items.end());
  return static_cast<LedgerItem>(largest - ledger.items.begin());
}

namespace detail {

[[nodiscard]] inline Bytes graph_bytes(const Deployment& deployment, StageLayers layers) {
  const MemoryHabits& habits = deployment.engine->memory;
  const Network& network = *deployment.network;
  return habits.graphs + habits.graphs_per_layer * static_cast<double>(layers.count) +
         habits.graphs_per_channel * static_cast<double>(network.hidden) +
         (habits.graphs_of_experts > Bytes() && scheme_facts(network).experts > 0 ? habits.graphs_of_experts : Bytes());
}

[[nodiscard]] inline Ledger stage_ledger(const Deployment& deployment, const Workload& workload, std::int64_t stage) {
  const Network& network = *deployment.network;
  const MemoryHabits& habits = deployment.engine->memory;
  const Parallelism& parallelism = deployment.parallelism;
  const StageLayers layers = device_cache_layers(deployment, stage);
  const auto sequences = static_cast<double>(batch_per_replica(workload.batch, parallelism));
  const Tokens context = final_context(workload);
  const ActivationPeak pass =
      activation_peak(deployment, largest_pass(deployment, workload), stage + 1 == parallelism.pipeline);
  Ledger ledger;
  ledger[LedgerItem::weights] = weight_bytes_of_stage(deployment, stage);
  ledger[LedgerItem::kv_cache] =
      sequence_bytes(network, deployment.kv, deployment.activations, context, parallelism.tensor, layers) * sequences;
  ledger[LedgerItem::kv_padding] =
      allocated_sequence_bytes(deployment, context, layers) * sequences - ledger[LedgerItem::kv_cache];
  ledger[LedgerItem::activations] = pass.activations;
  ledger[LedgerItem::logits] = pass.logits;
  ledger[LedgerItem::graphs] = graph_bytes(deployment, layers);
  ledger[LedgerItem::communication] = device_count(parallelism) > 1 ? habits.communication : Bytes();
  ledger[LedgerItem::context] = habits.context + habits.context_before;
  ledger[LedgerItem::staging] = staging_bytes(deployment);
  ledger[LedgerItem::fragmentation] = peak(ledger) * habits.fragmentation;
  return ledger;
}

} // namespace detail

/// The ledger of the fullest device of a deployment when every sequence of the workload is at its longest.
[[nodiscard]] inline Ledger ledger(const Deployment& deployment, const Workload& workload) {
  Ledger fullest = detail::stage_ledger(deployment, workload, 0);
  for (std::int64_t stage = 1; stage < deployment.parallelism.pipeline; ++stage) {
    const Ledger other = detail::stage_ledger(deployment, workload, stage);
    if (peak(other) > peak(fullest)) {
      fullest = other;
    }
  }
  return fullest;
}

/// Parts of a ledger that lie outside the fraction of memory which the engine is told to fill.
[[nodiscard]] inline Bytes outside_fraction(const MemoryHabits& habits, const Ledger& ledger) {
  return habits.context_before + (habits.graphs_outside_fraction ? ledger[LedgerItem::graphs] : Bytes());
}

/// What may be filled of one device: usable memory (else capacity) times the engine's fraction, and what the engine takes
/// beside that fraction; never more than the usable memory.
[[nodiscard]] inline Bytes memory_budget(const Deployment& deployment, const Ledger& ledger,
                                         const MemoryVariant& variant) {
  const Bytes usable = variant.usable.value_or(variant.capacity);
  return smaller(usable, usable * memory_fraction(deployment) + outside_fraction(deployment.engine->memory, ledger));
}

} // namespace tokenroof
