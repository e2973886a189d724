/// @file
/// What a remedy changes, in words.
#pragma once

#include <string>

#include "tokenroof/planning/remedies.hpp"

namespace tokenroof::report {

/// "weights Q4_K_M", "4 x tensor parallel": the changed part as it is after the change.
[[nodiscard]] std::string change_text(const planning::Remedy& remedy);

} // namespace tokenroof::report
