/// @file
/// Clients that each send their next request when the last one is answered: how many run at once, and what they wait for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/memory/capacity.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof {

/// Sequences that run at once: all of a batch; of clients as many as the engine takes and the cache of the chosen memory
/// holds, at least one a replica.
[[nodiscard]] inline std::int64_t running_sequences(const Deployment& deployment, const Workload& workload) {
  if (workload.arrival == Arrival::together) {
    return workload.batch;
  }
  const std::int64_t replicas = deployment.parallelism.data;
  std::int64_t most = workload.batch;
  if (const std::int64_t limit = most_sequences_at_once(deployment); limit > 0) {
    most = std::min(most, limit * replicas);
  }
  if (const MemoryVariant* variant = memory(deployment.cluster.device)) {
    Workload one_each = workload;
    one_each.batch = replicas;
    const double room = std::floor(capacity(deployment, one_each, *variant).sequences);
    if (room < static_cast<double>(most)) { // also keeps the cast in range
      most = std::min(most, std::max<std::int64_t>(static_cast<std::int64_t>(room), 1) * replicas);
    }
  }
  return most;
}

/// What a request of a closed loop is made of, on one replica.
struct ClosedLoopParts {
  double clients = 1;
  double running = 1;     ///< of which so many are served at once
  Seconds prefill{};      ///< of one prompt alone
  Seconds prefill_work{}; ///< the same without the fixed cost of its passes, which it shares with decode
  Seconds decode{};       ///< mean step of `running` sequences; zero where only one token is asked for
  double passes = 1;      ///< that a prompt is cut into
  double steps = 0;       ///< of decode for one request: output - 1
};

struct ClosedLoopTimes {
  Seconds ttft{};
  Seconds tpot{};
};

/// Mean times of the requests of a closed loop in which prompts share steps with decoding sequences.
///
/// With *C* clients, *b* of them running, a prompt that takes *T* alone (*T'* without fixed costs), a decode step *D(b)* and
/// *s* steps a request:
///
///     TPOT = D(b) + (b - 1) T' / (s + 1)                  each of the others is prefilled once while one is served
///     TTFT = o + w (C + 1)/2 (T + k D) + (1 - w) g T + max(0, C/b - 1) s TPOT
///
/// `o`: what the server adds to a request. `w = 1 / requests per client` is the part of a benchmark's requests that start
/// together and queue for prefill (zero in steady state), `k` the passes of a prompt. `g`, at most *C*, is how many prompts
/// arrive together on average: few where lengths vary, more where all are equal, since what starts together ends together.
/// The last term waits for a place in the cache.
[[nodiscard]] inline ClosedLoopTimes closed_loop_times(const ClosedLoopParts& parts, const ServingHabits& habits,
                                                       const Workload& workload) {
  ClosedLoopTimes times;
  times.tpot = parts.decode + parts.prefill_work * ((parts.running - 1) / (parts.steps + 1));
  const double burst = workload.requests_per_client > 0 ? 1 / workload.requests_per_client : 0;
  const double group =
      std::min(workload.equal_lengths ? habits.prefill_group_equal_lengths : habits.prefill_group, parts.clients);
  const Seconds queued = (parts.prefill + parts.decode * parts.passes) * ((parts.clients + 1) / 2);
  const Seconds waiting = times.tpot * (parts.steps * std::max(parts.clients / parts.running - 1, 0.0));
  const bool alone = parts.clients <= 1;
  times.ttft = habits.request_overhead +
               (alone ? parts.prefill : queued * burst + parts.prefill * (group * (1 - burst))) + waiting;
  return times;
}

} // namespace tokenroof
