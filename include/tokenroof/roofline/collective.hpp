/// @file
/// What communication costs.
#pragma once

#include <cstdint>

#include "tokenroof/hardware/device.hpp"
#include "tokenroof/operators/operators.hpp"

namespace tokenroof {

/// Seconds of one collective of `payload` bytes a rank over a link that reaches `bandwidth`, each algorithm step
/// costing `latency`. The faster of the usual algorithms is taken:
///
///     all-reduce   one-shot  a + (n-1) V/B        two-shot  2a + 2 (n-1)/n V/B
///     all-gather   a + (n-1)/n V/B                all-to-all  a + (n-1)/n V/B        send, hand-over  a + V/B
///
/// @cite patarasuk2009 (two-shot is bandwidth-optimal for point-to-point links; in-network reduction is not modelled).
[[nodiscard]] constexpr Seconds collective_time(CollectiveKind kind, Bytes payload, std::int64_t ranks,
                                                const Bandwidth& bandwidth, Seconds latency) {
  const auto n = static_cast<double>(ranks);
  const Seconds transfer = payload / bandwidth;
  switch (kind) {
  case CollectiveKind::all_reduce:
    return smaller(latency + transfer * (n - 1), latency * 2.0 + transfer * (2 * (n - 1) / n));
  case CollectiveKind::all_gather:
  case CollectiveKind::all_to_all:
    return latency + transfer * ((n - 1) / n);
  case CollectiveKind::send:
  case CollectiveKind::handover:
    return latency + transfer;
  }
  return transfer;
}

} // namespace tokenroof
