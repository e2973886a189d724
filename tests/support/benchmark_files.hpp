/// @file
/// Texts as benchmarks write them, with the times of an engine that is known.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tokenroof::test {

/// One row of `llama-bench -o json`: of a prompt, a generation, or both, at a depth.
struct LlamaBenchRow {
  int prompt = 0;
  int generated = 0;
  int depth = 0;
  double tokens_per_second = 0;
};

/// What a row says beside its test: names and values as in JSON.
using LlamaBenchFields = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] inline LlamaBenchFields llama_bench_fields() {
  return {{"build_commit", R"("a1b2c3d")"},
          {"build_number", "6700"},
          {"cpu_info", R"("AMD Ryzen 9 7950X")"},
          {"gpu_info", R"("NVIDIA GeForce RTX 4090")"},
          {"backends", R"("CUDA")"},
          {"model_filename", R"("models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf")"},
          {"model_type", R"("llama 8B Q4_K - Medium")"},
          {"model_size", "4912898304"},
          {"model_n_params", "8030261312"},
          {"n_batch", "2048"},
          {"n_ubatch", "512"},
          {"type_k", R"("f16")"},
          {"type_v", R"("f16")"},
          {"n_gpu_layers", "99"},
          {"split_mode", R"("layer")"},
          {"flash_attn", "true"}};
}

[[nodiscard]] inline LlamaBenchFields with_test(LlamaBenchFields fields, const LlamaBenchRow& row) {
  fields.emplace_back("n_prompt", std::to_string(row.prompt));
  fields.emplace_back("n_gen", std::to_string(row.generated));
  fields.emplace_back("n_depth", std::to_string(row.depth));
  fields.emplace_back("avg_ts", fmt::format("{}", row.tokens_per_second));
  fields.emplace_back("stddev_ts", "1.5");
  return fields;
}

[[nodiscard]] inline std::string json_object(const LlamaBenchFields& fields) {
  std::string text = "{";
  for (const auto& [name, value] : fields) {
    text += fmt::format(R"({}"{}": {})", text.size() > 1 ? ", " : "", name, value);
  }
  return text + "}";
}

[[nodiscard]] inline std::string llama_bench_json(const std::vector<LlamaBenchRow>& rows,
                                                  const LlamaBenchFields& fields = llama_bench_fields()) {
  std::string text;
  for (const LlamaBenchRow& row : rows) {
    text += (text.empty() ? "[\n" : ",\n") + json_object(with_test(fields, row));
  }
  return text + "\n]\n";
}

[[nodiscard]] inline std::string llama_bench_csv(const std::vector<LlamaBenchRow>& rows) {
  std::string text;
  for (const LlamaBenchRow& row : rows) {
    std::string names;
    std::string values;
    for (const auto& [name, value] : with_test(llama_bench_fields(), row)) {
      names += (names.empty() ? "" : ",") + name;
      values += (values.empty() ? "" : ",") + (value.front() == '"' ? value : '"' + value + '"');
    }
    text += (text.empty() ? names + "\n" : std::string()) + values + "\n";
  }
  return text;
}

/// A result of `vllm bench serve`: requests one after another, or several at once.
[[nodiscard]] inline std::string serving_json(int concurrency, double ttft_ms, double tpot_ms,
                                              const std::string& model = "meta-llama/Llama-3.1-8B-Instruct") {
  return fmt::format(R"({{"date": "20261101-101500", "backend": "vllm", "model_id": "{}", "num_prompts": 10,
    "request_rate": "inf", "max_concurrency": {}, "duration": 12.5, "completed": 10, "total_input_tokens": 10240,
    "total_output_tokens": 1280, "request_throughput": 0.8, "output_throughput": 102.4, "mean_ttft_ms": {},
    "median_ttft_ms": {}, "mean_tpot_ms": {}, "median_tpot_ms": {}, "itls": [[0.01, 0.02]]}})",
                     model, concurrency, ttft_ms * 3, ttft_ms, tpot_ms * 2, tpot_ms);
}

} // namespace tokenroof::test
