/// @file
/// Weight schemes known by name: checkpoints as engines load them, and ggml's mixtures.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"
#include "tokenroof/network/ggml_mixtures.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof {

namespace detail {

/// A checkpoint in four formats.
struct CheckpointScheme {
  std::string_view name{};
  std::string_view format{};    ///< of matrices inside the layers
  std::string_view head{};      ///< also where it is the token embedding
  std::string_view embedding{}; ///< a token embedding of its own
  std::string_view rest{};      ///< norms, biases, routers, convolutions, learned positions
  bool experts_alone = false;   ///< where the network has experts, they alone are in `format`
};

/// Everything in one format.
[[nodiscard]] constexpr CheckpointScheme uniform(std::string_view format) {
  return {format, format, format, format, format};
}

/// Matrices inside the layers; what engines for servers quantise.
[[nodiscard]] constexpr CheckpointScheme matrices(std::string_view format, std::string_view rest) {
  return {format, format, rest, rest, rest};
}

/// Head and token embedding too.
[[nodiscard]] constexpr CheckpointScheme matrices_and_tables(std::string_view format, std::string_view rest) {
  return {format, format, format, format, rest};
}

inline constexpr std::array checkpoint_schemes = {
    uniform("bf16"),
    uniform("fp16"),
    uniform("fp32"),
    matrices("fp8", "bf16"),
    matrices("fp8-block", "bf16"),
    matrices("mxfp8", "bf16"),
    matrices("int8", "bf16"),
    matrices("nvfp4", "bf16"),
    CheckpointScheme{"mxfp4", "mxfp4", "bf16", "bf16", "bf16", true},
    matrices("nf4", "bf16"),
    matrices("int4-g128", "fp16"),
    matrices("int4-g64", "fp16"),
    matrices("int4-g32", "fp16"),
    matrices("int8-g128", "fp16"),
    matrices("int8-g64", "fp16"),
    matrices("int8-g32", "fp16"),
    matrices("int3-g128", "fp16"),
    matrices("int3-g64", "fp16"),
    matrices("int3-g32", "fp16"),
    matrices_and_tables("mlx-4bit", "bf16"),
    matrices_and_tables("mlx-8bit", "bf16"),
    matrices_and_tables("mlx-6bit", "bf16"),
    matrices_and_tables("mlx-3bit", "bf16"),
    matrices_and_tables("mlx-4bit-g32", "bf16"),
    matrices_and_tables("mlx-8bit-g32", "bf16"),
    matrices_and_tables("mlx-6bit-g32", "bf16"),
    matrices_and_tables("mlx-3bit-g32", "bf16"),
    CheckpointScheme{"8da4w", "int4-g32-scale32", "int8-row", "int8-row", "fp32"},
    CheckpointScheme{"8da4w-g128", "int4-g128-scale32", "int8-row", "int8-row", "fp32"},
    CheckpointScheme{"w4a16", "int4-row", "int8-row", "fp16", "fp16"},
};

[[nodiscard]] constexpr RoleSet all_matrices_but(RoleSet excluded) {
  RoleSet rest;
  for (std::size_t i = 0; i < tensor_role_count; ++i) {
    const auto role = static_cast<TensorRole>(i);
    if (!is_vector(role) && !excluded.contains(role)) {
      rest = rest | RoleSet{role};
    }
  }
  return rest;
}

[[nodiscard]] inline WeightScheme checkpoint_scheme(const CheckpointScheme& checkpoint) {
  const Format rest = known_format(checkpoint.rest);
  WeightScheme scheme{.name = checkpoint.name, .format = known_format(checkpoint.format), .vectors = rest};
  const auto add = [&scheme](const SchemeRule& added) { scheme.rules.at(scheme.rule_count++) = added; };
  add({.roles = head_roles, .format = known_format(checkpoint.head)});
  add({.roles = {TensorRole::token_embedding, TensorRole::per_layer_embedding},
       .format = known_format(checkpoint.embedding)});
  add({.roles = small_matrix_roles | RoleSet{TensorRole::position_embedding, TensorRole::embedding_projection},
       .format = rest});
  if (checkpoint.experts_alone) {
    add({.roles = all_matrices_but(expert_roles), .format = rest, .condition = SchemeCondition::has_experts});
  }
  return scheme;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

/// What people write who mean one of several schemes: suggested, never understood as one of them.
inline constexpr std::array scheme_hints = {
    Spelling{"int4", "int4-g128"}, Spelling{"int4", "Q4_K_M"},  Spelling{"int4", "w4a16"},
    Spelling{"fp4", "nvfp4"},      Spelling{"fp4", "mxfp4"},    Spelling{"fp4", "MXFP4_MOE"},
    Spelling{"4bit", "int4-g128"}, Spelling{"4bit", "Q4_K_M"},  Spelling{"4bit", "mlx-4bit"},
    Spelling{"4bit", "nvfp4"},     Spelling{"w4", "int4-g128"}, Spelling{"w4", "w4a16"},
    Spelling{"q4", "Q4_K_M"},      Spelling{"q4", "Q4_0"},      Spelling{"q4", "int4-g128"},
    Spelling{"8bit", "fp8"},       Spelling{"8bit", "int8"},    Spelling{"8bit", "Q8_0"},
    Spelling{"8bit", "mlx-8bit"},  Spelling{"w8a8", "int8"},    Spelling{"w8a8", "fp8"},
    Spelling{"q8", "Q8_0"},        Spelling{"q8", "int8-g128"}, Spelling{"bnb", "nf4"},
    Spelling{"bnb", "int8"},       Spelling{"gguf", "Q4_K_M"},  Spelling{"gguf", "Q8_0"},
    Spelling{"16bit", "bf16"},     Spelling{"16bit", "fp16"},   Spelling{"mlx", "mlx-4bit"},
    Spelling{"mlx", "mlx-8bit"},   Spelling{"half", "fp16"},    Spelling{"half", "bf16"},
};

} // namespace detail

/// Another way to write a scheme's name, understood as it.
inline constexpr std::array scheme_aliases = {
    Spelling{"awq", "int4-g128"},
    Spelling{"awq-4bit-g128", "int4-g128"},
    Spelling{"awq-4bit-g64", "int4-g64"},
    Spelling{"awq-4bit-g32", "int4-g32"},
    Spelling{"gptq", "int4-g128"},
    Spelling{"gptq-4bit-g128", "int4-g128"},
    Spelling{"gptq-4bit-g64", "int4-g64"},
    Spelling{"gptq-4bit-g32", "int4-g32"},
    Spelling{"gptq-8bit-g128", "int8-g128"},
    Spelling{"gptq-8bit-g64", "int8-g64"},
    Spelling{"gptq-8bit-g32", "int8-g32"},
    Spelling{"gptq-3bit-g128", "int3-g128"},
    Spelling{"gptq-3bit-g64", "int3-g64"},
    Spelling{"gptq-3bit-g32", "int3-g32"},
    Spelling{"mlx-3bit-g64", "mlx-3bit"},
    Spelling{"mlx-4bit-g64", "mlx-4bit"},
    Spelling{"mlx-6bit-g64", "mlx-6bit"},
    Spelling{"mlx-8bit-g64", "mlx-8bit"},
    Spelling{"8da4w-g32", "8da4w"},
    Spelling{"f16", "ggml-f16"},
    Spelling{"f32", "ggml-f32"},
    Spelling{"ggml-mxfp4", "MXFP4_MOE"},
};

/// Every scheme known by name: checkpoints, then ggml's mixtures.
///
/// - `bf16` and the like: everything in that format. `fp8` to `int3-g32`: matrices inside the layers, as engines for servers
///   load them; in `mxfp4` experts alone, where there are any (gpt-oss). GPTQ and AWQ are `int4-g128` and the like.
/// - `mlx-4bit` and the like: tables too, groups of 64 unless the name says otherwise @cite mlxquantize.
/// - `8da4w`: 4-bit matrices for 8-bit activations, head and table in 8 bits @cite executorch. `w4a16`: 4-bit matrices for
///   16-bit activations, the head in 8 bits @cite qualcommaihub; that the table has 16 is assumed.
/// - `Q4_K_M` and the like: `llama_tensor_get_type` of llama.cpp @cite llamacpp. IQ4 is as made with an importance matrix
///   unless the name says otherwise, Q4_0 and Q5_0 as without. `ggml-f16` keeps vectors and routers in 32 bits, as llama.cpp's
///   conversion does; `ggml-f16-mxfp4` experts in MXFP4, too, where the checkpoint has them so.
[[nodiscard]] inline const std::vector<WeightScheme>& weight_schemes() {
  static const std::vector<WeightScheme> schemes = [] {
    std::vector<WeightScheme> all;
    all.reserve(detail::checkpoint_schemes.size() + detail::ggml::mixtures.size());
    std::transform(detail::checkpoint_schemes.begin(), detail::checkpoint_schemes.end(), std::back_inserter(all),
                   detail::checkpoint_scheme);
    std::transform(detail::ggml::mixtures.begin(), detail::ggml::mixtures.end(), std::back_inserter(all),
                   detail::ggml_scheme);
    return all;
  }();
  return schemes;
}

/// The scheme of that name or alias (spelling is exact but for case), or nothing. `F16` and `F32` are llama.cpp's words.
[[nodiscard]] inline std::optional<WeightScheme> find_scheme(std::string_view name) {
  for (const auto& [alias, meant] : scheme_aliases) {
    name = detail::same_but_for_case(name, alias) ? meant : name;
  }
  for (const WeightScheme& scheme : weight_schemes()) {
    if (detail::same_but_for_case(scheme.name, name)) {
      return scheme;
    }
  }
  return std::nullopt;
}

/// Names of schemes like `name`, best first.
[[nodiscard]] inline std::vector<std::string> nearest_schemes(std::string_view name) {
  std::vector<std::string> lower_names;
  std::transform(weight_schemes().begin(), weight_schemes().end(), std::back_inserter(lower_names),
                 [](const WeightScheme& entry) { return detail::lower_case(entry.name); });
  std::vector<Spelling> spellings(detail::scheme_hints.begin(), detail::scheme_hints.end());
  for (std::size_t i = 0; i < lower_names.size(); ++i) {
    spellings.push_back({lower_names[i], weight_schemes()[i].name.view()});
  }
  spellings.insert(spellings.end(), scheme_aliases.begin(), scheme_aliases.end());
  return nearest_names(detail::lower_case(name), spellings);
}

/// The scheme of that name or alias. Throws UnknownFormat.
[[nodiscard]] inline WeightScheme scheme(std::string_view name) {
  if (const auto found = find_scheme(name)) {
    return *found;
  }
  throw UnknownFormat(std::string(name), nearest_schemes(name));
}

} // namespace tokenroof
