/// @file
/// What a quantised matrix takes in a checkpoint: codes, scales, zero points and what else lies beside them.
#pragma once

#include "tokenroof/network/tensors.hpp"
#include "tokenroof/precision/format.hpp"

namespace tokenroof::readers {

/// Sizes of the parts of one matrix.
struct QuantisedLayout {
  Format format{};         ///< name and arithmetic; its block is the nearest that a format can say
  double code_bits = 16;   ///< of an element
  Count group = 0;         ///< elements along a row that share a scale; 0: there are no groups
  Count group_rows = 1;    ///< rows that share it
  bool spans_rows = false; ///< groups run on from row to row
  double group_bytes = 0;  ///< scale and zero point of a group
  Count outer_groups = 0;  ///< groups whose scales share a scale of their own; 0: none
  double outer_bytes = 0;
  double row_bytes = 0;
  double column_bytes = 0; ///< for each element of a row, as an order of columns
  double matrix_bytes = 0;

  friend bool operator==(const QuantisedLayout&, const QuantisedLayout&) = default;
};

/// Bytes of all matrices of that entry.
[[nodiscard]] double bytes_of(const QuantisedLayout& layout, const Tensor& tensor);

/// Whether rows of that length consist of whole groups.
[[nodiscard]] bool divides(const QuantisedLayout& layout, Count row_length);

/// Elements as they are, in that format.
[[nodiscard]] QuantisedLayout unquantised(const Format& format);

/// Integer codes, a 16-bit scale a group of a row (0: a whole row); `zero_bits` of a zero point beside each scale.
[[nodiscard]] QuantisedLayout integer_layout(Count bits, Count group, double zero_bits);

/// As MLX stores: integer codes, with a 16-bit scale and a 16-bit offset a group.
[[nodiscard]] QuantisedLayout mlx_layout(Count bits, Count group);

/// 8-bit floats with a 32-bit scale for all, for each row, or for each block.
[[nodiscard]] QuantisedLayout fp8_matrix_layout();
[[nodiscard]] QuantisedLayout fp8_row_layout(double scale_bytes);
[[nodiscard]] QuantisedLayout fp8_block_layout(Count rows, Count columns, double scale_bytes);

/// 8-bit integers with a scale for all or for each row.
[[nodiscard]] QuantisedLayout int8_matrix_layout(double scale_bytes);
[[nodiscard]] QuantisedLayout int8_row_layout(double scale_bytes);

/// 4-bit floats with an 8-bit scale for each 32 (MXFP4) or, under a 32-bit one for all, for each 16 (NVFP4) elements.
[[nodiscard]] QuantisedLayout mxfp4_layout();
[[nodiscard]] QuantisedLayout nvfp4_layout();

/// As bitsandbytes stores 4-bit codes: blocks of 64 over all rows, whose scales are in 32 bits, or in 8 with a 32-bit one for
/// each 256 of them @cite qlora; beside them the table of codes.
[[nodiscard]] QuantisedLayout bitsandbytes_layout(bool nested);

} // namespace tokenroof::readers
