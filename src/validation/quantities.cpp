#include "validation/quantities.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tokenroof/memory/capacity.hpp"
#include "tokenroof/memory/ledger.hpp"
#include "validation/times.hpp"

namespace tokenroof::validation {

namespace {

Answer number(double value) { return {.value = value}; }
Answer bytes(Bytes value) { return number(value.value()); }
Answer none(std::string reason) { return {.reason = std::move(reason)}; }

std::int64_t stages(const Question& question) { return question.deployment.parallelism.pipeline; }

Ledger stage(const Question& question, std::int64_t index) {
  return detail::stage_ledger(question.deployment, question.workload, index);
}

/// Of every device of every replica, by what one device of each stage has.
template <class OfStage>
double sum_over_devices(const Question& question, OfStage&& of_stage) {
  const Parallelism& split = question.deployment.parallelism;
  double sum = 0;
  for (std::int64_t i = 0; i < split.pipeline; ++i) {
    sum += of_stage(i).value();
  }
  return sum * static_cast<double>(split.tensor * split.data);
}

Bytes cache(const Ledger& ledger) { return ledger[LedgerItem::kv_cache] + ledger[LedgerItem::kv_padding]; }
Bytes buffers(const Ledger& ledger) { return ledger[LedgerItem::activations] + ledger[LedgerItem::logits]; }
Bytes allocated(const Ledger& ledger) { return peak(ledger) - ledger[LedgerItem::context]; }

/// Whether the devices hold less than the file without its embedding, which may stay on the host.
bool is_placed_by_hand(const Question& q) {
  constexpr double all_but_embedding = 0.9;
  return q.file_weights && q.device_weights > Bytes() && q.device_weights < *q.file_weights * all_but_embedding;
}

Answer file_weights(const Question& q) { return bytes(weight_bytes(*q.deployment.network, q.deployment.weights)); }

Answer weights(const Question& q) { return bytes(ledger(q.deployment, q.workload)[LedgerItem::weights]); }

Answer device_weights(const Question& q) {
  if (q.device_index >= stages(q)) {
    return none("the row names device " + std::to_string(q.device_index) + " of " + std::to_string(stages(q)));
  }
  if (is_placed_by_hand(q)) {
    return none("the devices of this log hold a part of the file only: its owner decided which tensors");
  }
  const Bytes here = weight_bytes_of_stage(q.deployment, q.device_index);
  if (!q.file_weights) {
    return bytes(here);
  }
  const Bytes whole = weight_bytes(*q.deployment.network, q.deployment.weights);
  return {.value = here.value() * (*q.file_weights / whole), .reason = "given the file's size in the same log"};
}

Answer kv_cache(const Question& q) {
  return number(sum_over_devices(q, [&](std::int64_t i) { return cache(stage(q, i)); }));
}

/// What an engine that fills its memory counts against its cache: what lies inside its fraction.
Bytes non_kv(const Question& q) {
  const Ledger first = stage(q, 0);
  return first[LedgerItem::weights] + buffers(first) + first[LedgerItem::communication] +
         q.deployment.engine->memory.context;
}

Answer kv_pool(const Question& q) {
  const MemoryVariant* const variant = memory(q.deployment.cluster.device);
  if (!q.visible && variant == nullptr) {
    return none("the device is sold in several sizes, and the row does not say which");
  }
  const MemoryVariant whole = q.visible ? MemoryVariant{.capacity = *q.visible} : *variant;
  return bytes(capacity(q.deployment, q.workload, whole).cache);
}

/// What a pool holds whose bytes another row of the log states.
template <class OfCapacity>
Answer in_pool(const Question& q, OfCapacity&& of_capacity) {
  if (!q.kv_pool) {
    return none("the log does not state the bytes of the pool");
  }
  if (!q.longest) {
    return none("the row does not state the longest context");
  }
  Answer answer = of_capacity(capacity_of(q.deployment, *q.kv_pool, *q.longest));
  answer.reason = "given the pool's bytes in the same log";
  return answer;
}

Answer kv_tokens(const Question& q) {
  return in_pool(q, [](const Capacity& pool) {
    return pool.tokens ? number(pool.tokens->value()) : none("the network's cache does not grow with tokens");
  });
}

Answer kv_blocks(const Question& q) {
  return in_pool(q, [&](const Capacity& pool) {
    const double block = q.deployment.engine->memory.kv_block.value();
    return number(pool.blocks ? *pool.blocks : pool.tokens.value_or(Tokens()).value() / block);
  });
}

Answer max_concurrency(const Question& q) {
  return in_pool(q, [](const Capacity& pool) { return number(pool.sequences); });
}

Answer activations(const Question& q) { return bytes(buffers(stage(q, 0))); }
Answer graphs(const Question& q) { return bytes(stage(q, 0)[LedgerItem::graphs]); }
Answer non_torch(const Question& q) { return bytes(q.deployment.engine->memory.context); }
Answer driver_context(const Question& q) { return bytes(stage(q, 0)[LedgerItem::context]); }
Answer non_kv_memory(const Question& q) { return bytes(non_kv(q)); }

Answer compute_buffer(const Question& q) {
  const std::int64_t index = std::min(q.device_index, stages(q) - 1);
  return bytes(buffers(stage(q, index)));
}

/// What llama.cpp hands to the devices with each pass: the tokens' embeddings, and the mask of attention, in 32 bits. Where
/// devices share the layers out, and nobody placed tensors by hand, passes overlap, each with a mask of its own @cite llamacpp.
double host_inputs(const Question& q) {
  constexpr double element_bytes = 4;
  constexpr double overlapping_passes = 4;
  const auto hidden = static_cast<double>(q.deployment.network->hidden);
  const double masks = stages(q) > 1 && !is_placed_by_hand(q) ? overlapping_passes : 1;
  const double rows = batched_tokens(q.deployment).value();
  return element_bytes * rows * (hidden + masks * final_context(q.workload).value());
}

Answer all_compute_buffers(const Question& q) {
  return number(sum_over_devices(q, [&](std::int64_t i) { return buffers(stage(q, i)); }) + host_inputs(q));
}

Answer host_compute_buffer(const Question& q) { return number(host_inputs(q)); }

Answer allocated_peak(const Question& q) { return bytes(allocated(ledger(q.deployment, q.workload))); }

Answer all_allocated_peaks(const Question& q) {
  return number(sum_over_devices(q, [&](std::int64_t i) { return allocated(stage(q, i)); }));
}

Answer held_memory(const Question& q) {
  return number(sum_over_devices(q, [&](std::int64_t i) {
    const Ledger ledger = stage(q, i);
    return ledger[LedgerItem::weights] + cache(ledger);
  }));
}

Answer process_peak(const Question& q) {
  return number(sum_over_devices(q, [&](std::int64_t i) { return peak(stage(q, i)); }));
}

constexpr Needs of_time = {
    .device = true, .weights = true, .kv = true, .workload = true, .context = true, .batch = true};

constexpr Needs of_prefill() {
  Needs needs = of_time;
  needs.prefill = true;
  return needs;
}

constexpr Needs of_decode() {
  Needs needs = of_time;
  needs.decode = true;
  return needs;
}

constexpr Needs of_both() {
  Needs needs = of_prefill();
  needs.decode = true;
  return needs;
}

struct Known {
  std::string_view name{};
  Extent extent = Extent::elsewhere;
  Needs needs{};
  Answer (*predict)(const Question&) = nullptr;
};

/// One entry for each quantity, in the order of the enumeration.
constexpr std::array<Known, quantity_count> known = {{
    {"file_weights", Extent::elsewhere, {.weights = true}, file_weights},
    {"weights", Extent::one_device, {.weights = true}, weights},
    {"device_weights", Extent::one_device, {.weights = true}, device_weights},
    {"kv_cache", Extent::elsewhere, {.kv = true, .workload = true, .context = true}, kv_cache},
    {"kv_pool", Extent::one_device, {.device = true, .weights = true, .kv = true, .workload = true}, kv_pool},
    {"kv_tokens", Extent::elsewhere, {.kv = true}, kv_tokens},
    {"kv_blocks", Extent::elsewhere, {.kv = true}, kv_blocks},
    {"max_concurrency", Extent::elsewhere, {.kv = true}, max_concurrency},
    {"activations", Extent::one_device, {.workload = true}, activations},
    {"graphs", Extent::one_device, {}, graphs},
    {"non_torch", Extent::one_device, {.workload = true}, non_torch},
    {"driver_context", Extent::one_device, {}, driver_context},
    {"non_kv_memory", Extent::one_device, {.weights = true, .workload = true}, non_kv_memory},
    {"compute_buffer", Extent::one_device, {.workload = true, .context = true}, compute_buffer},
    {"all_compute_buffers", Extent::elsewhere, {.workload = true, .context = true}, all_compute_buffers},
    {"host_compute_buffer", Extent::elsewhere, {.workload = true, .context = true}, host_compute_buffer},
    {"allocated_peak", Extent::one_device, {.weights = true, .kv = true, .workload = true}, allocated_peak},
    {"all_allocated_peaks", Extent::all_devices, {.weights = true, .kv = true, .workload = true}, all_allocated_peaks},
    {"held_memory", Extent::all_devices, {.weights = true, .kv = true, .workload = true}, held_memory},
    {"process_peak", Extent::all_devices, {.weights = true, .kv = true, .workload = true}, process_peak},
    {"ttft", Extent::elsewhere, of_prefill(), ttft},
    {"tpot", Extent::elsewhere, of_decode(), tpot},
    {"end_to_end", Extent::elsewhere, of_both(), end_to_end},
    {"prefill_rate", Extent::elsewhere, of_prefill(), prefill_rate},
    {"decode_rate", Extent::elsewhere, of_decode(), decode_rate},
    {"output_rate", Extent::elsewhere, of_both(), output_rate},
}};

} // namespace

std::string_view name(Quantity quantity) { return known[static_cast<std::size_t>(quantity)].name; }

std::optional<Quantity> find_quantity(std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Known& entry) { return entry.name == name; });
  return found != known.end() ? std::optional(static_cast<Quantity>(found - known.begin())) : std::nullopt;
}

Needs needs(Quantity quantity) { return known[static_cast<std::size_t>(quantity)].needs; }

bool is_time(Quantity quantity) { return needs(quantity).prefill || needs(quantity).decode; }

bool is_rate(Quantity quantity) {
  return quantity == Quantity::prefill_rate || quantity == Quantity::decode_rate || quantity == Quantity::output_rate;
}

Extent extent_of(Quantity quantity) { return known[static_cast<std::size_t>(quantity)].extent; }

Answer predict(Quantity quantity, const Question& question) {
  return known[static_cast<std::size_t>(quantity)].predict(question);
}

} // namespace tokenroof::validation
