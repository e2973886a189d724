/// @file
/// Weight schemes known by name: checkpoints as engines load them, and ggml's mixtures.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof {

/// Everything in one format.
[[nodiscard]] inline WeightScheme uniform_scheme(const Format& format) {
  return {.name = format.name, .format = format, .vectors = format};
}

namespace detail {

inline constexpr RoleSet table_roles = {TensorRole::token_embedding, TensorRole::tied_embedding,
                                        TensorRole::position_embedding, TensorRole::embedding_projection,
                                        TensorRole::lm_head};
inline constexpr RoleSet small_matrix_roles = {TensorRole::router, TensorRole::shared_expert_router,
                                               TensorRole::convolution};
inline constexpr RoleSet expert_roles = {TensorRole::expert_gate, TensorRole::expert_up, TensorRole::expert_down};
inline constexpr RoleSet down_projection_roles = {TensorRole::feed_forward_down, TensorRole::expert_down,
                                                  TensorRole::shared_expert_down};

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

inline void add_rules(WeightScheme& scheme, std::initializer_list<SchemeRule> rules) {
  for (const SchemeRule& rule : rules) {
    scheme.rules[scheme.rule_count++] = rule;
  }
}

} // namespace detail

/// A quantised checkpoint as engines for servers load it: matrices inside the layers in `format`; tables, head, routers,
/// convolutions, norms and biases in `rest`.
[[nodiscard]] inline WeightScheme linear_scheme(std::string_view name, const Format& format, const Format& rest) {
  WeightScheme scheme{.name = name, .format = format, .vectors = rest};
  detail::add_rules(scheme, {{.roles = detail::table_roles | detail::small_matrix_roles, .format = rest}});
  return scheme;
}

/// As `linear_scheme`, but where the network has experts they alone are in `format` (gpt-oss).
[[nodiscard]] inline WeightScheme expert_scheme(std::string_view name, const Format& format, const Format& rest) {
  WeightScheme scheme = linear_scheme(name, format, rest);
  detail::add_rules(scheme, {{.roles = detail::all_matrices_but(detail::expert_roles),
                              .format = rest,
                              .condition = SchemeCondition::has_experts}});
  return scheme;
}

namespace detail {

/// What all of llama.cpp's mixtures share: small matrices stay as converted, the head gets a format of its own, and
/// keys and values, cheap beside eight experts, are kept at 8 bits.
[[nodiscard]] inline WeightScheme ggml_scheme(std::string_view name, std::string_view format, std::string_view head,
                                              std::initializer_list<SchemeRule> rules = {}) {
  WeightScheme scheme{.name = name, .format = known_format(format), .vectors = known_format("fp32")};
  add_rules(scheme,
            {{.roles = small_matrix_roles | RoleSet{TensorRole::position_embedding}, .format = known_format("fp32")},
             {.roles = {TensorRole::lm_head, TensorRole::tied_embedding}, .format = known_format(head)}});
  if (scheme.format.encoding == Encoding::ggml) {
    add_rules(scheme, {{.roles = {TensorRole::attention_key, TensorRole::attention_value},
                        .format = known_format("Q8_0"),
                        .condition = SchemeCondition::eight_experts}});
  }
  add_rules(scheme, rules);
  return scheme;
}

inline constexpr LayerSelector more_bits = {LayerSelector::Kind::more_bits};

inline const SchemeRule wider_output_of_eight_experts = {.roles = {TensorRole::attention_output},
                                                         .format = known_format("Q5_K"),
                                                         .condition = SchemeCondition::eight_experts};
inline const SchemeRule wider_values_of_eighty_layers = {.roles = {TensorRole::attention_value},
                                                         .format = known_format("Q5_K"),
                                                         .condition = SchemeCondition::eighty_layers_shared_keys};

[[nodiscard]] inline WeightScheme q4_k_s() {
  return ggml_scheme("Q4_K_S", "Q4_K", "Q6_K",
                     {wider_output_of_eight_experts,
                      {.roles = {TensorRole::attention_value},
                       .format = known_format("Q5_K"),
                       .layers = {LayerSelector::Kind::first, 4}},
                      wider_values_of_eighty_layers,
                      {.roles = down_projection_roles,
                       .format = known_format("Q5_K"),
                       .layers = {LayerSelector::Kind::first_part, 8}}});
}

[[nodiscard]] inline WeightScheme q4_k_m() {
  return ggml_scheme("Q4_K_M", "Q4_K", "Q6_K",
                     {wider_output_of_eight_experts,
                      {.roles = RoleSet{TensorRole::attention_value} | down_projection_roles,
                       .format = known_format("Q6_K"),
                       .layers = more_bits},
                      wider_values_of_eighty_layers,
                      {.roles = {TensorRole::attention_fused}, .format = known_format("Q5_K")}});
}

[[nodiscard]] inline WeightScheme q5_k_m() {
  return ggml_scheme("Q5_K_M", "Q5_K", "Q6_K",
                     {{.roles = RoleSet{TensorRole::attention_value} | down_projection_roles,
                       .format = known_format("Q6_K"),
                       .layers = more_bits},
                      {.roles = {TensorRole::attention_fused}, .format = known_format("Q6_K")}});
}

[[nodiscard]] inline WeightScheme linear(std::string_view name, std::string_view format, std::string_view rest) {
  return linear_scheme(name, known_format(format), known_format(rest));
}

} // namespace detail

