/// @file
/// Which tensor is stored in which format: rules by role and layer, or what a file's own table states.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenroof/network/tensors.hpp"
#include "tokenroof/precision/format.hpp"
#include "tokenroof/shared.hpp"

namespace tokenroof {

/// A set of tensor roles.
class RoleSet {
public:
  constexpr RoleSet() = default;
  constexpr RoleSet(std::initializer_list<TensorRole> roles) {
    for (const TensorRole role : roles) {
      bits_ |= bit(role);
    }
  }

  [[nodiscard]] constexpr bool contains(TensorRole role) const { return (bits_ & bit(role)) != 0; }
  friend constexpr RoleSet operator|(RoleSet a, RoleSet b) { return RoleSet(a.bits_ | b.bits_); }
  friend bool operator==(const RoleSet&, const RoleSet&) = default;

private:
  static_assert(tensor_role_count <= 64);
  explicit constexpr RoleSet(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] static constexpr std::uint64_t bit(TensorRole role) {
    return std::uint64_t{1} << static_cast<unsigned>(role);
  }

  std::uint64_t bits_ = 0;
};

/// Where a tensor stands among those of its kind.
struct LayerPosition {
  Count index = 0;
  Count count = 1;
};

/// Which layers a rule is for.
struct LayerSelector {
  enum class Kind : std::uint8_t {
    all,
    first,       ///< the first `argument` layers
    first_part,  ///< the first 1/`argument` of the layers
    middle_part, ///< all but the first and last 1/`argument`
    more_bits,   ///< the first and last eighth and every third between: llama.cpp's `use_more_bits` @cite llamacpp
  };
  Kind kind = Kind::all;
  Count argument = 0;

  [[nodiscard]] constexpr bool contains(LayerPosition layer) const {
    switch (kind) {
    case Kind::all:
      return true;
    case Kind::first:
      return layer.index < argument;
    case Kind::first_part:
      return layer.index < layer.count / argument;
    case Kind::middle_part:
      return layer.index >= layer.count / argument && layer.index < (argument - 1) * layer.count / argument;
    case Kind::more_bits: {
      const Count eighth = layer.count / 8;
      return layer.index < eighth || layer.index >= 7 * layer.count / 8 || (layer.index - eighth) % 3 == 2;
    }
    }
    return false;
  }
  friend bool operator==(const LayerSelector&, const LayerSelector&) = default;
};

/// What a rule may ask about a network.
struct SchemeFacts {
  Count layers = 0;
  Count attention_layers = 0; ///< layers with a value projection
  Count queries_per_key = 1;  ///< query heads that share a key head
  Count experts = 0;
  bool fused = false;    ///< queries, keys and values are one tensor
  bool parallel = false; ///< mixers and feed-forward network read the same input

  friend bool operator==(const SchemeFacts&, const SchemeFacts&) = default;
};

/// Which networks a rule is for.
enum class SchemeCondition : std::uint8_t {
  always,
  has_experts,
  eight_experts,
  four_queries_per_key,            ///< at least
  four_queries_per_key_or_experts, ///< at least four of one or the other
  eighty_layers_shared_keys,       ///< what llama.cpp takes for a 70B network: 80 layers with grouped heads
  falcon, ///< the shape that is Falcon's alone: parallel blocks, keys shared, one tensor for queries, keys and values
};

[[nodiscard]] constexpr bool holds(SchemeCondition condition, const SchemeFacts& facts) {
  switch (condition) {
  case SchemeCondition::always:
    return true;
  case SchemeCondition::has_experts:
    return facts.experts > 0;
  case SchemeCondition::eight_experts:
    return facts.experts == 8;
  case SchemeCondition::four_queries_per_key:
    return facts.queries_per_key >= 4;
  case SchemeCondition::four_queries_per_key_or_experts:
    return facts.queries_per_key >= 4 || facts.experts >= 4;
  case SchemeCondition::eighty_layers_shared_keys:
    return facts.layers == 80 && facts.queries_per_key > 1;
  case SchemeCondition::falcon:
    return facts.parallel && facts.fused && facts.queries_per_key > 1;
  }
  return false;
}

/// One exception from a scheme's default format.
struct SchemeRule {
  RoleSet roles{};
  Format format{};
  LayerSelector layers{};
  SchemeCondition condition = SchemeCondition::always;

