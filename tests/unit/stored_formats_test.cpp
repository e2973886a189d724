// Formats that a file states by role and layer.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/memory/weights.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/operators/program.hpp"

namespace {

using namespace tokenroof;

Format format(std::string_view name) { return find_format(name).value(); }

std::vector<Format>& of_role(StoredFormats& stored, TensorRole role) {
  return stored.by_role[static_cast<std::size_t>(role)];
}

Network four_layers() {
  const GroupedQueryAttention attention{.heads = 4, .kv_heads = 2, .head_dim = 64, .value_head_dim = 64};
  return {.hidden = 256,
          .vocabulary = 1024,
          .layers = {{Block{.mixers = {attention}, .feed_forward = DenseFeedForward{.width = 512}}, 4}}};
}

/// bf16 but for down-projections (one format a layer), the head, and 1000 bytes beside the network.
WeightScheme stored_scheme() {
  StoredFormats stored;
  of_role(stored, TensorRole::feed_forward_down) = {format("Q6_K"), format("Q4_K"), format("Q4_K"), format("Q6_K")};
  of_role(stored, TensorRole::lm_head) = {format("Q8_0")};
  stored.other = Bytes::from_value(1000);
  return {.name = "mine", .format = format("bf16"), .vectors = format("fp32"), .stored = stored};
}

using Stretches = std::vector<std::pair<std::string, Count>>;

Stretches stretches(const WeightScheme& scheme, TensorRole role, const LayerSpan& span) {
  Stretches found;
  for_each_format(scheme, scheme_facts(four_layers()), Tensor{role, 256, 512}, span,
                  [&](const Format& f, Count layers) { found.emplace_back(f.name.view(), layers); });
  return found;
}

TEST(StoredFormats, EachLayerHasTheFormatOfItsEntry) {
  const WeightScheme scheme = stored_scheme();
  EXPECT_EQ(stretches(scheme, TensorRole::feed_forward_down, {.first = 0, .count = 4}),
            (Stretches{{"Q6_K", 1}, {"Q4_K", 2}, {"Q6_K", 1}}));
  EXPECT_EQ(stretches(scheme, TensorRole::feed_forward_down, {.first = 2, .count = 2}),
            (Stretches{{"Q4_K", 1}, {"Q6_K", 1}}));
}

TEST(StoredFormats, OneEntryIsForAllLayers) {
  EXPECT_EQ(stretches(stored_scheme(), TensorRole::lm_head, {.first = 0, .count = 4}), (Stretches{{"Q8_0", 4}}));
}

TEST(StoredFormats, RulesDecideWhereTheFileSaysNothing) {
  EXPECT_EQ(stretches(stored_scheme(), TensorRole::feed_forward_up, {.first = 0, .count = 4}),
            (Stretches{{"bf16", 4}}));
  WeightScheme mixture = scheme("Q4_K_M");
  mixture.stored = *stored_scheme().stored;
  EXPECT_EQ(format_of(mixture, {}, TensorRole::lm_head, 256).name, "Q8_0");
  EXPECT_EQ(format_of(mixture, {}, TensorRole::token_embedding, 256).name, "Q4_K");
  EXPECT_EQ(format_of(mixture, {}, TensorRole::norm, 256).name, "fp32");
}

TEST(StoredFormats, GoBeforeRules) {
  WeightScheme mixture = scheme("Q4_K_M");
  EXPECT_EQ(format_of(mixture, {}, TensorRole::lm_head, 256).name, "Q6_K");
  mixture.stored = *stored_scheme().stored;
  EXPECT_EQ(format_of(mixture, {}, TensorRole::lm_head, 256).name, "Q8_0");
  EXPECT_EQ(format_of(mixture, {}, TensorRole::feed_forward_down, 512).name, "Q6_K") << "the first layer's";
}

// Rows of 512 in a down-projection of 256 rows are two blocks of 256.
constexpr double down_bytes = 256 * 2 * (2 * 210 + 2 * 144);
constexpr double head_bytes = 1024 * 8 * 34;
constexpr double layer_matrices = 2 * (256 * 256 + 2 * 128 * 256 + 256 * 256 + 2 * 512 * 256); // bf16, all but down
constexpr double embedding_bytes = 2 * 1024 * 256;
constexpr double norm_bytes = 4 * 256;

TEST(StoredFormats, BytesAreTheSumOfAllTensorsAndTheRest) {
  EXPECT_EQ(weight_bytes(four_layers(), stored_scheme()).value(),
            4 * (layer_matrices + 2 * norm_bytes) + down_bytes + embedding_bytes + head_bytes + norm_bytes + 1000);
}

Deployment deployment(std::int64_t tensor, std::int64_t pipeline) {
  return {.network = four_layers(),
          .cluster = {.device = catalogue::device("h100_sxm")},
          .weights = stored_scheme(),
          .parallelism = {.tensor = tensor, .pipeline = pipeline}};
}

TEST(StoredFormats, StagesHoldTheirLayersFormats) {
  const Deployment two = deployment(1, 2);
  const double half = 2 * (layer_matrices + 2 * norm_bytes) + down_bytes / 2;
  EXPECT_EQ(weight_bytes_of_stage(two, 0).value(), half + embedding_bytes + 1000);
  EXPECT_EQ(weight_bytes_of_stage(two, 1).value(), half + head_bytes + norm_bytes);
  EXPECT_EQ(weight_bytes_of_stage(deployment(1, 4), 1).value(), layer_matrices + 2 * norm_bytes + 256 * 2 * 144);
}

TEST(StoredFormats, TensorRanksShareMatricesAndCopyTheRest) {
  EXPECT_EQ(weight_bytes_of_stage(deployment(2, 1), 0).value(),
            4 * (layer_matrices / 2 + 2 * norm_bytes) + down_bytes / 2 + (embedding_bytes + head_bytes) / 2 +
                norm_bytes + 1000);
}

const Gemm& gemm(const Program& program, OperatorName name) {
  for (const Operator& op : program.operators) {
    if (op.name == name) {
      return std::get<Gemm>(op.shape);
    }
  }
  throw std::logic_error("no such operator");
}

TEST(StoredFormats, OperatorsReadTheMeanOfTheirLayers) {
  const Program program = lower(deployment(1, 1), LatentForm::absorbed);
  EXPECT_EQ(gemm(program, OperatorName::feed_forward_down).weights.value(), down_bytes / 4);
  EXPECT_EQ(gemm(program, OperatorName::lm_head).weights.value(), head_bytes);
  EXPECT_EQ(gemm(program, OperatorName::lm_head).weight_format.name, "Q8_0");
}

} // namespace
