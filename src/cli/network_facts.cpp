#include "cli/network_facts.hpp"

#include <algorithm>
#include <variant>

namespace tokenroof::cli {

const Mixer* main_mixer(const Network& network) {
  const Mixer* any = nullptr;
  for (const LayerRun& run : network.layers) {
    for (const Mixer& mixer : run.block.mixers) {
      if (std::holds_alternative<GroupedQueryAttention>(mixer) || std::holds_alternative<LatentAttention>(mixer) ||
          std::holds_alternative<CompressedAttention>(mixer)) {
        return &mixer;
      }
      any = any == nullptr ? &mixer : any;
    }
  }
  return any;
}

std::vector<LayerRun> kinds_of_layers(const Network& network) {
  std::vector<LayerRun> kinds;
  for (const LayerRun& run : network.layers) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const LayerRun& k) { return k.block == run.block; });
    if (same == kinds.end()) {
      kinds.push_back(run);
    } else {
      same->count += run.count;
    }
  }
  return kinds;
}

} // namespace tokenroof::cli
