// A device is a constant of the program.
#include "tokenroof/hardware/cluster.hpp"
#include "tokenroof/hardware/device.hpp"
#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

constexpr Device one_size{
    .id = "one_size",
    .bandwidth = 1_TBps,
    .memory_variants = {MemoryVariant{.capacity = 24_GiB}},
    .memory_variant_count = 1,
};
static_assert(one_size.id.view() == "one_size");
static_assert(memory(one_size)->capacity == 24_GiB);
static_assert(memory_bandwidth(one_size) == 1_TBps);
static_assert(!one_size.l2_cache, "what nobody states is missing, not zero");
static_assert(compute_unit(one_size, ComputeUnitKind::npu) == nullptr);

// A function rather than a constant: GCC 12 cannot copy, in a constant expression, a constant whose array of variants
// leaves elements to their defaults.
constexpr Device two_sizes() {
  return {
      .id = "two_sizes",
      .bandwidth = 400_GBps,
      .memory_variants = {MemoryVariant{.capacity = 36_GiB, .bandwidth = 300_GBps}, MemoryVariant{.capacity = 64_GiB}},
      .memory_variant_count = 2,
  };
}
static_assert(memory_bandwidth(two_sizes()) == std::nullopt, "the choice matters, so none is made");

constexpr Bandwidth bandwidth_of(std::size_t variant) {
  Device device = two_sizes();
  device.chosen_memory = variant;
  return *memory_bandwidth(device);
}
static_assert(bandwidth_of(0) == 300_GBps && bandwidth_of(1) == 400_GBps);

constexpr bool links_are_never_made_up() {
  const Cluster node{.device = two_sizes(), .devices = 8};
  return !intra_node_link(node);
}
static_assert(links_are_never_made_up());

} // namespace
