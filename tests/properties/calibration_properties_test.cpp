// Whatever an engine's constants are, a fit to its own times finds an engine as fast.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/synthetic_times.hpp"
#include "tokenroof/calibration.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof::test {
namespace {

/// Between the bounds, in hundredths.
double any(int least, int most) { return *rc::gen::inRange(least, most + 1) / 100.0; }

/// Within half and twice of what usual_guesses() say.
Engine any_engine() {
  Engine engine = parse_engine(engine_text(usual_guesses()), "truth.json");
  EngineConstants& constants = engine.profiles[0].constants;
  constants.bandwidth_efficiency = any(50, 100);
  constants.decode_layer = Seconds::from_value(any(1000, 4000) * 1e-6);
  constants.prefill_layer = Seconds::from_value(any(2500, 10000) * 1e-6);
  constants.gemm_utilisation[static_cast<std::size_t>(Arithmetic::bf16)] = any(35, 90);
  return engine;
}

RC_GTEST_PROP(Calibration, FindsAnEngineAsFast, ()) {
  const Engine truth = any_engine();
  const auto rows = measured_grid(truth, "h100_sxm", {"llama-3.1-8b", "qwen3-4b"});
  const auto found = calibration::calibrate(rows, engine_text(usual_guesses()), "test.json");
  RC_ASSERT(found.errors.after.p90 < 0.05);
  RC_ASSERT(found.errors.after.median <= found.errors.before.median + 0.01);
}

RC_GTEST_PROP(Calibration, StaysPossibleWhateverWasMeasured, ()) {
  auto rows = measured_grid(any_engine(), "h100_sxm", {"llama-3.1-8b"});
  for (auto& row : rows) {
    row.measured *= std::exp(any(0, 500));
  }
  const auto found = calibration::calibrate(rows, engine_text(usual_guesses()), "test.json");
  RC_ASSERT(parse_engine(found.engine_file, "written.json") == found.engine);
  for (const auto& constant : found.constants) {
    RC_ASSERT(!constant.identified || (constant.low <= constant.value && constant.value <= constant.high));
  }
}

RC_GTEST_PROP(Calibration, TheOrderOfRowsDoesNotMatter, ()) {
  auto rows = measured_grid(any_engine(), "h100_sxm", {"llama-3.1-8b", "qwen3-4b"});
  const auto first = calibration::calibrate(rows, engine_text(usual_guesses()), "test.json");
  std::reverse(rows.begin(), rows.end());
  const auto second = calibration::calibrate(rows, engine_text(usual_guesses()), "test.json");
  for (std::size_t i = 0; i < first.constants.size(); ++i) {
    RC_ASSERT(first.constants[i].identified == second.constants[i].identified);
    RC_ASSERT(std::abs(first.constants[i].value / second.constants[i].value - 1) < 0.02);
  }
}

} // namespace
} // namespace tokenroof::test
