// What people write is understood, and every alias means something that exists.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "validation/aliases.hpp"
#include "validation/names.hpp"

namespace tokenroof::validation {
namespace {

using testing::HasSubstr;

std::string device_of(const std::string& text) {
  const HardwareName name = resolve_hardware(text);
  return name.hardware ? std::string(name.hardware.meaning->device.id.view()) : name.hardware.reason;
}

std::string network_of(const std::string& text) {
  const auto name = resolve_network(text);
  return name ? name.meaning->entry->id : name.reason;
}

std::string scheme_of(const std::string& text, const std::string& network) {
  const auto name = resolve_network(network);
  const auto scheme = resolve_weights(text, name.meaning.value_or(NetworkName{}));
  return scheme ? std::string(scheme.meaning->name.view()) : scheme.reason;
}

TEST(HardwareNames, AreUnderstoodAsPeopleWriteThem) {
  EXPECT_EQ(device_of("H100 80GB SXM (79.19 GiB visible)"), "h100_sxm");
  EXPECT_EQ(device_of("NVIDIA GeForce RTX 3090"), "rtx_3090");
  EXPECT_EQ(device_of("1x NVIDIA GeForce RTX 3090 Ti"), "rtx_3090_ti");
  EXPECT_EQ(device_of("2x Tesla T4"), "t4");
  EXPECT_EQ(device_of("A100-80GB-SXM"), "a100_sxm_80gb");
  EXPECT_EQ(device_of("NVIDIA A100 SXM4 40GB"), "a100_sxm_40gb");
  EXPECT_EQ(device_of("AMD Ryzen AI Max+ 395 (Radeon 8060S, Strix Halo, 128GB)"), "ryzen_ai_max_395");
  EXPECT_EQ(device_of("OnePlus 12 (Snapdragon 8 Gen 3)"), "snapdragon_8_gen_3");
  EXPECT_EQ(device_of("Apple M3 Max 40c"), "apple_m3_max_40c");
}

TEST(HardwareNames, CountInFrontIsTheNumberOfDevices) {
  EXPECT_EQ(resolve_hardware("16x NVIDIA GeForce RTX 3090").devices, 16);
  EXPECT_EQ(resolve_hardware("8xH100").devices, 8);
  EXPECT_EQ(resolve_hardware("H100").devices, 1);
}

TEST(HardwareNames, SizesInRemarksChooseAndTell) {
  const Hardware halo =
      resolve_hardware("AMD Ryzen AI Max+ 395 (Radeon 8060S, Strix Halo, 128GB)").hardware.meaning.value();
  EXPECT_EQ(memory(halo.device)->capacity, Bytes::from_value(128 * 0x1p30));
  const Hardware hopper = resolve_hardware("H100 80GB SXM (79.19 GiB visible)").hardware.meaning.value();
  EXPECT_EQ(hopper.visible, Bytes::from_value(79.19 * 0x1p30));
}

TEST(HardwareNames, SeveralKindsAreCountedAndNotResolved) {
  const HardwareName name = resolve_hardware("2x NVIDIA GeForce RTX 5090 + NVIDIA GeForce RTX 4090");
  EXPECT_EQ(name.devices, 3);
  EXPECT_FALSE(name.hardware);
  EXPECT_THAT(name.hardware.reason, HasSubstr("several kinds"));
  EXPECT_TRUE(resolve_hardware("NVIDIA GeForce RTX 4090 + NVIDIA GeForce RTX 4090").hardware);
}

TEST(HardwareNames, UnknownOnesNameTheNearest) { EXPECT_THAT(device_of("RTX 4090X"), HasSubstr("nearest: rtx_4090")); }

TEST(NetworkNames, AreUnderstoodAsPeopleWriteThem) {
  EXPECT_EQ(network_of("meta-llama/Llama-3.1-8B-Instruct"), "llama-3.1-8b");
  EXPECT_EQ(network_of("Meta_Llama_3.1_8b_it [8.030 B]"), "llama-3.1-8b");
  EXPECT_EQ(network_of("Qwen2.5-7B-Instruct"), "qwen2.5-7b");
  EXPECT_EQ(network_of("RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8"), "qwen2.5-7b");
  EXPECT_EQ(network_of("unsloth_DeepSeek R1 BF16 [672.050 B]"), "deepseek-r1");
  EXPECT_EQ(network_of("deepseek-ai/DeepSeek-V2-Lite-Chat"), "deepseek-v2-lite");
  EXPECT_EQ(network_of("Mistral-Small-3.1-24B-Instruct-2503-UD-Q4_K_XL"), "mistral-small-24b");
  EXPECT_EQ(network_of("llama-2-7b.Q4_K_M"), "llama-2-7b");
  EXPECT_EQ(network_of("gpt-oss-20b-F16"), "gpt-oss-20b");
  EXPECT_EQ(network_of("zhipuai/GLM-5"), "glm-5.1");
  EXPECT_EQ(network_of("Qwen3-Coder-Next"), "qwen3-next-80b-a3b");
}

TEST(NetworkNames, WhatIsAmbiguousIsNotGuessed) {
  EXPECT_EQ(network_of("LLaMA v2 [13.016 B]"), "llama-2-13b");
  EXPECT_THAT(network_of("LLaMA v2"), HasSubstr("unknown network"));
  EXPECT_THAT(network_of("qwen2.5-7c"), HasSubstr("nearest: qwen2.5-7b"));
}

TEST(WeightFormatNames, AreUnderstoodAsPeopleWriteThem) {
  EXPECT_EQ(scheme_of("Q4_K - Medium", "llama-2-7b"), "Q4_K_M");
  EXPECT_EQ(scheme_of("bfloat16", "llama-2-7b"), "bf16");
  EXPECT_EQ(scheme_of("int4-gptq", "qwen2.5-7b"), "int4-g128");
  EXPECT_EQ(scheme_of("bnb.nf4", "llama-2-7b"), "nf4");
  EXPECT_EQ(scheme_of("F16", "llama-2-7b"), "ggml-f16");
  EXPECT_EQ(scheme_of("F16", "gpt-oss-20b"), "ggml-f16-mxfp4");
  EXPECT_EQ(scheme_of("fp8 (moe fp8_block)", "glm-5.1"), "fp8-block");
  EXPECT_EQ(scheme_of("Q2_K - Small", "llama-3.1-8b"), "Q2_K_S");
  EXPECT_EQ(scheme_of("MLX mxfp4", "gemma-4-31b"), "mlx-4bit");
}

TEST(WeightFormatNames, NetworksNameSaysWhatTheFormatLeavesOpen) {
  EXPECT_EQ(scheme_of("bfloat16/compressed-tensors", "RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8"), "int8");
  EXPECT_EQ(scheme_of("bfloat16/compressed-tensors", "RedHatAI/Qwen2.5-7B-Instruct-fp8-dynamic"), "fp8");
  EXPECT_EQ(scheme_of("", "llama-2-13b.Q4_K_M"), "Q4_K_M");
}

TEST(WeightFormatNames, StatedBitsServeWhereTheFormatIsUnknown) {
  const auto scheme = resolve_weights("XY4_KSS - 4.0 bpw", {}).meaning.value();
  EXPECT_DOUBLE_EQ(bits_per_element(scheme.format), 4);
  EXPECT_THAT(resolve_weights("XY4_KSS", {}).reason, HasSubstr("XY4_KSS"));
  EXPECT_FALSE(resolve_weights("XY4_KSS - many bpw", {}));
}

TEST(CacheFormatNames, PairsAreMeans) {
  const Format usual = *find_format("fp16");
  EXPECT_EQ(resolve_kv("auto", usual).meaning, usual);
  EXPECT_EQ(resolve_kv("", usual).meaning, usual);
  EXPECT_EQ(resolve_kv("f16/f16", usual).meaning, usual);
  EXPECT_EQ(resolve_kv("q8_0", usual).meaning, find_format("Q8_0"));
  EXPECT_DOUBLE_EQ(bytes_per_element(resolve_kv("iq4_nl/f16", usual).meaning.value()), (18.0 / 32 + 2) / 2);
  EXPECT_DOUBLE_EQ(bytes_per_element(resolve_kv("q8_0/f16", usual, 0.6).meaning.value()), 0.6 * 34 / 32 + 0.4 * 2);
  EXPECT_FALSE(resolve_kv("f16/f17", usual));
}

TEST(EngineNames, BackendAndDeviceDecide) {
  const auto engine_of = [](const char* framework, const char* backend, const Device* device) {
    return std::string(resolve_engine(framework, backend, "", "", device).meaning.value().engine->id.view());
  };
  const Device mac = resolve_hardware("apple_m2_ultra_76c").hardware.meaning->device;
  EXPECT_EQ(engine_of("vLLM", "", nullptr), "vllm");
  EXPECT_EQ(engine_of("llama.cpp", "Metal", nullptr), "llama.cpp-metal");
  EXPECT_EQ(engine_of("llama.cpp", "", &mac), "llama.cpp-metal");
  EXPECT_EQ(engine_of("llama.cpp", "CUDA", nullptr), "llama.cpp-cuda");
  EXPECT_EQ(engine_of("ollama", "", &mac), "llama.cpp-metal");
  EXPECT_EQ(engine_of("mlx-vlm", "", &mac), "mlx");
  EXPECT_EQ(engine_of("Qualcomm AI Hub genie", "NPU", nullptr), "genie");
  EXPECT_FALSE(resolve_engine("ollama", "", "", "", nullptr)) << "on other devices it is not known which backend it used";
  EXPECT_THAT(resolve_engine("nobody's", "", "", "", nullptr).reason, HasSubstr("nobody's"));
}

TEST(Versions, AreTheirNumbers) {
  EXPECT_EQ(version_numbers("v0.19.0 (V1)"), (std::vector<double>{0, 19, 0}));
  EXPECT_EQ(version_numbers("b1691 (7082d24)"), (std::vector<double>{1691}));
  EXPECT_EQ(version_numbers("2025 (see thread)"), (std::vector<double>{2025}));
  EXPECT_TRUE(version_numbers("nightly").empty());
}

TEST(Settings, AreNumbersBehindKnownWords) {
  const Settings settings = settings_in("per GPU; pp=2 dp=1; max_num_batched_tokens=8192; block_size=128, n_ctx=many");
  const auto at = [&](Setting setting) { return settings[static_cast<std::size_t>(setting)]; };
  EXPECT_EQ(at(Setting::pipeline), 2);
  EXPECT_EQ(at(Setting::batched_tokens), 8192);
  EXPECT_EQ(at(Setting::kv_block), 128);
  EXPECT_EQ(at(Setting::context), std::nullopt);
  EXPECT_EQ(settings_in("CUDA3 model buffer size")[static_cast<std::size_t>(Setting::device_index)], 3);
  EXPECT_EQ(settings_in("n_batch=2048 n_ubatch=512")[static_cast<std::size_t>(Setting::batched_tokens)], 512);
  const auto expanded = static_cast<std::size_t>(Setting::expanded_cache);
  EXPECT_EQ(settings_in("mla=0; K (f16): 1, V (f16): 1")[expanded], 1);
  EXPECT_EQ(settings_in("mla=2 c^KV (f16)")[expanded], 0);
  EXPECT_EQ(settings_in("mla=2")[expanded], 0);
  EXPECT_EQ(settings_in("warp=3")[static_cast<std::size_t>(Setting::pipeline)], std::nullopt) << "within a word";
}

TEST(Aliases, MeanWhatExists) {
  for (const Alias& alias : aliases().devices) {
    EXPECT_TRUE(resolve_hardware(alias.means).hardware) << alias.means;
  }
  for (const Alias& alias : aliases().networks) {
    EXPECT_TRUE(resolve_network(alias.means)) << alias.means;
  }
  for (const Alias& alias : aliases().kv_formats) {
    EXPECT_TRUE(find_format(alias.means)) << alias.means;
  }
  for (const EngineAlias& alias : aliases().engines) {
    EXPECT_NO_THROW((void)catalogue::engine(alias.means)) << alias.means;
  }
  for (const auto* list : {&aliases().weight_formats, &aliases().network_suffixes}) {
    for (const Alias& alias : *list) {
      EXPECT_TRUE(alias.means.empty() || find_scheme(alias.means)) << alias.means;
    }
  }
}

TEST(Aliases, MeanOneThing) {
  for (const auto* list : {&aliases().devices, &aliases().networks, &aliases().kv_formats}) {
    std::set<std::string> names;
    for (const Alias& alias : *list) {
      for (const std::string& name : alias.names) {
        EXPECT_TRUE(names.insert(name).second) << name;
      }
    }
  }
}

TEST(Quantities, AreFoundByName) {
  for (std::size_t i = 0; i < quantity_count; ++i) {
    const auto quantity = static_cast<Quantity>(i);
    EXPECT_EQ(find_quantity(name(quantity)), quantity);
  }
}

} // namespace
} // namespace tokenroof::validation