/// Every scheme known by name. `fp16` is a checkpoint in 16 bits throughout; `ggml-f16` keeps vectors and routers in 32, as
/// llama.cpp's conversion does. Mixtures: `llama_tensor_get_type` of llama.cpp @cite llamacpp.
[[nodiscard]] inline const auto& weight_schemes() {
  static const std::array schemes = {
      uniform_scheme(detail::known_format("fp32")),
      uniform_scheme(detail::known_format("fp16")),
      uniform_scheme(detail::known_format("bf16")),
      detail::linear("fp8", "fp8", "bf16"),
      detail::linear("fp8-block", "fp8-block", "bf16"),
      detail::linear("mxfp8", "mxfp8", "bf16"),
      detail::linear("int8", "int8", "bf16"),
      detail::linear("int8-g128", "int8-g128", "fp16"),
      detail::linear("awq", "int4-g128", "fp16"),
      detail::linear("gptq", "int4-g128", "fp16"),
      detail::linear("int4-g128", "int4-g128", "fp16"),
      detail::linear("int4-g64", "int4-g64", "fp16"),
      detail::linear("int4-g32", "int4-g32", "fp16"),
      detail::linear("nf4", "nf4", "bf16"),
      detail::linear("nvfp4", "nvfp4", "bf16"),
      expert_scheme("mxfp4", detail::known_format("mxfp4"), detail::known_format("bf16")),
      detail::ggml_scheme("ggml-f32", "fp32", "fp32"),
      detail::ggml_scheme("ggml-f16", "fp16", "fp16"),
      detail::ggml_scheme("ggml-bf16", "bf16", "bf16"),
      detail::ggml_scheme("Q4_0", "Q4_0", "Q6_K"),
      detail::ggml_scheme("Q4_1", "Q4_1", "Q6_K"),
      detail::ggml_scheme("Q5_0", "Q5_0", "Q6_K"),
      detail::ggml_scheme("Q5_1", "Q5_1", "Q6_K"),
      detail::ggml_scheme("Q8_0", "Q8_0", "Q8_0"),
      detail::q4_k_s(),
      detail::q4_k_m(),
      detail::ggml_scheme("Q5_K_S", "Q5_K", "Q6_K"),
      detail::q5_k_m(),
      detail::ggml_scheme("Q6_K", "Q6_K", "Q6_K"),
  };
  return schemes;
}

/// The scheme of that name (spelling is exact but for case), or nothing. `F16` and `F32` are llama.cpp's words.
[[nodiscard]] inline std::optional<WeightScheme> find_scheme(std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 2> aliases = {{{"f16", "ggml-f16"}, {"f32", "ggml-f32"}}};
  for (const auto& [alias, known] : aliases) {
    name = detail::same_but_for_case(name, alias) ? known : name;
  }
  for (const WeightScheme& scheme : weight_schemes()) {
    if (detail::same_but_for_case(scheme.name, name)) {
      return scheme;
    }
  }
  return std::nullopt;
}

/// The scheme of that name. Throws UnknownFormat.
[[nodiscard]] inline WeightScheme scheme(std::string_view name) {
  if (const auto found = find_scheme(name)) {
    return *found;
  }
  std::vector<std::string_view> known(weight_schemes().size());
  std::transform(weight_schemes().begin(), weight_schemes().end(), known.begin(),
                 [](const WeightScheme& entry) { return entry.name.view(); });
  throw UnknownFormat(std::string(name), nearest_names(name, known));
}

} // namespace tokenroof
