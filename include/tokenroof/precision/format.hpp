/// @file
/// Number formats as they lie in memory: how many bytes a tensor of them takes, and in what they can be multiplied.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tokenroof/inline_string.hpp"
#include "tokenroof/precision/arithmetic.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// How a format's codes become numbers, which decides the arithmetic a multiplication with it can use.
enum class Encoding : std::uint8_t {
  plain,  ///< each element is a number of the arithmetic by itself, tensor-wide scale at most
  scaled, ///< blocks with scales which matrix units apply themselves (fp8 blocks, mxfp4, nvfp4 with fp4 activations)
  weight_only, ///< expanded to the activations' format before it is multiplied (GPTQ, AWQ, nf4)
  ggml,        ///< ggml blocks: expanded, or multiplied as integers, as the engine's kernels do
};

/// A storage format. A row of `n` elements takes `row_bytes + ceil(n / block_elements) * block_bytes`, unless blocks run on
/// over rows.
struct Format {
  Id name = "bf16";
  double block_elements = 1;                ///< elements that share one block
  double block_bytes = 2;                   ///< bytes of a block, scales and zero points included
  Arithmetic arithmetic = Arithmetic::bf16; ///< what matrix units would compute in, if they have it
  Encoding encoding = Encoding::plain;
  bool spans_rows = false; ///< blocks cover several rows (fp8 tiles) or run on from row to row (bitsandbytes)
  double row_bytes = 0;    ///< what each row has beside its blocks: a scale of its own

  friend bool operator==(const Format&, const Format&) = default;
};

/// Whether kernels expand a format's codes themselves before they multiply.
[[nodiscard]] constexpr bool is_unpacked(const Format& format) {
  return format.encoding == Encoding::ggml || format.encoding == Encoding::weight_only;
}

/// Bytes an element takes on average, scales included but for those of whole rows.
[[nodiscard]] constexpr double bytes_per_element(const Format& format) {
  return format.block_bytes / format.block_elements;
}

/// Bits an element takes on average, scales included but for those of whole rows.
[[nodiscard]] constexpr double bits_per_element(const Format& format) { return 8 * bytes_per_element(format); }

/// Exact bytes of `rows` rows of `row_length` elements: each row is padded to whole blocks. Blocks that span rows are
/// counted in fractions, which is exact where the tensor consists of whole ones.
[[nodiscard]] inline Bytes storage(const Format& format, double rows, double row_length) {
  const double blocks = row_length / format.block_elements;
  return Bytes::from_value(rows *
                           (format.row_bytes + (format.spans_rows ? blocks : std::ceil(blocks)) * format.block_bytes));
}

