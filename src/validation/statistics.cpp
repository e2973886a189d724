#include "validation/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tokenroof::validation {

namespace {

/// Of neighbouring buckets' bounds. A value is half a bucket from the middle at most.
constexpr double growth = 1.01;

int bucket_of(double value) {
  return value < Quantiles::smallest ? std::numeric_limits<int>::min()
                                     : static_cast<int>(std::floor(std::log(value) / std::log(growth)));
}

double middle_of(int bucket) { return bucket == std::numeric_limits<int>::min() ? 0 : std::pow(growth, bucket + 0.5); }

} // namespace

void Quantiles::add(double value) {
  value = std::min(value, largest);
  ++count_;
  if (count_ <= most_exact) {
    values_.push_back(value);
    return;
  }
  for (const double earlier : values_) {
    count_in_bucket(earlier);
  }
  values_.clear();
  count_in_bucket(value);
}

void Quantiles::count_in_bucket(double value) { ++buckets_[bucket_of(value)]; }

double Quantiles::exact_quantile(double share) const {
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

double Quantiles::quantile(double share) const {
  if (count_ == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (exact()) {
    return exact_quantile(share);
  }
  const double wanted = share * static_cast<double>(count_ - 1);
  double passed = 0;
  for (const auto& [bucket, values] : buckets_) {
    passed += static_cast<double>(values);
    if (passed > wanted) {
      return middle_of(bucket);
    }
  }
  return middle_of(buckets_.rbegin()->first);
}

} // namespace tokenroof::validation
