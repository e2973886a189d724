#include "cli/device_facts.hpp"

namespace tokenroof::cli {

BandwidthSpan bandwidth_span(const Device& device) {
  if (const auto one = memory_bandwidth(device)) {
    return {*one, *one};
  }
  BandwidthSpan span;
  for (const MemoryVariant& size : memory_sizes(device)) {
    if (const auto of_size = size.bandwidth ? size.bandwidth : device.bandwidth) {
      span = {smaller(span.least, *of_size), larger(span.most, *of_size)};
    }
  }
  return span;
}

const Rate* best_rate(const Device& device, std::initializer_list<Arithmetic> arithmetics) {
  const Rate* best = nullptr;
  for (const ComputeUnit& unit : compute_units(device)) {
    for (const Arithmetic arithmetic : arithmetics) {
      const Rate* const found = find_rate(unit, arithmetic);
      best = found != nullptr && (best == nullptr || found->value > best->value) ? found : best;
    }
  }
  return best;
}

} // namespace tokenroof::cli
