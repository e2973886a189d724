// The README shows what the program prints.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program.hpp"

namespace tokenroof::test {
namespace {

struct Example {
  std::vector<std::string> arguments{}; ///< without the program's name
  std::string shown{};
};

/// The blocks of a Markdown file that begin with "$ tokenroof ..." and show what it writes.
std::vector<Example> examples_in(const std::string& path) {
  const std::string opening = "```console\n$ tokenroof ";
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<Example> examples;
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at + 1)) {
    const std::size_t command = at + opening.size();
    const std::size_t line_end = text.find('\n', command);
    std::istringstream words(text.substr(command, line_end - command));
    examples.push_back({.arguments = {std::istream_iterator<std::string>(words), {}},
                        .shown = text.substr(line_end + 1, text.find("```", line_end) - line_end - 1)});
  }
  return examples;
}

TEST(Readme, ShowsWhatTheProgramPrints) {
  const std::vector<Example> examples = examples_in(TOKENROOF_SOURCE_DIR "/README.md");
  EXPECT_GE(examples.size(), 2U);
  for (const Example& example : examples) {
    EXPECT_EQ(output(example.arguments), example.shown);
  }
}

} // namespace
} // namespace tokenroof::test