  friend bool operator==(const SchemeRule&, const SchemeRule&) = default;
};

/// Formats that a file states tensor by tensor: a GGUF or safetensors header, or a list of modules left unquantised.
struct StoredFormats {
  /// Of the tensors of one role: empty where the scheme's rules decide, one entry for all layers, or one per layer of
  /// the network. A tensor outside the layers has one entry.
  std::array<std::vector<Format>, tensor_role_count> by_role{};
  /// Tensors of the file that are no part of the network (vision towers, rotary tables): stored, never read by a step.
  Bytes other{};

  friend bool operator==(const StoredFormats&, const StoredFormats&) = default;
};

/// Formats of all tensors of a network: what a file states comes first, then the first rule that applies decides, and the
/// default where none does.
struct WeightScheme {
  static constexpr std::size_t most_rules = 16;

  Id name = "bf16";
  Format format{};  ///< of matrices that no rule names
  Format vectors{}; ///< of norms, biases and other one-dimensional tensors
  std::array<SchemeRule, most_rules> rules{};
  std::size_t rule_count = 0;
  Shared<StoredFormats> stored{}; ///< empty for a scheme known by name alone

  friend bool operator==(const WeightScheme&, const WeightScheme&) = default;
};

/// What rules ask about that network.
[[nodiscard]] inline SchemeFacts scheme_facts(const Network& network) {
  SchemeFacts facts;
  for (const LayerRun& run : network.layers) {
    facts.layers += run.count;
    facts.parallel = facts.parallel || run.block.parallel;
    for (const Mixer& mixer : run.block.mixers) {
      if (const auto* attention = std::get_if<GroupedQueryAttention>(&mixer)) {
        const bool first = facts.attention_layers == 0; // whose heads llama.cpp asks about
        facts.queries_per_key =
            first && attention->kv_heads > 0 ? attention->heads / attention->kv_heads : facts.queries_per_key;
        facts.attention_layers += run.count;
        facts.fused = attention->fused;
      }
    }
    if (run.block.feed_forward) {
      const auto* moe = std::get_if<MixtureOfExperts>(&*run.block.feed_forward);
      facts.experts = std::max(facts.experts, moe != nullptr ? moe->experts : 0);
    }
  }
  return facts;
}

namespace detail {

[[nodiscard]] constexpr Format known_format(std::string_view name) { return find_format(name).value(); }

inline constexpr Format plain_fp16 = known_format("fp16");
inline constexpr Format ggml_q4_0 = known_format("Q4_0");
inline constexpr Format ggml_q5_0 = known_format("Q5_0");
inline constexpr Format ggml_q5_1 = known_format("Q5_1");
inline constexpr Format ggml_q8_0 = known_format("Q8_0");
inline constexpr Format ggml_iq4_nl = known_format("IQ4_NL");

/// What llama.cpp stores instead of a format whose blocks of 256 do not divide the row.
[[nodiscard]] constexpr const Format& ggml_substitute(std::string_view name) {
  switch (name[1]) {
  case '4':
    return ggml_q5_0; // Q4_K
  case '5':
    return ggml_q5_1; // Q5_K
  case '6':
    return ggml_q8_0; // Q6_K
  default:
    return name.starts_with("TQ") ? ggml_q4_0 : ggml_iq4_nl;
  }
}

} // namespace detail

/// The format that a row of that length really gets: ggml replaces one whose blocks do not divide it.
[[nodiscard]] constexpr const Format& stored_format(const Format& format, Count row_length) {
  const auto divides = [row_length](const Format& f) { return row_length % static_cast<Count>(f.block_elements) == 0; };
  if (format.encoding != Encoding::ggml || divides(format)) {
    return format;
  }
  const Format& substitute = format.block_elements > 32 ? detail::ggml_substitute(format.name) : detail::plain_fp16;
  return divides(substitute) ? substitute : detail::plain_fp16;
}

namespace detail {

/// The role by which a scheme knows a tensor: ggml has one rule for queries, keys and values stored together.
[[nodiscard]] constexpr TensorRole scheme_role(TensorRole role, const SchemeFacts& facts) {
  const bool projection =
      role == TensorRole::attention_query || role == TensorRole::attention_key || role == TensorRole::attention_value;
  return facts.fused && projection ? TensorRole::attention_fused : role;
}

[[nodiscard]] constexpr bool names(const SchemeRule& rule, TensorRole role, const SchemeFacts& facts) {
  return rule.roles.contains(role) && holds(rule.condition, facts);
}

/// The first rule for that layer, or `rule_count` for the default.
[[nodiscard]] constexpr std::size_t rule_for(const WeightScheme& scheme, const SchemeFacts& facts, TensorRole role,
                                             LayerPosition layer) {
  std::size_t i = 0;
  while (i < scheme.rule_count && !(names(scheme.rules[i], role, facts) && scheme.rules[i].layers.contains(layer))) {
    ++i;
  }
  return i;
}

/// What the file states for a role, or nothing.
[[nodiscard]] inline const std::vector<Format>* stated_formats(const WeightScheme& scheme, TensorRole role) {
  if (!scheme.stored) {
    return nullptr;
  }
  const std::vector<Format>& formats = scheme.stored->by_role[static_cast<std::size_t>(role)];
  return formats.empty() ? nullptr : &formats;
}

[[nodiscard]] constexpr bool depends_on_layer(const WeightScheme& scheme, const SchemeFacts& facts, TensorRole role) {
  for (std::size_t i = 0; i < scheme.rule_count; ++i) {
    if (names(scheme.rules[i], role, facts)) {
      return scheme.rules[i].layers.kind != LayerSelector::Kind::all;
    }
  }
  return false;
}

[[nodiscard]] constexpr const Format& format_by_rule(const WeightScheme& scheme, std::size_t rule) {
  return rule < scheme.rule_count ? scheme.rules[rule].format : scheme.format;
}

} // namespace detail

/// The format of one tensor. `layer` counts attention layers for `attention_value`, all layers for everything else; where
/// a file states formats by layer, the first layer's (`for_each_format` goes over all). The reference is into `scheme` or
/// to a constant.
[[nodiscard]] inline const Format& format_of(const WeightScheme& scheme, const SchemeFacts& facts, TensorRole role,
                                             Count row_length, LayerPosition layer = {}) {
  if (const std::vector<Format>* stated = detail::stated_formats(scheme, role)) {
    return stated->front();
  }
  if (is_vector(role)) {
    return scheme.vectors;
  }
  const std::size_t rule = detail::rule_for(scheme, facts, detail::scheme_role(role, facts), layer);
  return stored_format(detail::format_by_rule(scheme, rule), row_length);
}

/// Consecutive layers, and how many attention layers come before them.
struct LayerSpan {
  Count first = 0;
  Count count = 1;
  Count first_attention = 0;
};

/// Calls `visit(const LayerRun&, const LayerSpan&)` for each run of equal layers.
template <class Visit>
constexpr void for_each_run(const Network& network, Visit&& visit) {
  LayerSpan span;
  for (const LayerRun& run : network.layers) {
    span.count = run.count;
    visit(run, span);
    span.first += run.count;
    for (const Mixer& mixer : run.block.mixers) {
      span.first_attention += std::holds_alternative<GroupedQueryAttention>(mixer) ? run.count : 0;
    }
  }
}

namespace detail {

/// Calls `visit(const Format&, Count layers)` for each stretch of layers of equal stated format.
template <class Visit>
void for_each_stretch(const std::vector<Format>& stated, const LayerSpan& span, Visit&& visit) {
  const auto at = [&](Count layer) -> const Format& {
    return stated[static_cast<std::size_t>(std::min<Count>(layer, static_cast<Count>(stated.size()) - 1))];
  };
  const Count end = span.first + span.count;
  for (Count layer = span.first; layer < end;) {
    const Count from = layer;
    do {
      ++layer;
    } while (layer < end && at(layer) == at(from));
    visit(at(from), layer - from);
  }
}

} // namespace detail

/// Calls `visit(const Format&, Count layers)` for the formats that tensors of one kind have over some equal layers; one
/// format may come more than once.
template <class Visit>
void for_each_format(const WeightScheme& scheme, const SchemeFacts& facts, const Tensor& tensor, const LayerSpan& span,
                     Visit&& visit) {
  if (const std::vector<Format>* stated = detail::stated_formats(scheme, tensor.role)) {
    detail::for_each_stretch(*stated, span, visit);
    return;
  }
  const TensorRole role = detail::scheme_role(tensor.role, facts);
  if (is_vector(role) || !detail::depends_on_layer(scheme, facts, role)) {
    visit(format_of(scheme, facts, tensor.role, tensor.row_length), span.count);
    return;
  }
  const bool among_attention = role == TensorRole::attention_value;
  const Count first = among_attention ? span.first_attention : span.first;
  const Count count = among_attention ? facts.attention_layers : facts.layers;
  std::array<Count, WeightScheme::most_rules + 1> layers{};
  for (Count i = 0; i < span.count; ++i) {
    ++layers[detail::rule_for(scheme, facts, role, {first + i, count})];
  }
  for (std::size_t rule = 0; rule <= scheme.rule_count; ++rule) {
    if (layers[rule] > 0) {
      visit(stored_format(detail::format_by_rule(scheme, rule), tensor.row_length), layers[rule]);
    }
  }
}

/// What the matrices' results and the cache are kept in unless someone says otherwise: fp16 where the weights are, and
/// beside ggml's blocks, whose kernels compute in it; else bf16.
[[nodiscard]] inline Format sixteen_bits(const WeightScheme& weights) {
  const bool halves = weights.format.name == "fp16" || weights.format.encoding == Encoding::ggml;
  return detail::known_format(halves ? "fp16" : "bf16");
}

/// Exact bytes of an inventory entry in a format.
[[nodiscard]] inline Bytes storage(const Format& format, const Tensor& tensor) {
  return storage(format, static_cast<double>(tensor.rows * tensor.count), static_cast<double>(tensor.row_length));
}

/// Bytes of tensors that a file holds beside the network's.
[[nodiscard]] inline Bytes other_bytes(const WeightScheme& scheme) {
  return scheme.stored ? scheme.stored->other : Bytes();
}

/// Exact bytes of all weights, prediction heads aside: what a checkpoint's tensors add up to. Whole ones: formats that are
/// means over several tensors leave rounding errors.
[[nodiscard]] inline Bytes weight_bytes(const Network& network, const WeightScheme& scheme) {
  const SchemeFacts facts = scheme_facts(network);
  Bytes bytes = other_bytes(scheme);
  for_each_run(network, [&](const LayerRun& run, const LayerSpan& span) {
    for_each_tensor(run.block, network, [&](const Tensor& tensor) {
      for_each_format(scheme, facts, tensor, span, [&](const Format& format, Count layers) {
        bytes += storage(format, tensor) * static_cast<double>(layers);
      });
    });
  });
  for_each_outer_tensor(network, [&](const Tensor& tensor) {
    bytes += storage(format_of(scheme, facts, tensor.role, tensor.row_length), tensor);
  });
  return Bytes::from_value(std::round(bytes.value()));
}

} // namespace tokenroof
