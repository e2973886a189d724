/// @file
/// A sweep's columns as Eigen arrays, without a copy. The view ends with the column that it looks at.
#pragma once

#include <span>

#include <Eigen/Core>

namespace tokenroof::integrations {

/// A column as an array to compute with: `(as_array(ttft) + 255 * as_array(tpot)).maxCoeff()`.
///
/// A map, never an owning Eigen type: those change their alignment with -march, so that one returned from a library
/// built without it to a caller built with it crashes.
[[nodiscard]] inline Eigen::Map<const Eigen::ArrayXd> as_array(std::span<const double> column) {
  return {column.data(), static_cast<Eigen::Index>(column.size())};
}

[[nodiscard]] inline Eigen::Map<Eigen::ArrayXd> as_array(std::span<double> column) {
  return {column.data(), static_cast<Eigen::Index>(column.size())};
}

/// A column over a grid as a table: rows run over the outer axis, columns over the inner one (the context).
[[nodiscard]] inline auto as_table(std::span<const double> column, std::size_t rows) {
  using Table = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Table>(column.data(), static_cast<Eigen::Index>(rows),
                                 rows == 0 ? 0 : static_cast<Eigen::Index>(column.size() / rows));
}

} // namespace tokenroof::integrations
