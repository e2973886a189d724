// The speeds that docs/performance.md states. Run with `make benchmark`.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/sweep/sweep.hpp"
#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

Deployment on_a100(const char* network, const char* weights) {
  return {.network = catalogue::network(network),
          .cluster = {.device = catalogue::device("a100_sxm_80gb")},
          .weights = scheme(weights)};
}

void predict_from_scratch(benchmark::State& state, const char* network, const char* weights) {
  const Deployment deployment = on_a100(network, weights);
  const Workload workload{.batch = 1, .prompt = 2048_tok, .output = 256_tok};
  for (auto _ : state) {
    benchmark::DoNotOptimize(predict(deployment, workload));
  }
}
BENCHMARK_CAPTURE(predict_from_scratch, llama_2_7b_fp16, "llama-2-7b", "fp16");
BENCHMARK_CAPTURE(predict_from_scratch, llama_3_1_8b_q4_k_m, "llama-3.1-8b", "Q4_K_M");
BENCHMARK_CAPTURE(predict_from_scratch, deepseek_v2_lite_bf16, "deepseek-v2-lite", "bf16");

void step_time_at_a_context(benchmark::State& state) {
  const BoundStep step = step_models(on_a100("llama-2-7b", "fp16")).decode.at(8, 1_tok);
  double context = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(step.time(Tokens::from_value(context)));
    context += 1;
  }
}
BENCHMARK(step_time_at_a_context);

/// Every batch of 1..64 with `contexts` contexts each; the report's items are points.
void sweep_batch_and_context(benchmark::State& state, const char* network) {
  constexpr std::int64_t batches = 64;
  const StepModel model = step_models(on_a100(network, "bf16")).decode;
  std::vector<double> contexts(static_cast<std::size_t>(state.range(0)));
  std::iota(contexts.begin(), contexts.end(), 0.0);
  std::vector<double> seconds(contexts.size());
  for (auto _ : state) {
    for (std::int64_t batch = 1; batch <= batches; ++batch) {
      step_times(model.at(batch, 1_tok), contexts, seconds);
      benchmark::DoNotOptimize(seconds.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * batches * state.range(0));
}
BENCHMARK_CAPTURE(sweep_batch_and_context, llama_2_7b, "llama-2-7b")->Arg(4096)->Arg(131072);
BENCHMARK_CAPTURE(sweep_batch_and_context, gpt_oss_20b, "gpt-oss-20b")->Arg(131072);

/// Whole predictions (TTFT, TPOT over an output range, ledger, fit) over batch and context depth.
void sweep_predictions(benchmark::State& state) {
  const Deployment deployment = on_a100("llama-2-7b", "fp16");
  SweepAxes axes{.batch = {1, 2, 4, 8}, .prompt = {128_tok}};
  axes.context_depth.clear();
  for (int depth = 0; depth < 1000; ++depth) {
    axes.context_depth.push_back(Tokens::from_value(depth));
  }
  for (auto _ : state) {
    sweep(deployment, axes, [](const Workload&, const Prediction& p) { benchmark::DoNotOptimize(p.tpot.value); });
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(point_count(axes)));
}
BENCHMARK(sweep_predictions);

} // namespace
