// This file is compiled with floating-point contraction off: a fused multiply-add in the wider clones would make their
// results differ from the scalar call's in the last bit.
#include "tokenroof/errors.hpp"
#include "tokenroof/sweep/sweep.hpp"
#include "tokenroof/sweep/tile.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TOKENROOF_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define TOKENROOF_CLONES
#endif

namespace tokenroof {

namespace {

TOKENROOF_CLONES
void dispatched_step_times(const BoundStep& step, std::span<const double> contexts, std::span<double> seconds) {
  step_times_by_tile(step, contexts, seconds);
}

} // namespace

void step_times(const BoundStep& step, std::span<const double> contexts, std::span<double> seconds) {
  if (contexts.size() != seconds.size()) {
    throw InvalidSpec("seconds", std::to_string(seconds.size()),
                      "must be as long as the " + std::to_string(contexts.size()) + " contexts");
  }
  dispatched_step_times(step, contexts, seconds);
}

} // namespace tokenroof