/// Every format known by name.
///
/// Block sizes of the ggml types: ggml-common.h of llama.cpp @cite llamacpp; those from `Q6_0` on exist in ik_llama.cpp
/// alone @cite ikllamaformats, and some have one scale a row. Integers of 16 bits and more are tables, never multiplied. MX
/// formats: OCP Microscaling 1.0 @cite ocpmx.
/// Group formats (`int4-g128` and the like) store codes, one 16-bit scale and one zero point of a code's size a group,
/// as GPTQ and AWQ checkpoints do @cite gptq @cite awq; those called `scale32` one 32-bit scale, no zero point, and `int4-row`
/// and `int8-row` the same a row @cite executorch. `mlx` formats have a 16-bit scale and bias a group of 64, or as the name
/// says @cite mlxquantize. `fp8-block` has one 32-bit scale a 128x128 block, counted along
/// the row as 4 bytes per 16384 elements @cite deepseekv3. `fp8-latent` is a cache of latent vectors: 512 elements in 8 bits
/// with a 32-bit scale per 128, and 64 rotary elements in 16 bits @cite deepseekv32. `nf4` has a block of 64 with an 8-bit scale and one 32-bit
/// scale per 256 of those (double quantisation) @cite qlora.
inline constexpr std::array formats = {
    Format{"fp64", 1, 8, Arithmetic::fp64, Encoding::plain},
    Format{"fp32", 1, 4, Arithmetic::fp32, Encoding::plain},
    Format{"fp16", 1, 2, Arithmetic::fp16, Encoding::plain},
    Format{"bf16", 1, 2, Arithmetic::bf16, Encoding::plain},
    Format{"fp8", 1, 1, Arithmetic::fp8, Encoding::plain},
    Format{"fp8-block", 16384, 16388, Arithmetic::fp8, Encoding::scaled, true},
    Format{"fp8-latent", 576, 656, Arithmetic::fp8, Encoding::scaled},
    Format{"mxfp8", 32, 33, Arithmetic::fp8, Encoding::scaled},
    Format{"mxfp4", 32, 17, Arithmetic::fp4, Encoding::weight_only},
    Format{"nvfp4", 16, 9, Arithmetic::fp4, Encoding::scaled},
    Format{"int8", 1, 1, Arithmetic::int8, Encoding::plain},
    Format{"int16", 1, 2, Arithmetic::fp32, Encoding::weight_only},
    Format{"int32", 1, 4, Arithmetic::fp32, Encoding::weight_only},
    Format{"int64", 1, 8, Arithmetic::fp32, Encoding::weight_only},
    Format{"int8-g128", 128, 131, Arithmetic::fp16, Encoding::weight_only},
    Format{"int8-g64", 64, 67, Arithmetic::fp16, Encoding::weight_only},
    Format{"int8-g32", 32, 35, Arithmetic::fp16, Encoding::weight_only},
    Format{"int4-g128", 128, 66.5, Arithmetic::fp16, Encoding::weight_only},
    Format{"int4-g64", 64, 34.5, Arithmetic::fp16, Encoding::weight_only},
    Format{"int4-g32", 32, 18.5, Arithmetic::fp16, Encoding::weight_only},
    Format{"int3-g128", 128, 50.375, Arithmetic::fp16, Encoding::weight_only},
    Format{"int3-g64", 64, 26.375, Arithmetic::fp16, Encoding::weight_only},
    Format{"int3-g32", 32, 14.375, Arithmetic::fp16, Encoding::weight_only},
    Format{"int4-row", 2, 1, Arithmetic::fp16, Encoding::weight_only, false, 4},
    Format{"int8-row", 1, 1, Arithmetic::int8, Encoding::weight_only, false, 4},
    Format{"int4-g32-scale32", 32, 20, Arithmetic::int8, Encoding::weight_only},
    Format{"int4-g128-scale32", 128, 68, Arithmetic::int8, Encoding::weight_only},
    Format{"mlx-3bit", 64, 28, Arithmetic::fp16, Encoding::weight_only},
    Format{"mlx-4bit", 64, 36, Arithmetic::fp16, Encoding::weight_only},
    Format{"mlx-6bit", 64, 52, Arithmetic::fp16, Encoding::weight_only},
    Format{"mlx-8bit", 64, 68, Arithmetic::fp16, Encoding::weight_only},
    Format{"mlx-3bit-g32", 32, 16, Arithmetic::fp16, Encoding::weight_only},
    Format{"mlx-4bit-g32", 32, 20, Arithmetic::fp16, Encoding::weight_only},
    Format{"mlx-6bit-g32", 32, 28, Arithmetic::fp16, Encoding::weight_only},
    Format{"mlx-8bit-g32", 32, 36, Arithmetic::fp16, Encoding::weight_only},
    Format{"nf4", 16384, 8452, Arithmetic::bf16, Encoding::weight_only, true},
    Format{"Q4_0", 32, 18, Arithmetic::int8, Encoding::ggml},
    Format{"Q4_1", 32, 20, Arithmetic::int8, Encoding::ggml},
    Format{"Q5_0", 32, 22, Arithmetic::int8, Encoding::ggml},
    Format{"Q5_1", 32, 24, Arithmetic::int8, Encoding::ggml},
    Format{"Q8_0", 32, 34, Arithmetic::int8, Encoding::ggml},
    Format{"Q2_K", 256, 84, Arithmetic::int8, Encoding::ggml},
    Format{"Q3_K", 256, 110, Arithmetic::int8, Encoding::ggml},
    Format{"Q4_K", 256, 144, Arithmetic::int8, Encoding::ggml},
    Format{"Q5_K", 256, 176, Arithmetic::int8, Encoding::ggml},
    Format{"Q6_K", 256, 210, Arithmetic::int8, Encoding::ggml},
    Format{"IQ1_S", 256, 50, Arithmetic::int8, Encoding::ggml},
    Format{"IQ1_M", 256, 56, Arithmetic::int8, Encoding::ggml},
    Format{"IQ2_XXS", 256, 66, Arithmetic::int8, Encoding::ggml},
    Format{"IQ2_XS", 256, 74, Arithmetic::int8, Encoding::ggml},
    Format{"IQ2_S", 256, 82, Arithmetic::int8, Encoding::ggml},
    Format{"IQ3_XXS", 256, 98, Arithmetic::int8, Encoding::ggml},
    Format{"IQ3_S", 256, 110, Arithmetic::int8, Encoding::ggml},
    Format{"IQ4_NL", 32, 18, Arithmetic::int8, Encoding::ggml},
    Format{"IQ4_XS", 256, 136, Arithmetic::int8, Encoding::ggml},
    Format{"TQ1_0", 256, 54, Arithmetic::int8, Encoding::ggml},
    Format{"TQ2_0", 256, 66, Arithmetic::int8, Encoding::ggml},
    Format{"Q8_1", 32, 36, Arithmetic::int8, Encoding::ggml},
    Format{"Q8_K", 256, 292, Arithmetic::int8, Encoding::ggml},
    Format{"Q1_0", 128, 18, Arithmetic::int8, Encoding::ggml},
    Format{"Q2_0", 64, 18, Arithmetic::int8, Encoding::ggml},
    Format{"Q6_0", 32, 26, Arithmetic::int8, Encoding::ggml},
    Format{"IQ1_BN", 64, 13, Arithmetic::int8, Encoding::ggml, false, 2},
    Format{"IQ2_BN", 64, 16, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ1_S_R4", 32, 6, Arithmetic::int8, Encoding::ggml, false, 2},
    Format{"IQ1_M_R4", 32, 7, Arithmetic::int8, Encoding::ggml, false, 2},
    Format{"IQ1_KT", 256, 56, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ2_K", 256, 76, Arithmetic::int8, Encoding::ggml},
    Format{"IQ2_KS", 256, 70, Arithmetic::int8, Encoding::ggml, false, 2},
    Format{"IQ2_KL", 256, 86, Arithmetic::int8, Encoding::ggml, false, 2},
    Format{"IQ2_KT", 256, 68, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ3_K", 256, 110, Arithmetic::int8, Encoding::ggml},
    Format{"IQ3_KS", 256, 102, Arithmetic::int8, Encoding::ggml, false, 2},
    Format{"IQ3_KT", 256, 100, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ4_K", 256, 144, Arithmetic::int8, Encoding::ggml},
    Format{"IQ4_KS", 256, 136, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ4_KSS", 256, 128, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ4_KT", 256, 128, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ5_K", 256, 176, Arithmetic::int8, Encoding::ggml},
    Format{"IQ5_KS", 256, 168, Arithmetic::int8, Encoding::ggml, false, 4},
    Format{"IQ6_K", 256, 212, Arithmetic::int8, Encoding::ggml},
};

namespace detail {

[[nodiscard]] constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

[[nodiscard]] constexpr bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

} // namespace detail

/// The format of that name (spelling is exact but for case), or nothing.
[[nodiscard]] constexpr std::optional<Format> find_format(std::string_view text) {
  for (const Format& format : formats) {
    if (detail::same_but_for_case(format.name, text)) {
      return format;
    }
  }
  return std::nullopt;
}

} // namespace tokenroof
