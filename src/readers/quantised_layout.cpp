#include "readers/quantised_layout.hpp"

#include <cmath>
#include <string>

namespace tokenroof::readers {
namespace {

constexpr double scale_bytes_16 = 2;
constexpr double scale_bytes_32 = 4;
constexpr double bits_a_byte = 8;

Format known(std::string_view name) { return find_format(name).value(); }

Count whole_groups(Count elements, Count group) { return (elements + group - 1) / group; }

/// "int4-g128", or "int3" for scales of whole rows.
std::string integer_name(Count bits, Count group) {
  return "int" + std::to_string(bits) + (group > 0 ? "-g" + std::to_string(group) : "");
}

/// The block that a group is; codes alone where there is none.
Format grouped(std::string_view name, Arithmetic arithmetic, const QuantisedLayout& layout) {
  const double elements = layout.group > 0 ? static_cast<double>(layout.group) : bits_a_byte;
  return {.name = name,
          .block_elements = elements,
          .block_bytes = elements * layout.code_bits / bits_a_byte + layout.group_bytes,
          .arithmetic = arithmetic,
          .encoding = Encoding::weight_only,
          .row_bytes = layout.row_bytes};
}

double count_of_groups(const QuantisedLayout& layout, const Tensor& tensor) {
  if (layout.group == 0) {
    return 0;
  }
  const Count groups =
      layout.spans_rows ? whole_groups(tensor.rows * tensor.row_length, layout.group)
                        : whole_groups(tensor.rows, layout.group_rows) * whole_groups(tensor.row_length, layout.group);
  return static_cast<double>(groups);
}

} // namespace

double bytes_of(const QuantisedLayout& layout, const Tensor& tensor) {
  const double elements = static_cast<double>(tensor.rows) * static_cast<double>(tensor.row_length);
  const double groups = count_of_groups(layout, tensor);
  double bytes = elements * layout.code_bits / bits_a_byte + groups * layout.group_bytes +
                 static_cast<double>(tensor.rows) * layout.row_bytes +
                 static_cast<double>(tensor.row_length) * layout.column_bytes + layout.matrix_bytes;
  if (layout.outer_groups > 0) {
    bytes += std::ceil(groups / static_cast<double>(layout.outer_groups)) * layout.outer_bytes;
  }
  return std::ceil(bytes) * static_cast<double>(tensor.count);
}

bool divides(const QuantisedLayout& layout, Count row_length) {
  return layout.group == 0 || layout.spans_rows || layout.group_rows > 1 || row_length % layout.group == 0;
}

QuantisedLayout unquantised(const Format& format) { return {.format = format, .code_bits = bits_per_element(format)}; }

QuantisedLayout integer_layout(Count bits, Count group, double zero_bits) {
  QuantisedLayout layout{.code_bits = static_cast<double>(bits), .group = group};
  (group > 0 ? layout.group_bytes : layout.row_bytes) = scale_bytes_16 + zero_bits / bits_a_byte;
  layout.format = grouped(integer_name(bits, group), Arithmetic::fp16, layout);
  return layout;
}

QuantisedLayout mlx_layout(Count bits, Count group) {
  QuantisedLayout layout{
      .code_bits = static_cast<double>(bits), .group = group, .group_bytes = scale_bytes_16 + scale_bytes_16};
  constexpr Count usual_group = 64;
  const std::string name = "mlx-" + std::to_string(bits) + "bit";
  layout.format = grouped(group == usual_group ? name : name + "-g" + std::to_string(group), Arithmetic::fp16, layout);
  return layout;
}

QuantisedLayout fp8_matrix_layout() {
  return {.format = known("fp8"), .code_bits = bits_a_byte, .matrix_bytes = scale_bytes_32};
}

QuantisedLayout fp8_row_layout(double scale_bytes) {
  return {.format = known("fp8"), .code_bits = bits_a_byte, .row_bytes = scale_bytes};
}

QuantisedLayout fp8_block_layout(Count rows, Count columns, double scale_bytes) {
  return {.format = known("fp8-block"),
          .code_bits = bits_a_byte,
          .group = columns,
          .group_rows = rows,
          .group_bytes = scale_bytes};
}

QuantisedLayout int8_matrix_layout(double scale_bytes) {
  return {.format = known("int8"), .code_bits = bits_a_byte, .matrix_bytes = scale_bytes};
}

QuantisedLayout int8_row_layout(double scale_bytes) {
  return {.format = known("int8"), .code_bits = bits_a_byte, .row_bytes = scale_bytes};
}

QuantisedLayout mxfp4_layout() { return {.format = known("mxfp4"), .code_bits = 4, .group = 32, .group_bytes = 1}; }

QuantisedLayout nvfp4_layout() {
  return {.format = known("nvfp4"), .code_bits = 4, .group = 16, .group_bytes = 1, .matrix_bytes = scale_bytes_32};
}

QuantisedLayout bitsandbytes_layout(bool nested) {
  constexpr double table_of_codes = 16 * 4;
  constexpr double table_of_scales = 256 * 4;
  QuantisedLayout layout{.format = known("nf4"), .code_bits = 4, .group = 64, .spans_rows = true};
  layout.group_bytes = nested ? 1 : scale_bytes_32;
  layout.matrix_bytes = table_of_codes + (nested ? table_of_scales : 0);
  layout.outer_groups = nested ? 256 : 0;
  layout.outer_bytes = nested ? scale_bytes_32 : 0;
  return layout;
}

} // namespace tokenroof::readers
