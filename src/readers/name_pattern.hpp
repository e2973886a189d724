/// @file
/// Patterns for names of modules, as files that state quantisation write them: names, globs and regular expressions.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace tokenroof::readers {

/// What may still be done before a file is refused for the work it makes.
struct MatchBudget {
  std::uint64_t steps = 50'000'000;
};

/// Matches in time linear in the name whatever the pattern: hostile ones cannot make it backtrack.
///
/// A plain name stands for the module, in whatever it lies, and for all modules within it: `gate` for
/// `model.layers.0.mlp.gate`. A glob (`*`, `?`) stands for whole names and for all modules within them. A regular expression
/// (`re:` before it) needs to match the beginning of a name only, as in Python's `re.match`.
class NamePattern {
public:
  static constexpr std::size_t most_bytes = 1024;

  /// Nothing where the pattern is longer than `most_bytes`, or where it uses what is not understood (look-around, back
  /// references, counted repetition).
  [[nodiscard]] static std::optional<NamePattern> parse(std::string_view text);

  /// Takes what it does off the budget, and is false once that is spent.
  [[nodiscard]] bool matches(std::string_view name, MatchBudget& budget) const;

  struct Instruction {
    enum class Kind : std::uint8_t { any, character, set, split, jump, at_start, at_end, at_boundary, accept };
    Kind kind = Kind::accept;
    char character = '\0';
    std::int32_t to = 0; ///< of a jump, and the other way of a split, relative to the instruction
    std::shared_ptr<const std::bitset<256>> set{}; ///< characters that match
  };

private:
  explicit NamePattern(std::vector<Instruction> program) : program_(std::move(program)) {}

  std::vector<Instruction> program_;
};

} // namespace tokenroof::readers
