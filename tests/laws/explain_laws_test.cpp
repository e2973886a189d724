#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "support/catalogue_grid.hpp"
#include "support/nearly_equal.hpp"
#include "tokenroof/explain.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof {
namespace {

using namespace tokenroof::literals;

void expect_close(double value, double expected, const std::string& what) {
  EXPECT_NEAR(value, expected, 1e-9 * std::abs(expected)) << what;
}

Seconds sum_of(const PhaseExplanation& phase) {
  Seconds sum = phase.cost.overhead;
  for (const OperatorCost& op : phase.cost.operators) {
    sum += op.time;
  }
  return sum;
}

Seconds sum_by_roof(const PhaseExplanation& phase) {
  return std::accumulate(phase.time_by_roof.begin(), phase.time_by_roof.end(), Seconds());
}

TEST(ExplainLaws, PartsAddUpToWhatIsPredicted) {
  const Workload workload{.batch = 3, .prompt = 700_tok, .output = 2_tok, .context_depth = 100_tok};
  for (const Shared<Network>& network : test::all_networks()) {
    const Deployment deployment = test::deployment(network, test::reference_device());
    const Prediction prediction = predict(deployment, workload);
    const Explanation explanation = explain(deployment, workload);
    ASSERT_TRUE(explanation.decode.has_value());
    expect_close(explanation.prefill.cost.time.value(), prediction.ttft.value.value(), network->name + " prefill");
    expect_close(explanation.decode->cost.time.value(), prediction.tpot.value.value(), network->name + " decode");
    for (const PhaseExplanation& phase : {explanation.prefill, *explanation.decode}) {
      expect_close(sum_of(phase).value(), phase.cost.time.value(), network->name + " operators");
      expect_close(sum_by_roof(phase).value(), phase.cost.time.value(), network->name + " roofs");
    }
  }
}

TEST(ExplainLaws, UtilisationsOfTheNeutralEngineAreThoseOfARoof) {
  for (const Device& device : test::all_devices()) {
    if (!test::has_times(device)) {
      continue;
    }
    for (const char* weights : {"bf16", "Q4_K_M", "fp8"}) {
      const Deployment deployment = test::deployment(catalogue::network("llama-3.1-8b"), device, scheme(weights));
      const Explanation explanation = explain(deployment, {.batch = 4, .prompt = 2048_tok, .output = 64_tok});
      for (const PhaseExplanation& phase : {explanation.prefill, *explanation.decode}) {
        EXPECT_GT(phase.mfu, 0) << device.id.view() << ' ' << weights;
        EXPECT_LE(phase.mfu, 1 + 1e-9) << device.id.view() << ' ' << weights;
        EXPECT_GT(phase.mbu, 0) << device.id.view() << ' ' << weights;
        EXPECT_LE(phase.mbu, 1 + 1e-9) << device.id.view() << ' ' << weights;
      }
    }
  }
}

TEST(ExplainLaws, DecodeTurnsComputeBoundAtThatBatchAndNotBefore) {
  const Workload workload{.prompt = 16_tok, .output = 2_tok};
  std::size_t turning = 0;
  for (const Shared<Network>& network : test::all_networks()) {
    const Deployment deployment = test::deployment(network, test::reference_device());
    const auto batch = explain(deployment, workload).compute_bound_batch;
    if (!batch) {
      continue;
    }
    ++turning;
    const StepModels models = step_models(deployment);
    const auto computes_longer = [&](std::int64_t sequences) {
      return detail::computes_longer(models.decode.at(sequences, 1_tok), 16_tok, detail::Part::whole_step);
    };
    EXPECT_TRUE(computes_longer(*batch)) << network->name;
    EXPECT_TRUE(*batch == 1 || !computes_longer(*batch - 1)) << network->name;
  }
  EXPECT_GT(turning, test::all_networks().size() / 2);
}

// 989.4 TFLOPS / 3.35 TB/s = 295 rows for a square matrix of 16-bit weights, fewer for real ones: activations move too.
TEST(ExplainLaws, MatricesTurnComputeBoundNearTheRidgeWhateverTheContext) {
  const Deployment deployment = test::deployment(catalogue::network("llama-3.1-8b"), test::reference_device());
  const Explanation near = explain(deployment, {.prompt = 16_tok, .output = 2_tok});
  const Explanation far = explain(deployment, {.prompt = 100000_tok, .output = 2_tok});
  EXPECT_EQ(near.compute_bound_batch_of_matrices, far.compute_bound_batch_of_matrices);
  EXPECT_NEAR(static_cast<double>(near.compute_bound_batch_of_matrices.value()), 330, 40);
  EXPECT_FALSE(far.compute_bound_batch.has_value());
}

TEST(ExplainLaws, PipelineStagesShareTheWork) {
  const Shared<Network> network = catalogue::network("llama-3.1-8b");
  Deployment deployment = test::deployment(network, test::reference_device());
  const Explanation one = explain(deployment, {});
  deployment.parallelism.pipeline = deployment.cluster.devices = 2;
  const Explanation two = explain(deployment, {});
  EXPECT_NEAR(two.decode->mbu, one.decode->mbu / 2, 0.01); // each waits while the other works
}

TEST(Explain, ChunksOfAPrefillAddUp) {
  Engine engine = *roofline_engine();
  engine.memory.batched_tokens = 300_tok;
  Deployment deployment = test::deployment(catalogue::network("llama-3.1-8b"), test::reference_device());
  deployment.engine = engine;
  const Workload workload{.batch = 2, .prompt = 1000_tok};
  expect_close(explain(deployment, workload).prefill.cost.time.value(),
               predict(deployment, workload).ttft.value.value(), "chunked");
}

TEST(Explain, WithoutARateThereIsWorkButNoTime) {
  Device device = test::reference_device();
  device.compute_units[0].matrix = {};
  const Explanation explanation = explain(test::deployment(catalogue::network("llama-3.1-8b"), device), {});
  EXPECT_EQ(explanation.prefill.absence, Absence::no_compute_rate);
  EXPECT_FALSE(is_present(explanation.prefill.cost.time));
  EXPECT_TRUE(std::isnan(explanation.prefill.mfu));
  EXPECT_GT(explanation.prefill.cost.flops.value(), 0);
  EXPECT_TRUE(is_present(explanation.prefill.intensity));
  EXPECT_EQ(explanation.decode->absence, Absence::none);
  EXPECT_FALSE(explanation.peak.has_value());
  EXPECT_FALSE(is_present(explanation.prefill.ridge));
  EXPECT_FALSE(explanation.compute_bound_batch.has_value());
}

TEST(Explain, OneTokenHasNoDecode) {
  const Deployment deployment = test::deployment(catalogue::network("llama-3.1-8b"), test::reference_device());
  EXPECT_FALSE(explain(deployment, {.output = 1_tok}).decode.has_value());
}

TEST(ExplainLaws, ThePartsOfAPrefillThatOverlapsAddUpToItsTime) {
  Deployment deployment = test::deployment(catalogue::network("llama-3.1-70b"), test::reference_device());
  deployment.parallelism.pipeline = deployment.cluster.devices = 4;
  deployment.settings.batched_tokens = 512_tok;
  const Workload workload{.batch = 1, .prompt = 4000_tok, .output = 8_tok};
  const PhaseExplanation prefill = explain(deployment, workload).prefill;
  EXPECT_TRUE(test::nearly_equal(prefill.cost.time.value(), predict(deployment, workload).ttft.value.value()));
  Seconds parts = prefill.cost.overhead;
  for (const OperatorCost& op : prefill.cost.operators) {
    parts += op.time;
  }
  EXPECT_TRUE(test::nearly_equal(parts.value(), prefill.cost.time.value()));
  EXPECT_LE(prefill.mfu, 1);
}

} // namespace
} // namespace tokenroof
