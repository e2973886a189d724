// The file that a converter would make of a network of the catalogue gives that network back, and its bytes.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "readers/gguf.hpp"
#include "support/catalogue_grid.hpp"
#include "support/gguf_network.hpp"
#include "tokenroof/network/named_schemes.hpp"

namespace tokenroof::test {
namespace {

/// What a GGUF file does not state: prediction modules have tensors of their own, and names follow the metadata.
Network as_stored(Network network) {
  network.prediction_heads = 0;
  network.prediction_blocks.clear();
  if (network.embedding_width == network.hidden) {
    network.embedding_width = 0;
  }
  return network;
}

class GgufLaws : public testing::TestWithParam<const char*> {};

TEST_P(GgufLaws, NetworksComeBack) {
  const WeightScheme weights = scheme(GetParam());
  const auto path = std::filesystem::path(testing::TempDir()) / (std::string("gguf_laws_") + GetParam() + ".gguf");
  for (const Shared<Network>& network : all_networks()) {
    if (!has_gguf_form(*network)) {
      continue;
    }
    const GgufWriter file = gguf_of(*network, weights);
    file.write(path);
    const NetworkReading reading = readers::read_gguf(path);
    EXPECT_EQ(reading.network, as_stored(*network)) << network->name;
    EXPECT_EQ(weight_bytes(reading.network, reading.weights.value()).value(), static_cast<double>(file.tensor_bytes()))
        << network->name;
    EXPECT_EQ(weight_bytes(*network, weights).value(), static_cast<double>(file.tensor_bytes())) << network->name;
  }
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Schemes, GgufLaws, testing::Values("ggml-f16", "Q4_0", "Q4_K_M"));

TEST(GgufSizes, EqualLlamaBench) {
  const auto size = [](const char* id, const char* name) {
    const auto path = std::filesystem::path(testing::TempDir()) / "gguf_sizes.gguf";
    gguf_of(*catalogue::network(id), scheme(name)).write(path);
    const NetworkReading reading = readers::read_gguf(path);
    std::filesystem::remove(path);
    return weight_bytes(reading.network, reading.weights.value()).value();
  };
  EXPECT_EQ(size("llama-3-8b", "Q4_K_M"), 4'912'898'048);
  EXPECT_EQ(size("llama-3-70b", "Q4_K_M"), 42'512'531'456);
  EXPECT_EQ(size("llama-3.2-1b", "Q4_K_M"), 799'862'784);
  EXPECT_EQ(size("qwen2.5-7b", "Q4_K_M"), 4'677'120'000);
}

} // namespace
} // namespace tokenroof::test
