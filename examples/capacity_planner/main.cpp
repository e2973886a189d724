// The smallest device that serves a load: so many users at once, each reading at a comfortable pace, each answer soon.
#include <fmt/core.h>

#include <optional>

#include "tokenroof/integrations/fmt.hpp"
#include "tokenroof/tokenroof.hpp"

namespace {

using namespace tokenroof::literals;

struct Load {
  tokenroof::Workload workload;
  tokenroof::Seconds longest_ttft;
  tokenroof::Seconds longest_tpot;
};

/// The prediction on a device, if that device can serve the load.
std::optional<tokenroof::Prediction> serves(const tokenroof::Device& device, const Load& load) {
  const tokenroof::Deployment deployment{
      .network = tokenroof::catalogue::network("llama-3.1-8b"),
      .cluster = {.device = device},
      .engine = tokenroof::catalogue::default_engine(device),
      .weights = tokenroof::scheme("fp8"),
  };
  const auto p = tokenroof::predict(deployment, load.workload);
  const bool in_time = p.ttft < load.longest_ttft && p.tpot < load.longest_tpot; // false when it does not fit
  return in_time ? std::optional(p) : std::nullopt;
}

/// Smaller memory first, then the lower bandwidth: a stand-in for a price list.
bool is_smaller(const tokenroof::Device& a, const tokenroof::Device& b) {
  const auto capacity_a = tokenroof::memory(a)->capacity;
  const auto capacity_b = tokenroof::memory(b)->capacity;
  return capacity_a < capacity_b || (capacity_a == capacity_b && *memory_bandwidth(a) < *memory_bandwidth(b));
}

} // namespace

int main() {
  const Load load{
      .workload = {.batch = 32, .prompt = 1024_tok, .output = 256_tok}, .longest_ttft = 4.0_s, .longest_tpot = 50.0_ms};

  const tokenroof::Device* smallest = nullptr;
  std::optional<tokenroof::Prediction> best;
  for (const tokenroof::Device& device : tokenroof::catalogue::devices()) {
    if (!tokenroof::memory(device) || !tokenroof::memory_bandwidth(device)) {
      continue; // sold in several sizes, or not published
    }
    if (smallest && !is_smaller(device, *smallest)) {
      continue;
    }
    if (auto p = serves(device, load)) {
      smallest = &device;
      best = p;
    }
  }

  if (!smallest) {
    fmt::print("no single device serves this load\n");
    return 1;
  }
  fmt::print("{}: TTFT {:.0ms}, TPOT {:.1ms}, {:.1GiB} of {:.1GiB}\n", smallest->name.view(), best->ttft, best->tpot,
             best->peak_memory, best->memory_budget);
}
