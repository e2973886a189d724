/// @file
/// Prefill: the prompts of a batch, in as many passes as the engine's limit on tokens per pass asks for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tokenroof/roofline/step_model.hpp"

namespace tokenroof {

/// Passes that take `sequences` prompts of `prompt` tokens through a limit of `batched_tokens` a pass: prompts longer
/// than the limit are cut into chunks and follow one another, shorter ones share a pass as whole prompts.
struct PrefillPlan {
  std::int64_t sequences_per_pass = 1;
  std::int64_t passes = 1;              ///< with `sequences_per_pass` sequences each
  std::int64_t remaining_sequences = 0; ///< in one more, smaller pass
  std::int64_t chunks = 1;              ///< of `chunk` tokens, for each pass
  Tokens chunk{};
  Tokens last_chunk{}; ///< one more, shorter chunk; zero: none
};

/// `batched_tokens` of zero is no limit.
[[nodiscard]] inline PrefillPlan plan_prefill(std::int64_t sequences, Tokens prompt, Tokens batched_tokens) {
  if (batched_tokens.value() <= 0 || prompt * static_cast<double>(sequences) <= batched_tokens) {
    return {.sequences_per_pass = sequences, .chunk = prompt};
  }
  if (prompt > batched_tokens) {
    const double chunks = std::floor(prompt / batched_tokens);
    return {.passes = sequences,
            .chunks = static_cast<std::int64_t>(chunks),
            .chunk = batched_tokens,
            .last_chunk = prompt - batched_tokens * chunks};
  }
  const auto together = static_cast<std::int64_t>(batched_tokens / prompt);
  return {.sequences_per_pass = together,
          .passes = sequences / together,
          .remaining_sequences = sequences % together,
          .chunk = prompt};
}

/// The passes of a prefill with all rates resolved; the context each sequence already has is still free.
struct BoundPrefill {
  PrefillPlan plan{};
  BoundStep pass{};
  BoundStep last_chunk{};          ///< when `plan.last_chunk` is not zero
  BoundStep remaining_sequences{}; ///< when `plan.remaining_sequences` is not zero
  /// Pipeline stages that work on different passes at the same time; 1: each pass goes through all before the next.
  double overlapping_stages = 1;

  /// Seconds until the last prompt of the batch is through, each sequence having `context` tokens cached before. Of *p*
  /// stages that overlap, equally long ones, the last pass leaves the last stage `(p - 1)/p` of its own time after the others
  /// are through.
  [[nodiscard]] Seconds time(Tokens context) const {
    Seconds one_pass;
    for (std::int64_t i = 0; i < plan.chunks; ++i) {
      one_pass += pass.time(context + plan.chunk * static_cast<double>(i));
    }
    if (plan.last_chunk.value() > 0) {
      one_pass += last_chunk.time(context + plan.chunk * static_cast<double>(plan.chunks));
    }
    Seconds whole = one_pass * static_cast<double>(plan.passes);
    Seconds last = plan.last_chunk.value() > 0
                       ? last_chunk.time(context + plan.chunk * static_cast<double>(plan.chunks))
                       : pass.time(context + plan.chunk * static_cast<double>(plan.chunks - 1));
    if (plan.remaining_sequences > 0) {
      last = remaining_sequences.time(context);
      whole += last;
    }
    return whole / overlapping_stages + last * (1 - 1 / overlapping_stages);
  }

  /// Of which the operators alone, without the fixed costs of the passes.
  [[nodiscard]] Seconds work_time(Tokens context) const {
    const bool shorter = plan.last_chunk.value() > 0;
    const Seconds one_pass =
        pass.overhead * static_cast<double>(plan.chunks) + last_chunk.overhead * (shorter ? 1.0 : 0.0);
    const Seconds whole = one_pass * static_cast<double>(plan.passes) + remaining_sequences.overhead;
    const Seconds last = plan.remaining_sequences > 0 ? remaining_sequences.overhead
                         : shorter                    ? last_chunk.overhead
                                                      : pass.overhead;
    return time(context) - whole / overlapping_stages - last * (1 - 1 / overlapping_stages);
  }
};

/// Passes of a plan, the smaller ones included.
[[nodiscard]] inline double passes(const PrefillPlan& plan) {
  const std::int64_t chunks = plan.chunks + (plan.last_chunk.value() > 0 ? 1 : 0);
  return static_cast<double>(plan.passes * chunks + (plan.remaining_sequences > 0 ? 1 : 0));
}

/// Resolves the prefill of `sequences` prompts. A `batched_tokens` of zero is no limit.
[[nodiscard]] inline BoundPrefill bind_prefill(const StepModel& model, std::int64_t sequences, Tokens prompt,
                                               Tokens batched_tokens) {
  BoundPrefill prefill{.plan = plan_prefill(sequences, prompt, batched_tokens),
                       .overlapping_stages = model.overlapping_stages};
  const PrefillPlan& plan = prefill.plan;
  prefill.pass = model.at(plan.sequences_per_pass, plan.chunk);
  if (plan.last_chunk.value() > 0) {
    prefill.last_chunk = model.at(plan.sequences_per_pass, plan.last_chunk);
  }
  if (plan.remaining_sequences > 0) {
    prefill.remaining_sequences = model.at(plan.remaining_sequences, plan.chunk);
  }
  return prefill;
}

} // namespace tokenroof
