// Laws of time, over every network and every device of the catalogue.
#include <gtest/gtest.h>

#include <cmath>

#include "support/catalogue_grid.hpp"
#include "support/nearly_equal.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/network/named_schemes.hpp"

namespace tokenroof {
namespace {

using namespace literals;
using test::all_devices;
using test::all_networks;
using test::deployment;
using test::nearly_equal;
using test::reference_device;

/// Calls `visit(network, device)` for each pair for which times exist.
template <class Visit>
void for_each_pair(Visit visit) {
  for (const Shared<Network>& network : all_networks()) {
    for (const Device& device : all_devices()) {
      if (test::has_times(device)) {
        SCOPED_TRACE(network->name + " on " + std::string(device.id.view()));
        visit(network, device);
        if (::testing::Test::HasFailure()) {
          return; // one pair is enough to read
        }
      }
    }
  }
}

Prediction at(const Deployment& d, Workload workload) { return predict(d, workload); }

Device faster_memory(Device device, double factor) {
  device.memory_variants[0].bandwidth = *memory_bandwidth(device) * factor;
  return device;
}

Device faster_units(Device device, double factor) {
  for (ComputeUnit& unit : device.compute_units) {
    for (std::optional<Rate>& rate : unit.matrix) {
      if (rate) {
        rate->value *= factor;
      }
    }
  }
  return device;
}

TEST(TimeLaws, AStepIsTheSumOfItsOperators) {
  for_each_pair([](const Shared<Network>& network, const Device& device) {
    const StepModels models = step_models(deployment(network, device));
    for (const BoundStep& step : {models.decode.at(3, 1_tok), models.prefill().at(2, 700_tok)}) {
      const StepCost cost = cost_of(step, 1500_tok);
      Seconds sum = cost.overhead;
      for (const OperatorCost& op : cost.operators) {
        sum += op.time;
      }
      ASSERT_TRUE(nearly_equal(sum.value(), step.time(1500_tok).value()));
    }
  });
}

TEST(TimeLaws, TimeNeverRisesWithBandwidth) {
  for_each_pair([](const Shared<Network>& network, const Device& device) {
    const Workload workload{.batch = 2, .prompt = 900_tok, .output = 40_tok};
    const Prediction slow = at(deployment(network, device), workload);
    const Prediction fast = at(deployment(network, faster_memory(device, 1.7)), workload);
    ASSERT_LE(fast.ttft.value, slow.ttft.value);
    ASSERT_LE(fast.tpot.value, slow.tpot.value);
  });
}

TEST(TimeLaws, TimeNeverRisesWithComputeRate) {
  for_each_pair([](const Shared<Network>& network, const Device& device) {
    const Workload workload{.batch = 64, .prompt = 900_tok, .output = 40_tok};
    const Prediction slow = at(deployment(network, device), workload);
    const Prediction fast = at(deployment(network, faster_units(device, 1.7)), workload);
    ASSERT_LE(fast.ttft.value, slow.ttft.value);
    ASSERT_LE(fast.tpot.value, slow.tpot.value);
  });
}

TEST(TimeLaws, TtftNeverFallsWithPromptNorTpotWithContext) {
  for_each_pair([](const Shared<Network>& network, const Device& device) {
    const Deployment d = deployment(network, device);
    Prediction before = at(d, {.prompt = 1_tok, .output = 8_tok});
    for (const double prompt : {2.0, 17.0, 128.0, 1000.0, 4095.0, 4096.0, 40000.0}) {
      const Prediction next = at(d, {.prompt = Tokens::from_value(prompt), .output = 8_tok});
      // A prompt of one token is a decode step, in which latent attention takes its other form.
      if (prompt > 2) {
        ASSERT_GE(next.ttft.value, before.ttft.value) << prompt;
      }
      ASSERT_GE(next.tpot.value, before.tpot.value) << prompt;
      before = next;
    }
  });
}

TEST(TimeLaws, TpotNeverFallsWithBatch) {
  for_each_pair([](const Shared<Network>& network, const Device& device) {
    const Deployment d = deployment(network, device);
    Seconds before;
    for (const std::int64_t batch : {1, 2, 3, 8, 64, 500}) {
      const Prediction next = at(d, {.batch = batch, .prompt = 600_tok, .output = 8_tok});
      ASSERT_GE(next.tpot.value, before) << batch;
      before = next.tpot.value;
    }
  });
}

TEST(TimeLaws, PrefillOfOneTokenIsADecodeStep) {
  for_each_pair([](const Shared<Network>& network, const Device& device) {
    const Deployment d = deployment(network, device);
    const StepModel same_form = bind(lower(d, LatentForm::absorbed), d);
    const Prediction p = at(d, {.batch = 4, .prompt = 1_tok, .output = 2_tok, .context_depth = 777_tok});
    // TTFT: one token on a context of 777. TPOT: one token on a context of 778.
    ASSERT_EQ(same_form.at(4, 1_tok).time(778_tok), p.tpot.value);
    if (!detail::has_latent_attention(*network)) {
      ASSERT_EQ(same_form.at(4, 1_tok).time(777_tok), p.ttft.value);
    }
  });
}

TEST(TimeLaws, TheMeanOverAnOutputRangeIsTheMeanOfItsSteps) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const BoundStep step = step_models(deployment(network, reference_device())).decode.at(96, 1_tok);
    for (const double first : {0.0, 100.0, 1000.0, 4090.0}) {
      constexpr int steps = 517;
      double sum = 0;
      for (int i = 0; i < steps; ++i) {
        sum += step.time(Tokens::from_value(first + i)).value();
      }
      ASSERT_TRUE(nearly_equal(mean_decode_time(step, Tokens::from_value(first), steps).value(), sum / steps));
    }
  }
}

