/// @file
/// Quantiles of a stream in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tokenroof::validation {

/// Quantiles of numbers that are not negative. Exact for the first `most_exact` of them; from then on from a histogram
/// whose buckets grow by a constant ratio, within 0.5 % of the exact one @cite ddsketch.
class Quantiles {
public:
  static constexpr std::size_t most_exact = 1024;

  /// What is below `smallest` counts as 0, what is above `largest` as `largest`.
  static constexpr double smallest = 1e-9;
  static constexpr double largest = 1e9;

  void add(double value);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] bool exact() const noexcept { return buckets_.empty(); }

  /// The value below or at which that share of the numbers lies, between neighbours by the straight line between them
  /// while exact. NaN where there is none.
  [[nodiscard]] double quantile(double share) const;

private:
  void count_in_bucket(double value);
  [[nodiscard]] double exact_quantile(double share) const;

  std::uint64_t count_ = 0;
  std::vector<double> values_{};
  std::map<int, std::uint64_t> buckets_{}; ///< at most ln(largest / smallest) / ln(growth), some four thousand
};

} // namespace tokenroof::validation
