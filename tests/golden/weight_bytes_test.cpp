// Bytes of all tensors as llama-bench prints them (`model_size`), rotary frequency tables aside.
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace {

using namespace tokenroof;

struct Shape {
  Count hidden;
  Count layers;
  Count heads;
  Count kv_heads;
  Count width;
  Count vocabulary;
  bool tied = false;
  bool bias = false;
};

Network llama(const Shape& shape) {
  const Count head_dim = shape.hidden / shape.heads;
  const GroupedQueryAttention attention{.heads = shape.heads,
                                        .kv_heads = shape.kv_heads,
                                        .head_dim = head_dim,
                                        .value_head_dim = head_dim,
                                        .query_bias = shape.bias,
                                        .key_bias = shape.bias,
                                        .value_bias = shape.bias};
  return {
      .hidden = shape.hidden,
      .vocabulary = shape.vocabulary,
      .tied_embeddings = shape.tied,
      .layers = {{Block{.mixers = {attention}, .feed_forward = DenseFeedForward{.width = shape.width}}, shape.layers}}};
}

const Network llama_7b = llama({4096, 32, 32, 32, 11008, 32000});
const Network llama_13b = llama({5120, 40, 40, 40, 13824, 32000});
const Network llama3_8b = llama({4096, 32, 32, 8, 14336, 128256});
const Network llama_70b = llama({8192, 80, 64, 8, 28672, 128256});
const Network llama32_1b = llama({2048, 16, 32, 8, 8192, 128256, true});
const Network qwen25_7b = llama({3584, 28, 28, 4, 18944, 152064, false, true});

double bytes(const Network& network, std::string_view name) { return weight_bytes(network, scheme(name)).value(); }

TEST(WeightBytes, EqualLlamaBench) {
  EXPECT_EQ(bytes(llama_7b, "Q4_0"), 3'825'065'984);
  EXPECT_EQ(bytes(llama_7b, "Q4_K_M"), 4'080'263'168);
  EXPECT_EQ(bytes(llama_13b, "Q4_0"), 7'365'089'280);
  EXPECT_EQ(bytes(llama3_8b, "ggml-f16"), 16'061'054'976);
  EXPECT_EQ(bytes(llama3_8b, "Q4_K_M"), 4'912'898'048);
  EXPECT_EQ(bytes(llama_70b, "Q4_K_M"), 42'512'531'456);
  EXPECT_EQ(bytes(llama32_1b, "Q4_K_M"), 799'862'784);
  EXPECT_EQ(bytes(qwen25_7b, "Q4_K_M"), 4'677'120'000);
}

TEST(WeightBytes, SixteenBitCheckpointIsTwoBytesAParameter) {
  EXPECT_EQ(bytes(llama3_8b, "bf16"), 2 * 8'030'261'248.0);
  EXPECT_EQ(bytes(llama3_8b, "fp16"), 2 * 8'030'261'248.0);
}

// lhl/strix-halo-testing, llm-bench: tensor data as llama-bench counts it.
TEST(WeightBytes, ExpertsInMxfp4OthersInF16) {
  EXPECT_EQ(bytes(*catalogue::network("gpt-oss-20b"), "ggml-f16-mxfp4"), 13'779'630'336);
}

// The same, shisa-v2-unphi4-14b.i1-IQ3_M: queries, keys and values are three tensors in that file.
TEST(WeightBytes, Iq3M) {
  Network unfused = *catalogue::network("phi-4");
  for (LayerRun& run : unfused.layers) {
    std::get<GroupedQueryAttention>(run.block.mixers.front()).fused = false;
  }
  EXPECT_EQ(bytes(unfused, "IQ3_M"), 6'736'199'680);
}

struct Published {
  std::string_view network;
  std::string_view scheme;
  double value; ///< what was printed
};

// llama.cpp, tools/quantize/README.md: bits a weight of Llama 3.1 8B. IQ4 was made without an importance matrix there.
TEST(Mixtures, BitsAWeightAreAsLlamaCppPublishesThem) {
  const std::vector<Published> table = {
      {"llama-3.1-8b", "IQ1_S", 2.0042},
      {"llama-3.1-8b", "IQ1_M", 2.1460},
      {"llama-3.1-8b", "IQ2_XXS", 2.3824},
      {"llama-3.1-8b", "IQ2_XS", 2.5882},
      {"llama-3.1-8b", "IQ2_S", 2.7403},
      {"llama-3.1-8b", "IQ2_M", 2.9294},
      {"llama-3.1-8b", "IQ3_XXS", 3.2548},
      {"llama-3.1-8b", "IQ3_XS", 3.4977},
      {"llama-3.1-8b", "IQ3_S", 3.6606},
      {"llama-3.1-8b", "IQ3_M", 3.7628},
      {"llama-3.1-8b", "IQ4_XS-no-imatrix", 4.4597},
      {"llama-3.1-8b", "IQ4_NL-no-imatrix", 4.6818},
      {"llama-3.1-8b", "Q2_K_S", 2.9697},
      {"llama-3.1-8b", "Q2_K", 3.1593},
      {"llama-3.1-8b", "Q3_K_S", 3.6429},
      {"llama-3.1-8b", "Q3_K_M", 3.9960},
      {"llama-3.1-8b", "Q3_K_L", 4.2979},
      {"llama-3.1-8b", "Q4_K_S", 4.6672},
      {"llama-3.1-8b", "Q4_K_M", 4.8944},
      {"llama-3.1-8b", "Q5_K_S", 5.5704},
      {"llama-3.1-8b", "Q5_K_M", 5.7036},
      {"llama-3.1-8b", "Q6_K", 6.5633},
      {"llama-3.1-8b", "Q8_0", 8.5008},
      {"llama-3.1-8b", "ggml-f16", 16.0005},
  };
  constexpr double last_digit = 1e-4;
  for (const auto& [network, name, bits] : table) {
    EXPECT_NEAR(8 * bytes(*catalogue::network(network), name) / 8'030'261'248, bits, last_digit / 2) << name;
  }
}

// "model size" in logs of llama.cpp and ik_llama.cpp, in GiB to the third decimal (ik_llama.cpp issues 389, 539,
// pull requests 328, 344, discussions 334, 357; issue 380).
TEST(Mixtures, SizesInLogs) {
  const std::vector<Published> table = {
      {"llama-2-13b", "Q8_0", 12.881},         {"gemma-3-27b", "Q4_K_M", 15.404},
      {"gemma-3-27b", "Q4_0-imatrix", 14.539}, {"gemma-3-27b", "IQ4_XS", 13.747},
      {"glm-z1-32b", "IQ4_XS", 16.382},        {"qwen3-235b-a22b", "Q8_0", 232.769},
      {"qwen3-235b-a22b", "Q6_K", 179.754},    {"qwen3-235b-a22b", "Q4_K_M", 132.386},
      {"qwen3-30b-a3b", "Q5_K_M", 20.228},
  };
  constexpr double gib = 1024.0 * 1024 * 1024;
  for (const auto& [network, name, size] : table) {
    EXPECT_NEAR(bytes(*catalogue::network(network), name) / gib, size, 0.00051) << network << ' ' << name;
  }
}

// llama.cpp, benches/dgx-spark (tensor data, GiB to the second decimal); kyuz0/amd-strix-halo-toolboxes, docs/results.json.
TEST(Mixtures, SizesOfBenchmarks) {
  const std::vector<Published> table = {
      {"gpt-oss-120b", "MXFP4_MOE", 59.02},
      {"gpt-oss-20b", "MXFP4_MOE", 11.27},
      {"qwen3-30b-a3b", "Q8_0", 30.25},
      {"qwen2.5-7b", "Q8_0", 7.54},
  };
  constexpr double gib = 1024.0 * 1024 * 1024;
  for (const auto& [network, name, size] : table) {
    EXPECT_NEAR(bytes(*catalogue::network(network), name) / gib, size, 0.0051) << network << ' ' << name;
  }
}

// Files of Llama 3, whose vocabulary takes nearly 8 MB: 70B of XiongjieDai/GPU-Benchmarks-on-LLM-Inference, made with an
// importance matrix; 8B of the help of llama-quantize.
TEST(Mixtures, SizesOfFiles) {
  const std::vector<Published> table = {
      {"llama-3.1-70b", "IQ1_S", 14.29},  {"llama-3.1-70b", "IQ1_M", 15.60},  {"llama-3.1-70b", "IQ2_XXS", 17.79},
      {"llama-3.1-70b", "IQ2_XS", 19.69}, {"llama-3.1-70b", "IQ2_S", 20.71},  {"llama-3.1-70b", "IQ2_M", 22.46},
      {"llama-3.1-70b", "Q2_K_S", 22.79}, {"llama-3.1-70b", "Q2_K", 24.56},   {"llama-3.1-70b", "IQ3_XXS", 25.58},
      {"llama-3.1-70b", "IQ3_XS", 27.29}, {"llama-3.1-70b", "IQ3_S", 28.79},  {"llama-3.1-70b", "IQ3_M", 29.74},
      {"llama-3.1-70b", "Q3_K_S", 28.79}, {"llama-3.1-70b", "Q3_K_M", 31.91}, {"llama-3.1-70b", "Q3_K_L", 34.59},
      {"llama-3.1-70b", "IQ4_XS", 35.30}, {"llama-3.1-70b", "IQ4_NL", 37.30}, {"llama-3.1-70b", "Q4_K_S", 37.58},
      {"llama-3.1-70b", "Q4_K_M", 39.60}, {"llama-3.1-70b", "Q5_K_S", 45.32}, {"llama-3.1-70b", "Q5_K_M", 46.52},
      {"llama-3.1-70b", "Q6_K", 53.91},   {"llama-3.1-70b", "Q8_0", 69.83},   {"llama-3.1-70b", "ggml-f16", 131.43},
      {"llama-3.1-8b", "Q4_0", 4.34},     {"llama-3.1-8b", "Q4_1", 4.78},     {"llama-3.1-8b", "Q5_0", 5.21},
      {"llama-3.1-8b", "Q5_1", 5.65},
  };
  constexpr double gib = 1024.0 * 1024 * 1024;
  constexpr double vocabulary = 7.8e6;
  for (const auto& [network, name, size] : table) {
    const double file = bytes(*catalogue::network(network), name) + vocabulary;
    EXPECT_NEAR(file / gib, size, 0.0051) << network << ' ' << name;
  }
}

// pytorch/executorch, examples/models/llama: programs of Llama 3.2 3B, which hold a tied table twice.
TEST(WeightBytes, ProgramsOfExecuTorch) {
  constexpr double mib = 1024.0 * 1024;
  Network network = *catalogue::network("llama-3.2-3b");
  EXPECT_NEAR(bytes(network, "bf16") / mib, 6129, 0.001 * 6129);
  network.tied_embeddings = false;
  EXPECT_NEAR(bytes(network, "8da4w") / mib, 2435, 0.001 * 2435); // SpinQuant
}

// mlx_lm.convert says "Quantized model with 4.501 bits per weight" for its default, 4 bits in groups of 64.
TEST(WeightBytes, MlxIn4Bits) {
  const Network& network = *catalogue::network("qwen3-0.6b");
  EXPECT_NEAR(8 * bytes(network, "mlx-4bit") / static_cast<double>(count_parameters(network).total()), 4.501, 0.0005);
}

struct Checkpoint {
  const char* network;
  const char* scheme;
  double bytes;     ///< total_size of the safetensors index
  double other = 0; ///< of which beside the network
};

// Safetensors indices on Hugging Face. Beside the network: tables of frequencies, or routers in 32 bits.
TEST(WeightBytes, EqualTheIndicesOfCheckpoints) {
  for (const Checkpoint& row : {
           Checkpoint{"google/gemma-2b-it", "bf16", 5'012'344'832},
           Checkpoint{"google/gemma-2b-it", "fp32", 10'024'689'664},
           Checkpoint{"meta-llama/Llama-2-7b-hf", "fp16", 13'476'839'424, 32 * 64 * 4},
           Checkpoint{"meta-llama/Llama-2-7b-hf", "fp32", 26'953'670'656, 32 * 64 * 4},
           Checkpoint{"THUDM/chatglm2-6b", "fp16", 12'487'168'064, 32 * 2},
           Checkpoint{"deepseek-ai/DeepSeek-V2-Lite", "bf16", 31'412'968'448},
           Checkpoint{"alpindale/WizardLM-2-8x22B", "bf16", 281'241'268'224},
           Checkpoint{"tiiuae/falcon-180B-chat", "bf16", 359'045'130'240, 2.0 * 65024 * 14848},
           Checkpoint{"MiniMaxAI/MiniMax-M1-80k", "bf16", 912'210'767'872, 80.0 * 32 * 6144 * 2},
       }) {
    EXPECT_EQ(weight_bytes(*catalogue::network(row.network), scheme(row.scheme)).value() + row.other, row.bytes)
        << row.network;
  }
}

// mlx-community/gemma-4-26b-a4b-it-bf16: 51,611,872,412 B, of which the encoder of images (27 layers of 1152 with gated
// feed-forward networks of 4304, patches of 768, 2 x 10240 positions, a projection to 2816) has 572,794,416 parameters.
TEST(WeightBytes, LanguagePartOfGemma4) {
  constexpr double encoder = 27.0 * (4 * 1152 * 1152 + 3 * 1152 * 4304 + 4 * 1152 + 2 * 72) + 768.0 * 1152 +
                             2.0 * 10240 * 1152 + 1152.0 * 2816 + 2 * 1152;
  EXPECT_EQ(weight_bytes(*catalogue::network("gemma-4-26b-a4b"), scheme("bf16")).value() + 2 * encoder, 51'611'872'412);
}

} // namespace