TEST(TimeLaws, ASplitByOneIsASingleDevice) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    Deployment single = deployment(network, reference_device());
    Deployment one_way = single;
    one_way.cluster.intra_node = Link{.bandwidth = 1_GBps}; // a link that nothing travels over
    one_way.parallelism = {.tensor = 1, .pipeline = 1, .data = 1, .expert = 1};
    const Workload workload{.batch = 4, .prompt = 333_tok, .output = 20_tok};
    ASSERT_EQ(at(single, workload).end_to_end.value, at(one_way, workload).end_to_end.value);
    ASSERT_EQ(at(single, workload).peak_memory.value, at(one_way, workload).peak_memory.value);
  }
}

TEST(TimeLaws, ReplicasServeTheBatchOfOneEach) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Deployment single = deployment(network, reference_device());
    Deployment four = single;
    four.cluster.devices = 4;
    four.parallelism.data = 4;
    const Prediction of_one = at(single, {.batch = 2, .prompt = 100_tok, .output = 9_tok});
    const Prediction of_four = at(four, {.batch = 8, .prompt = 100_tok, .output = 9_tok});
    ASSERT_EQ(of_one.tpot.value, of_four.tpot.value);
    ASSERT_TRUE(nearly_equal(4 * of_one.tokens_per_second.value.value(), of_four.tokens_per_second.value.value()));
  }
}

TEST(TimeLaws, AnInfinitelyFastLinkMakesTensorParallelismNoSlowerThanOneDevice) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Deployment single = deployment(network, reference_device());
    Deployment two = single;
    two.cluster.devices = 2;
    two.parallelism.tensor = 2;
    two.cluster.intra_node = Link{.bandwidth = Bandwidth::from_value(1e30)};
    if (!check(two).empty()) {
      continue; // an odd number of heads
    }
    const Workload workload{.batch = 8, .prompt = 500_tok, .output = 9_tok};
    const Prediction of_one = at(single, workload);
    const Prediction of_two = at(two, workload);
    ASSERT_LT(of_two.tpot.value, of_one.tpot.value);
    ASSERT_LT(of_two.ttft.value, of_one.ttft.value);
    ASSERT_GE(of_two.tpot.value, of_one.tpot.value * 0.5); // no more than all of the work can be shared out
    ASSERT_GE(of_two.ttft.value, of_one.ttft.value * 0.5);
  }
}

TEST(TimeLaws, NoEngineIsFasterThanTheNeutralOneOnItsUnit) {
  const Workload workload{.batch = 4, .prompt = 700_tok, .output = 20_tok};
  for (const std::string& id : catalogue::engine_versions()) {
    const Shared<Engine> engine = catalogue::engine(id);
    Engine neutral = *roofline_engine();
    neutral.unit = engine->unit;
    for (const char* weights : {"bf16", "fp16", "Q4_K_M", "fp8", "awq"}) {
      for (const Device& device : all_devices()) {
        Deployment d = deployment(catalogue::network("qwen3-30b-a3b"), device, scheme(weights));
        d.engine = neutral;
        if (!check(d).empty()) {
          continue; // a board without such a unit
        }
        const Prediction bound = at(d, workload);
        d.engine = engine;
        const Prediction p = at(d, workload);
        SCOPED_TRACE(id + " on " + std::string(device.id.view()) + " in " + weights);
        ASSERT_EQ(p.ttft_absence, bound.ttft_absence);
        ASSERT_FALSE(p.ttft.value < bound.ttft.value * (1 - 1e-12));
        ASSERT_FALSE(p.tpot.value < bound.tpot.value * (1 - 1e-12));
      }
    }
  }
}

TEST(TimeLaws, NoTimeIsBelowThePhysicsOfItsBytesAndFlops) {
  for_each_pair([](const Shared<Network>& network, const Device& device) {
    const Deployment d = deployment(network, device);
    const StepCost cost = cost_of(step_models(d).decode.at(1, 1_tok), 1000_tok);
    ASSERT_GE(cost.time, cost.bytes / *bandwidth_for(*d.engine, device) * (1 - 1e-12));
  });
}

} // namespace
} // namespace tokenroof
