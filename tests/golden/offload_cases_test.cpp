// Measured deployments that hold a part of their weights outside the device, with wide bands: nobody stated all of the
// host, so that an answer must lie near and no constant can be told from these few.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/hardware/memory_choice.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

/// A desktop of two channels, DDR5-5600 unless stated.
Host desktop(Bandwidth bandwidth = 89.6_GBps) {
  Host host = host_of(catalogue::device("epyc_9654"));
  host.bandwidth = bandwidth;
  host.memory.reset();
  return host;
}

Deployment with_host_experts(Network network, const char* device, const char* weights, Host host) {
  const Count layers = layer_count(network);
  return {.network = std::move(network),
          .cluster = {.device = catalogue::device(device), .host = host},
          .engine = catalogue::engine("llama.cpp-cuda"),
          .weights = scheme(weights),
          .kv = *find_format("fp16"),
          .activations = *find_format("fp16"),
          .offload = {.host_expert_layers = layers}};
}

/// The shape of Qwen3.6-35B-A3B, whose layers are those of Qwen3-Next.
Network qwen_35b_a3b() {
  return parse_network(R"({"model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 40,
    "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "attn_output_gate": true,
    "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
    "linear_num_value_heads": 32, "linear_value_head_dim": 128, "num_experts": 256, "num_experts_per_tok": 8,
    "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "vocab_size": 248320,
    "tie_word_embeddings": false, "max_position_embeddings": 262144})",
                       "qwen-35b-a3b");
}

// ollama issue 11772: RTX 5080, experts on the host 36.5 tok/s, prefill 692 tok/s; the device held 2.9 GB.
TEST(OffloadCases, ExpertsOfA35BOnTheHostOfAnRtx5080) {
  const Deployment d = with_host_experts(qwen_35b_a3b(), "rtx_5080", "Q4_K_M", desktop());
  const Prediction p = predict(d, {.batch = 1, .prompt = 2048_tok});
  // Memory of the host and its processor are not stated: the bound of a good desktop is not below what was measured.
  EXPECT_GT(p.tokens_per_second_per_user.value.value() / 36.5, 1);
  EXPECT_LT(p.tokens_per_second_per_user.value.value() / 36.5, 2);
  EXPECT_GT(p.prefill_tokens_per_second.value.value(), 692) << "pinned memory; ollama's is pageable";
  EXPECT_LT(p.prefill_tokens_per_second.value.value(), 692 * 3);
  EXPECT_NEAR(p.peak_memory.value.value() / 2.9e9, 1, 0.4);
}

// ollama issue 17557: RTX 4090, DeepSeek-V2-Lite Q2_K, experts on the host 37.5 tok/s, 1.6 GB on the device.
TEST(OffloadCases, ExpertsOfDeepSeekV2LiteOnTheHost) {
  const Deployment d = with_host_experts(*catalogue::network("deepseek-v2-lite"), "rtx_4090", "Q2_K", desktop());
  const Prediction p = predict(d, {.batch = 1});
  EXPECT_GT(p.tokens_per_second_per_user.value.value(), 37.5)
      << "its all-device run, 65 tok/s, is far below the roof too";
  EXPECT_LT(p.tokens_per_second_per_user.value.value(), 37.5 * 4);
  EXPECT_NEAR(p.peak_memory.value.value() / 1.6e9, 1, 0.5);
}

// ollama issue 8667: 317 GB of DeepSeek-R1 on a drive of 7 GB/s would take 45 s a token if all of it were read.
TEST(OffloadCases, AMappedMixtureOfExpertsReadsWhatItTouches) {
  Deployment d{
      .network = catalogue::network("deepseek-r1"),
      .cluster = {.device = with_memory(catalogue::device("epyc_9654"), 64_GiB), .host = Host{.storage_read = 7_GBps}},
      .weights = scheme("Q3_K_M"),
      .offload = {.mapped = true}};
  const double all = weight_bytes(*d.network, d.weights) / 7_GBps / Seconds::from_value(1);
  EXPECT_NEAR(all, 45, 4);
  const Seconds touched = predict(d, {.batch = 1}).tpot.value;
  EXPECT_LT(touched.value(), 0.06 * all) << "8 of 256 experts, and some of those are in memory";
  EXPECT_GT(touched.value(), 0.01 * all);
  d.cluster.device = with_memory(catalogue::device("epyc_9654"), 16_GiB); // not even what every token reads
  EXPECT_GT(predict(d, {.batch = 1}).tpot.value, touched * 1.5);
}

// llama.cpp issue 34: Ryzen 3700X, two channels of DDR4-3200, 65B in 4 bits: 1,089 ms a token.
TEST(OffloadCases, A65BOnADesktopProcessor) {
  Deployment d{.network = catalogue::network("llama-65b"),
               .cluster = {.device = with_memory(catalogue::device("epyc_9654"), 64_GiB)},
               .engine = catalogue::engine("llama.cpp-cpu"),
               .weights = scheme("Q4_0")};
  d.cluster.device.bandwidth = 51.2_GBps;
  EXPECT_NEAR(predict(d, {.batch = 1}).tpot.value.value() / 1.089, 1, 0.2);
}

// llama.cpp issue 6148: Galaxy S24 (8 GB), a 7B model that memory does not hold: 0.3 tok/s.
TEST(OffloadCases, APhoneThatPagesA7B) {
  Deployment d{.network = catalogue::network("llama-2-7b"),
               .cluster = {.device = with_memory(catalogue::device("snapdragon_8_gen_3"), 8_GiB)},
               .engine = catalogue::engine("llama.cpp-cpu"),
               .weights = scheme("Q5_K_M"),
               .kv = *find_format("fp16"),
               .offload = {.mapped = true}};
  const Prediction p = predict(d, {.batch = 1, .prompt = 64_tok, .output = 32_tok});
  EXPECT_GT(p.in_storage.value(), 0);
  EXPECT_NEAR(std::log2(p.tokens_per_second_per_user.value.value() / 0.3), 0, 1.2) << "within a factor of two or so";
}

} // namespace
