/// @file
/// ggml's mixtures as tables: which tensors a named quantisation of llama.cpp stores wider or narrower than the rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::detail {

inline constexpr RoleSet small_matrix_roles = {TensorRole::router, TensorRole::shared_expert_router,
                                               TensorRole::convolution};
inline constexpr RoleSet expert_roles = {TensorRole::expert_gate, TensorRole::expert_up, TensorRole::expert_down};
inline constexpr RoleSet down_projection_roles = {TensorRole::feed_forward_down, TensorRole::expert_down,
                                                  TensorRole::shared_expert_down};
inline constexpr RoleSet head_roles = {TensorRole::lm_head, TensorRole::tied_embedding};

namespace ggml {

using Where = SchemeCondition;

inline constexpr RoleSet queries = {TensorRole::attention_query};
inline constexpr RoleSet keys = {TensorRole::attention_key};
inline constexpr RoleSet values = {TensorRole::attention_value};
inline constexpr RoleSet fused = {TensorRole::attention_fused};
inline constexpr RoleSet outputs = {TensorRole::attention_output};
inline constexpr RoleSet downs = down_projection_roles;
inline constexpr RoleSet gates_and_ups = {TensorRole::feed_forward_gate,  TensorRole::feed_forward_up,
                                          TensorRole::expert_gate,        TensorRole::expert_up,
                                          TensorRole::shared_expert_gate, TensorRole::shared_expert_up};

inline constexpr LayerSelector first_two = {LayerSelector::Kind::first, 2};
inline constexpr LayerSelector first_four = {LayerSelector::Kind::first, 4};
inline constexpr LayerSelector first_eighth = {LayerSelector::Kind::first_part, 8};
inline constexpr LayerSelector first_sixteenth = {LayerSelector::Kind::first_part, 16};
inline constexpr LayerSelector middle = {LayerSelector::Kind::middle_part, 8};
inline constexpr LayerSelector more_bits = {LayerSelector::Kind::more_bits};

[[nodiscard]] constexpr SchemeRule rule(RoleSet roles, std::string_view format, Where where = Where::always,
                                        LayerSelector layers = {}) {
  return {.roles = roles, .format = known_format(format), .layers = layers, .condition = where};
}

[[nodiscard]] constexpr SchemeRule rule(RoleSet roles, std::string_view format, LayerSelector layers) {
  return rule(roles, format, Where::always, layers);
}

// In each table the first line that applies decides. What no line names is in the mixture's own format.

inline constexpr std::array q2_k = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys), //
    rule(values, "Q4_K", Where::four_queries_per_key),
    rule(outputs, "Q2_K", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(values | outputs | downs, "Q3_K"),
};

inline constexpr std::array q2_k_s = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(values, "Q4_K", Where::four_queries_per_key),
    rule(downs, "Q4_K", first_eighth),
};

inline constexpr std::array q3_k_s = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(outputs, "Q3_K", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
};

inline constexpr std::array q3_k_m = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(values, "Q5_K", first_two),
    rule(outputs, "Q3_K", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(downs, "Q5_K", first_sixteenth),
    rule(downs, "Q4_K", Where::falcon, more_bits),
    rule(downs, "Q3_K", Where::falcon),
    rule(values | fused | outputs | downs, "Q4_K"),
};

inline constexpr std::array q3_k_l = {
    rule(outputs | downs, "Q4_K", Where::falcon),
    rule(outputs, "Q3_K", Where::eight_experts),
    rule(values | outputs | downs, "Q5_K"),
    rule(fused, "Q4_K"),
};

inline constexpr std::array q4_k_s = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(values, "Q5_K", first_four),
    rule(outputs | downs, "Q4_K", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(downs, "Q5_K", first_eighth),
};

inline constexpr std::array q4_k_m = {
    rule(downs, "Q6_K", Where::falcon, first_sixteenth),
    rule(downs, "Q5_K", Where::falcon, more_bits),
    rule(outputs | downs, "Q4_K", Where::falcon),
    rule(values | downs, "Q6_K", more_bits),
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(fused, "Q5_K"),
};

inline constexpr std::array q5_k_m = {
    rule(values | downs, "Q6_K", more_bits),
    rule(fused, "Q6_K"),
};

// Below 2.7 bits.
inline constexpr std::array iq1 = {
    rule(values, "Q4_K", Where::four_queries_per_key_or_experts),
    rule(values, "Q2_K"),
    rule(keys, "Q4_K", Where::eight_experts),
    rule(downs, "Q2_K", first_eighth),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(outputs, "IQ2_XXS"),
};

