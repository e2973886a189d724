/// @file
/// Times and rates of a question, in seconds and tokens a second.
#pragma once

#include "validation/quantities.hpp"

namespace tokenroof::validation {

[[nodiscard]] Answer ttft(const Question& question);
[[nodiscard]] Answer tpot(const Question& question);
[[nodiscard]] Answer end_to_end(const Question& question);
[[nodiscard]] Answer prefill_rate(const Question& question);
[[nodiscard]] Answer decode_rate(const Question& question);
[[nodiscard]] Answer output_rate(const Question& question);

} // namespace tokenroof::validation
