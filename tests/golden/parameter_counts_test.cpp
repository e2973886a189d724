// Parameters of the language model proper: what the checkpoints' safetensors metadata hold, less stored duplicates of the
// head, attention masks, quantisation scales and prediction modules. Active: per token, embedding tables included.
#include <array>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace {

using namespace tokenroof;

struct Row {
  std::string_view name;
  Count total;
  Count active = 0; ///< 0: not published
};

constexpr std::array rows = {
    Row{"bigscience/bloom", 176'247'271'424},
    Row{"codellama/CodeLlama-7b-Instruct-hf", 6'738'546'688},
    Row{"CohereForAI/c4ai-command-r-plus-08-2024", 103'810'674'688},
    Row{"CohereForAI/c4ai-command-r-v01", 34'980'831'232},
    Row{"databricks/dbrx-instruct", 131'596'523'520, 36'469'708'800},
    Row{"deepseek-ai/DeepSeek-V2-Lite", 15'706'484'224, 2'661'150'208},
    Row{"deepseek-ai/DeepSeek-V2", 235'741'434'880, 21'375'800'320},
    Row{"deepseek-ai/DeepSeek-R1", 671'026'419'200, 37'552'297'472},
    Row{"deepseek-ai/DeepSeek-V3.1", 671'026'419'200, 37'552'297'472},
    Row{"deepseek-ai/DeepSeek-V3", 671'026'419'200, 37'552'297'472},
    Row{"tiiuae/falcon-180B-chat", 178'557'088'768},
    Row{"tiiuae/falcon-7b", 6'921'720'704},
    Row{"google/gemma-2-2b-it", 2'614'341'888},
    Row{"google/gemma-2-9b-it", 9'241'705'984},
    Row{"google/gemma-3-1b-it", 999'885'952},
    Row{"google/gemma-3-270m", 268'098'176},
    Row{"openai-community/gpt2-medium", 354'823'168},
    Row{"openai-community/gpt2", 124'439'808},
    Row{"internlm/internlm2_5-7b-chat", 7'737'708'544},
    Row{"moonshotai/Kimi-K2-Instruct", 1'026'408'232'448, 32'861'500'928},
    Row{"deepseek-ai/DeepSeek-V3.2", 671'877'944'064, 38'403'822'336},
    Row{"LiquidAI/LFM2-1.2B", 1'170'340'608},
    Row{"tiiuae/Falcon-H1-0.5B-Base", 521'411'104},
    Row{"tiiuae/falcon-mamba-7b-instruct", 7'272'665'088},
    Row{"ibm-granite/granite-4.0-h-small", 32'207'337'984, 8'803'121'664},
    Row{"moonshotai/Kimi-Linear-48B-A3B-Instruct", 49'122'681'728, 3'484'459'904},
    Row{"MiniMaxAI/MiniMax-M1-80k", 456'089'655'296, 48'403'306'496},
    Row{"Qwen/Qwen3-Next-80B-A3B-Instruct", 79'674'391'296, 3'874'929'408},
    Row{"mistralai/Mistral-Small-4-119B-2603", 118'972'826'624},
    Row{"moonshotai/Moonlight-16B-A3B", 15'960'110'208, 2'914'776'192},
    Row{"meta-llama/Llama-2-7b-hf", 6'738'415'616},
    Row{"meta-llama/Meta-Llama-3-70B", 70'553'706'496},
    Row{"meta-llama/Meta-Llama-3-8B", 8'030'261'248},
    Row{"meta-llama/Llama-4-Scout-17B-16E-Instruct", 107'769'861'120, 17'172'894'720},
    Row{"MiniMaxAI/MiniMax-M2.5", 228'689'764'864, 11'030'553'088},
    Row{"MiniMaxAI/MiniMax-M2.7", 228'689'764'864, 11'030'553'088},
    Row{"mistralai/Mistral-7B-Instruct-v0.3", 7'248'023'552},
    Row{"mistralai/Mistral-7B-v0.1", 7'241'732'096},
    Row{"mistralai/Mistral-Large-Instruct-2407", 122'610'069'504},
    Row{"mistralai/Mistral-Small-24B-Instruct-2501", 23'572'403'200},
    Row{"alpindale/WizardLM-2-8x22B", 140'620'634'112, 39'152'031'744},
    Row{"microsoft/Phi-3.5-mini-instruct", 3'821'079'552},
    Row{"microsoft/Phi-4-mini-instruct", 3'836'021'760},
    Row{"microsoft/Phi-mini-MoE-instruct", 7'647'632'704, 2'362'809'664},
    Row{"microsoft/phi-4", 14'659'507'200},
    Row{"deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", 32'763'876'352},
    Row{"Qwen/Qwen1.5-0.5B-Chat", 463'987'712},
    Row{"Qwen/Qwen1.5-1.8B-Chat", 1'836'828'672},
    Row{"Qwen/Qwen1.5-7B-Chat", 7'721'324'544},
    Row{"Qwen/Qwen1.5-MoE-A2.7B", 14'315'784'192, 2'689'173'504},
    Row{"Qwen/Qwen2-0.5B-Instruct", 494'032'768},
    Row{"Qwen/Qwen2-1.5B-Instruct", 1'543'714'304},
    Row{"Qwen/Qwen2-72B", 72'706'203'648},
    Row{"Qwen/Qwen2-7B-Instruct", 7'615'616'512},
    Row{"Qwen/Qwen2.5-1.5B", 1'543'714'304},
    Row{"Qwen/Qwen2.5-32B", 32'763'876'352},
    Row{"Qwen/Qwen2.5-3B-Instruct", 3'085'938'688},
    Row{"Qwen/Qwen2.5-72B", 72'706'203'648},
    Row{"Qwen/Qwen2.5-7B-Instruct", 7'615'616'512},
    Row{"Qwen/Qwen2.5-7B", 7'615'616'512},
    Row{"Qwen/Qwen3-1.7B", 1'720'574'976},
    Row{"Qwen/Qwen3-14B", 14'768'307'200},
    Row{"Qwen/Qwen3-235B-A22B-FP8", 235'093'634'560, 22'190'763'520},
    Row{"Qwen/Qwen3-235B-A22B", 235'093'634'560, 22'190'763'520},
    Row{"Qwen/Qwen3-30B-A3B", 30'532'122'624, 3'353'032'704},
    Row{"Qwen/Qwen3-32B", 32'762'123'264},
    Row{"Qwen/Qwen3-4B", 4'022'468'096},
    Row{"Qwen/Qwen3-8B", 8'190'735'360},
    Row{"HuggingFaceTB/SmolLM-1.7B", 1'711'376'384},
    Row{"HuggingFaceTB/SmolLM-135M", 134'515'008},
    Row{"HuggingFaceTB/SmolLM2-135M", 134'515'008},
    Row{"HuggingFaceTB/SmolLM2-360M", 361'821'120},
    Row{"stabilityai/stablelm-3b-4e1t", 2'795'443'200},
    Row{"bigcode/starcoder2-7b", 7'173'923'840},
    Row{"TinyLlama/TinyLlama-1.1B-Chat-v1.0", 1'100'048'384},
    Row{"01-ai/Yi-34B", 34'388'917'248},
    Row{"01-ai/Yi-6B-Chat", 6'061'035'520},
};

TEST(ParameterCounts, EqualPublishedTotals) {
  for (const Row& row : rows) {
    const ParameterCount count = count_parameters(*catalogue::network(row.name));
    EXPECT_EQ(count.total(), row.total) << row.name;
    if (row.active > 0) {
      EXPECT_EQ(count.active(), row.active) << row.name;
    }
  }
}

struct WithPrediction {
  std::string_view name;
  Count stored; ///< elements of the checkpoint
};

// NVIDIA-NeMo/Megatron-Bridge, model verification cards, and the safetensors metadata of Qwen3-Next.
TEST(ParameterCounts, CheckpointsHoldThePredictionModulesToo) {
  for (const WithPrediction& row : {WithPrediction{"nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", 123'611'033'088},
                                    WithPrediction{"zai-org/GLM-5.2", 753'329'940'480},
                                    WithPrediction{"Qwen/Qwen3-Next-80B-A3B-Instruct", 81'324'862'720}}) {
    const ParameterCount count = count_parameters(*catalogue::network(row.name));
    EXPECT_EQ(count.total() + count.prediction, row.stored) << row.name;
  }
}

/// 32-bit scales of blocks of 128 x 128 in all matrices that fp8 checkpoints quantise.
Count block_scales(const Network& network) {
  constexpr RoleSet kept = {
      TensorRole::token_embedding, TensorRole::tied_embedding,        TensorRole::lm_head,
      TensorRole::router,          TensorRole::prediction_projection, TensorRole::indexer_weights};
  const auto blocks = [](Count length) { return (length + 127) / 128; };
  Count scales = 0;
  Count layers = 0;
  const auto add = [&](const Tensor& tensor) {
    if (!is_vector(tensor.role) && !kept.contains(tensor.role)) {
      scales += layers * tensor.count * blocks(tensor.rows) * blocks(tensor.row_length);
    }
  };
  for (const LayerRun& run : network.layers) {
    layers = run.count;
    for_each_tensor(run.block, network, add);
  }
  layers = network.prediction_heads;
  for_each_prediction_tensor(network, add);
  return scales;
}

struct Stored {
  std::string_view name;
  Count elements;
  bool second_head = false; ///< a tied head is stored again
  bool prediction = false;  ///< with copies of embedding and head
  bool scales = false;      ///< of fp8 blocks, counted as elements
};

// Safetensors metadata of the checkpoints.
TEST(ParameterCounts, WhatCheckpointsStoreBesideTheNetwork) {
  for (const Stored& row : {
           Stored{"tiiuae/falcon-7b", 7'217'189'760, true},
           Stored{"tiiuae/falcon-180B-chat", 179'522'565'120, true},
           Stored{"Qwen/Qwen3-1.7B", 2'031'739'904, true},
           Stored{"Qwen/Qwen1.5-0.5B-Chat", 619'570'176, true},
           Stored{"MiniMaxAI/MiniMax-M2.5", 228'703'644'928, false, false, true},
           Stored{"Qwen/Qwen3-235B-A22B-FP8", 235'107'904'512, false, false, true},
           Stored{"deepseek-ai/DeepSeek-V3.1", 684'531'386'000, false, true, true},
           Stored{"deepseek-ai/DeepSeek-R1", 684'531'386'000, false, true, true},
           Stored{"deepseek-ai/DeepSeek-V3.2-Exp", 685'396'921'376, false, true, true},
       }) {
    Network network = *catalogue::network(row.name);
    network.prediction_heads = row.prediction ? network.prediction_heads : 0;
    const ParameterCount count = count_parameters(network);
    const Count table = network.vocabulary * network.hidden;
    EXPECT_EQ(count.total() + count.prediction + (row.second_head ? table : 0) + (row.prediction ? 2 * table : 0) +
                  (row.scales ? block_scales(network) : 0),
              row.elements)
        << row.name;
  }
}

// Causal masks of 1024 x 1024 in every layer.
TEST(ParameterCounts, GptCheckpointsHoldMasks) {
  for (const auto& [name, elements] : {std::pair{"gpt2", 137'022'720}, std::pair{"gpt2-medium", 379'988'992}}) {
    const Network& network = *catalogue::network(name);
    EXPECT_EQ(count_parameters(network).total() + layer_count(network) * 1024 * 1024, elements) << name;
  }
}

// gpt-oss-120b's model card: 116.83 B in total, 5.13 B active without the embedding table.
TEST(ParameterCounts, BothConventionsOfActive) {
  const ParameterCount count = count_parameters(*catalogue::network("gpt-oss-120b"));
  EXPECT_EQ(count.total(), 116'829'156'672);
  EXPECT_EQ(count.active(), 5'711'982'912);
  EXPECT_EQ(count.active_without_embeddings(), 5'132'849'472);
}

} // namespace
