/// @file
/// Results of benchmarks as observations.
#pragma once

#include <string>
#include <vector>

#include "calibration/benchmark_record.hpp"
#include "tokenroof/calibration.hpp"

namespace tokenroof::calibration {

/// What a result means: none or several observations, or why there is none.
struct Understood {
  std::vector<Observation> observations{};
  std::string reason{};
};

/// A row of `llama-bench` (llama.cpp's tools/llama-bench): a prompt, a generation, or both.
[[nodiscard]] bool is_llama_bench(const Record& record);
[[nodiscard]] Understood understand_llama_bench(const Record& record, const ReadOptions& options);

/// A result of `vllm bench serve` or of SGLang's `bench_serving`.
[[nodiscard]] bool is_serving_benchmark(const Record& record);
[[nodiscard]] Understood understand_serving_benchmark(const Record& record, const ReadOptions& options);

/// A result of SGLang's `bench_one_batch`: a static batch.
[[nodiscard]] bool is_one_batch(const Record& record);
[[nodiscard]] Understood understand_one_batch(const Record& record, const ReadOptions& options);

} // namespace tokenroof::calibration
