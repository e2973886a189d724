/// @file
/// What an entry of the device table is written in: figures in the units of models/devices/*.json.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tokenroof/hardware/device.hpp"

namespace tokenroof::catalogue {

/// A normalised spelling and the index of the device it means.
struct DeviceAlias {
  std::string_view spelling{};
  std::uint16_t index = 0;
};

namespace entry {

[[nodiscard]] constexpr Bytes gibibytes(double value) { return Bytes::from_value(value * 1073741824.0); }
[[nodiscard]] constexpr Bytes mebibytes(double value) { return Bytes::from_value(value * 1048576.0); }
[[nodiscard]] constexpr Bandwidth gigabytes_per_second(double value) { return Bandwidth::from_value(value * 1e9); }
[[nodiscard]] constexpr ComputeRate teraflops(double value) { return ComputeRate::from_value(value * 1e12); }
[[nodiscard]] constexpr double megahertz(double value) { return value * 1e6; }
[[nodiscard]] constexpr Watts watts(double value) { return Watts::from_value(value); }
[[nodiscard]] constexpr UsDollars dollars(double value) { return UsDollars::from_value(value); }
[[nodiscard]] constexpr Price dollars_per_hour(double value) { return Price::from_value(value / 3600.0); }

/// A datasheet's rate in TFLOPS.
[[nodiscard]] constexpr Rate published(double value) {
  return {teraflops(value), teraflops(value), teraflops(value), Basis::published};
}

/// An effective rate in TFLOPS, inferred from measured rows.
[[nodiscard]] constexpr Rate fitted(double value, double low, double high) {
  return {teraflops(value), teraflops(low), teraflops(high), Basis::fitted};
}

/// The middle value, or the mean of the two in the middle.
[[nodiscard]] constexpr double median_of_sorted(std::span<const double> values) {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

template <std::size_t Count>
[[nodiscard]] constexpr double median(std::array<double, Count> values) {
  std::sort(values.begin(), values.end());
  return median_of_sorted(values);
}

} // namespace entry
} // namespace tokenroof::catalogue