inline constexpr std::array iq2_xs = {
    rule(values, "Q4_K", Where::four_queries_per_key_or_experts),
    rule(values, "Q2_K"),
    rule(keys, "Q4_K", Where::eight_experts),
    rule(downs, "Q2_K", first_eighth),
    rule(outputs, "Q5_K", Where::eight_experts),
};

inline constexpr std::array iq2_s = {
    rule(values, "Q4_K", Where::four_queries_per_key_or_experts),
    rule(keys, "Q4_K", Where::eight_experts),
    rule(downs, "IQ3_S", first_eighth),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(values | outputs, "IQ3_S"),
};

inline constexpr std::array iq3_xxs = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(values, "Q4_K", Where::four_queries_per_key),
    rule(queries | keys, "IQ2_S"),
    rule(outputs, "IQ3_XXS", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(outputs, "IQ3_S"),
};

inline constexpr std::array iq3_xs = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(values, "Q4_K", Where::four_queries_per_key),
    rule(outputs, "IQ3_S", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(queries | keys, "IQ3_XXS"),
    rule(gates_and_ups, "IQ3_XXS", middle),
};

inline constexpr std::array iq3_s = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(values, "Q4_K", Where::four_queries_per_key),
    rule(outputs, "IQ3_S", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
};

inline constexpr std::array iq3_m = {
    rule(values, "Q5_K", Where::eighty_layers_shared_keys),
    rule(outputs, "IQ3_S", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(values | fused | outputs, "Q4_K"),
    rule(downs, "Q4_K", first_eighth),
    rule(downs, "Q4_K", Where::eight_experts, more_bits),
};

inline constexpr std::array iq4_nl = {
    rule(values, "Q5_K", Where::four_queries_per_key),
    rule(outputs, "IQ4_NL", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
};

inline constexpr std::array iq4_xs = {
    rule(values, "Q5_K", Where::four_queries_per_key),
    rule(outputs, "IQ4_XS", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
};

// Without an importance matrix some mixtures widen the first layers, with one others do.
inline constexpr std::array iq4_nl_without_matrix = {
    rule(values, "Q5_K", Where::four_queries_per_key),
    rule(outputs, "IQ4_NL", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(downs, "Q5_K", first_eighth),
};

inline constexpr std::array iq4_xs_without_matrix = {
    rule(values, "Q5_K", Where::four_queries_per_key),
    rule(outputs, "IQ4_XS", Where::falcon),
    rule(outputs, "Q5_K", Where::eight_experts),
    rule(downs, "Q5_K", first_eighth),
};

inline constexpr std::array q4_0_with_matrix = {rule(downs, "Q4_1", first_eighth)};
inline constexpr std::array q5_0_with_matrix = {rule(downs, "Q5_1", first_eighth)};

// What has three dimensions: experts, and the halves of a latent key and value projection.
inline constexpr std::array mxfp4_moe = {
    rule(expert_roles | RoleSet{TensorRole::latent_key_up, TensorRole::latent_value_up}, "mxfp4"),
};

inline constexpr std::array mxfp4_experts = {rule(expert_roles, "mxfp4")};

inline constexpr std::array<SchemeRule, 0> no_rules = {};

/// A quantisation of llama.cpp.
struct Mixture {
  std::string_view name{};
  std::string_view format{};    ///< of matrices that no rule names
  std::string_view head{};      ///< of the head, also where it is the token embedding
  std::string_view embedding{}; ///< of a token embedding of its own
  std::span<const SchemeRule> rules{};
  bool wide_keys = true; ///< keys and values beside eight experts in 8 bits
};

/// Each quantisation, most used first. Names with `imatrix` say whether an importance matrix was at hand, where it matters.
inline constexpr std::array mixtures = {
    Mixture{"Q4_K_M", "Q4_K", "Q6_K", "Q4_K", q4_k_m},
    Mixture{"Q4_K_S", "Q4_K", "Q6_K", "Q4_K", q4_k_s},
    Mixture{"Q4_0", "Q4_0", "Q6_K", "Q4_0", no_rules},
    Mixture{"Q4_0-imatrix", "Q4_0", "Q6_K", "Q4_0", q4_0_with_matrix},
    Mixture{"Q4_1", "Q4_1", "Q6_K", "Q4_1", no_rules},
    Mixture{"Q5_K_M", "Q5_K", "Q6_K", "Q5_K", q5_k_m},
    Mixture{"Q5_K_S", "Q5_K", "Q6_K", "Q5_K", no_rules},
    Mixture{"Q5_0", "Q5_0", "Q6_K", "Q5_0", no_rules},
    Mixture{"Q5_0-imatrix", "Q5_0", "Q6_K", "Q5_0", q5_0_with_matrix},
    Mixture{"Q5_1", "Q5_1", "Q6_K", "Q5_1", no_rules},
    Mixture{"Q6_K", "Q6_K", "Q6_K", "Q6_K", no_rules},
    Mixture{"Q8_0", "Q8_0", "Q8_0", "Q8_0", no_rules},
    Mixture{"Q3_K_M", "Q3_K", "Q6_K", "Q3_K", q3_k_m},
    Mixture{"Q3_K_S", "Q3_K", "Q6_K", "Q3_K", q3_k_s},
    Mixture{"Q3_K_L", "Q3_K", "Q6_K", "Q3_K", q3_k_l},
    Mixture{"Q2_K", "Q2_K", "Q6_K", "Q2_K", q2_k},
    Mixture{"Q2_K_S", "Q2_K", "Q6_K", "Q2_K", q2_k_s},
    Mixture{"IQ4_XS", "IQ4_XS", "Q6_K", "IQ4_XS", iq4_xs},
    Mixture{"IQ4_XS-no-imatrix", "IQ4_XS", "Q6_K", "IQ4_XS", iq4_xs_without_matrix},
    Mixture{"IQ4_NL", "IQ4_NL", "Q6_K", "IQ4_NL", iq4_nl},
    Mixture{"IQ4_NL-no-imatrix", "IQ4_NL", "Q6_K", "IQ4_NL", iq4_nl_without_matrix},
    Mixture{"IQ3_M", "IQ3_S", "Q6_K", "IQ3_S", iq3_m},
    Mixture{"IQ3_S", "IQ3_S", "Q6_K", "IQ3_S", iq3_s},
    Mixture{"IQ3_XS", "IQ3_S", "Q6_K", "IQ3_S", iq3_xs},
    Mixture{"IQ3_XXS", "IQ3_XXS", "Q5_K", "IQ3_S", iq3_xxs},
    Mixture{"IQ2_M", "IQ2_S", "Q5_K", "IQ3_S", iq2_s, false},
    Mixture{"IQ2_S", "IQ2_XS", "Q5_K", "IQ3_S", iq2_s, false},
    Mixture{"IQ2_XS", "IQ2_XS", "Q5_K", "Q2_K", iq2_xs, false},
    Mixture{"IQ2_XXS", "IQ2_XXS", "Q5_K", "Q2_K", iq2_xs, false},
    Mixture{"IQ1_M", "IQ1_M", "Q5_K", "Q2_K", iq1, false},
    Mixture{"IQ1_S", "IQ1_S", "Q5_K", "Q2_K", iq1, false},
    Mixture{"TQ2_0", "TQ2_0", "Q6_K", "Q4_K", no_rules},
    Mixture{"TQ1_0", "TQ1_0", "Q6_K", "Q4_K", no_rules},
    Mixture{"MXFP4_MOE", "Q8_0", "Q8_0", "Q8_0", mxfp4_moe, false},
    Mixture{"ggml-f16", "fp16", "fp16", "fp16", no_rules, false},
    Mixture{"ggml-f16-mxfp4", "fp16", "fp16", "fp16", mxfp4_experts, false},
    Mixture{"ggml-bf16", "bf16", "bf16", "bf16", no_rules, false},
    Mixture{"ggml-f32", "fp32", "fp32", "fp32", no_rules, false},
};

} // namespace ggml

/// The rules of a mixture, after those which all share: small matrices and vectors stay in 32 bits, heads and tables have
/// formats of their own, Falcon's head 8 bits.
[[nodiscard]] inline WeightScheme ggml_scheme(const ggml::Mixture& mixture) {
  using ggml::rule;
  using ggml::Where;
  WeightScheme scheme{.name = mixture.name, .format = known_format(mixture.format), .vectors = known_format("fp32")};
  const auto add = [&scheme](const SchemeRule& added) { scheme.rules.at(scheme.rule_count++) = added; };
  add(rule(small_matrix_roles | RoleSet{TensorRole::position_embedding}, "fp32"));
  if (scheme.format.encoding == Encoding::ggml) {
    add(rule(head_roles, "Q8_0", Where::falcon));
  }
  add(rule(head_roles, mixture.head));
  add(rule({TensorRole::token_embedding, TensorRole::per_layer_embedding}, mixture.embedding));
  if (mixture.wide_keys) {
    add(rule(ggml::keys | ggml::values, "Q8_0", Where::eight_experts));
  }
  std::for_each(mixture.rules.begin(), mixture.rules.end(), add);
  return scheme;
}

} // namespace tokenroof::detail
