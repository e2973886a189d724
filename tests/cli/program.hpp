/// @file
/// Runs the real program.
#pragma once

#include <string>
#include <vector>

namespace tokenroof::test {

struct Outcome {
  int exit_code = -1; ///< -1: ended by a signal
  std::string out{};
  std::string err{};
};

/// Runs tokenroof with these arguments, as they stand: no shell is between.
[[nodiscard]] Outcome run(const std::vector<std::string>& arguments);

/// The same with the common part of most questions: `predict --model llama-3.1-8b --device h100_sxm`.
[[nodiscard]] Outcome run_predict(const std::vector<std::string>& more);

/// What it writes to stdout; expects it to succeed without a message.
[[nodiscard]] std::string output(const std::vector<std::string>& arguments);

/// The lines of a text, without their ends.
[[nodiscard]] std::vector<std::string> lines(const std::string& text);

/// The fields of a line of CSV that quotes nothing.
[[nodiscard]] std::vector<std::string> fields(const std::string& line);

} // namespace tokenroof::test
