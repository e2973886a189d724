#include "readers/network_layers.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {

namespace {

using nlohmann::json;

void require(bool condition, NetworkFacts& facts, std::string_view fact, Count value, std::string reason) {
  if (!condition) {
    throw InvalidSpec(facts.key_of(fact), std::to_string(value), std::move(reason));
  }
}

Count positive_or(NetworkFacts& facts, std::string_view fact, Count otherwise) {
  const auto found = facts.find_count(fact);
  require(!found || *found > 0, facts, fact, 0, "must be positive");
  return found.value_or(otherwise);
}

/// The width of a head where only the hidden width says it.
Count derived_head_dim(NetworkFacts& facts, Count heads) {
  const Count hidden = facts.count("hidden");
  require(hidden % heads == 0, facts, "heads", heads,
          "must divide " + facts.key_of("hidden") + " = " + std::to_string(hidden));
  return hidden / heads;
}

QueryKeyNorm make_query_key_norm(NetworkFacts& facts) {
  const std::string kind = facts.text("query_key_norm");
  return kind == "per_head"    ? QueryKeyNorm::per_head
         : kind == "per_model" ? QueryKeyNorm::per_model
                               : QueryKeyNorm::none;
}

GroupedQueryAttention make_grouped_attention(NetworkFacts& facts) {
  GroupedQueryAttention attention;
  attention.heads = facts.count("heads");
  attention.kv_heads = positive_or(facts, "kv_heads", attention.heads);
  require(attention.kv_heads <= attention.heads && attention.heads % attention.kv_heads == 0, facts, "kv_heads",
          attention.kv_heads, "must divide the " + std::to_string(attention.heads) + " query heads");
  const auto head_dim = facts.find_count("head_dim");
  attention.head_dim = head_dim ? positive_or(facts, "head_dim", 0) : derived_head_dim(facts, attention.heads);
  attention.value_head_dim = attention.head_dim;
  attention.query_bias = facts.flag("query_bias");
  attention.key_bias = facts.flag("key_bias");
  attention.value_bias = facts.flag("value_bias");
  attention.output_bias = facts.flag("output_bias");
  attention.sinks = facts.flag("sinks");
  attention.fused = facts.flag("fused");
  attention.query_key_norm = make_query_key_norm(facts);
  return attention;
}

LatentAttention make_latent_attention(NetworkFacts& facts) {
  LatentAttention attention;
  attention.heads = facts.count("heads");
  attention.query_rank = facts.count_or_zero("query_rank");
  attention.kv_rank = facts.count("kv_rank");
  attention.nope_head_dim = facts.count("nope_head_dim");
  attention.rope_head_dim = facts.count("rope_head_dim");
  const auto value_head_dim = facts.find_count("value_head_dim");
  attention.value_head_dim = value_head_dim ? facts.count("value_head_dim") : derived_head_dim(facts, attention.heads);
  attention.query_down_bias = facts.flag("query_down_bias");
  attention.kv_down_bias = facts.flag("kv_down_bias");
  attention.output_bias = facts.flag("output_bias");
  return attention;
}

/// Which layers see a window only.
class WindowPattern {
public:
  explicit WindowPattern(NetworkFacts& facts, Count layers) {
    if (facts.flag("window_enabled", true)) {
      read_window(facts);
    }
    if (const auto types = facts.list("layer_types")) {
      read_types(facts, *types, layers);
    }
  }

  [[nodiscard]] std::optional<Tokens> of_layer(Count layer) const {
    const bool windowed = types_.empty() ? layer >= first_ && (period_ == 0 || (layer + 1) % period_ != 0)
                                         : types_[static_cast<std::size_t>(layer)];
    return windowed ? window_ : std::nullopt;
  }

private:
  void read_window(NetworkFacts& facts) {
    const auto window = facts.find_count("window");
    if (!window) {
      return;
    }
    require(*window > 0, facts, "window", 0, "must be positive");
    window_ = Tokens::from_value(static_cast<double>(*window));
    first_ = facts.count_or_zero("window_from");
    period_ = facts.count_or_zero("window_period");
  }

  void read_types(NetworkFacts& facts, const json& types, Count layers) {
    const std::string key = facts.key_of("layer_types");
    if (static_cast<Count>(types.size()) != layers) {
      throw InvalidSpec(key, std::to_string(types.size()) + " entries",
                        "must have one for each of " + std::to_string(layers) + " layers");
    }
    for (const json& type : types) {
      if (type != "sliding_attention" && type != "full_attention" && type != "attention") {
        throw ParseError(facts.path(), key, "layers of type " + type.dump() + " are not supported");
      }
      types_.push_back(type == "sliding_attention");
      if (types_.back() && !window_) {
        throw ParseError(facts.path(), key, "has sliding_attention, but no window is given");
      }
    }
  }

  Count first_ = 0;
  Count period_ = 0; ///< each layer of that number sees everything; 0: none does
  std::optional<Tokens> window_{};
  std::vector<bool> types_{};
};

DenseFeedForward make_dense(NetworkFacts& facts) {
  constexpr Count usual_factor = 4;
  auto width = facts.find_count("width");
  if (!width) {
    width = usual_factor * facts.count("hidden");
    facts.assume(facts.key_of("width") + " is absent: " + std::to_string(*width) + ", four times the hidden width");
  }
  require(*width > 0, facts, "width", *width, "must be positive");
  return {.width = *width, .gated = facts.flag("gated"), .bias = facts.flag("feed_forward_bias")};
}

Count shared_width(NetworkFacts& facts, Count expert_width) {
  const auto width = facts.find_count("shared_width");
  return width ? *width : facts.count_or_zero("shared_experts") * expert_width;
}

MixtureOfExperts make_experts(NetworkFacts& facts) {
  MixtureOfExperts moe;
  moe.experts = facts.count("experts");
  moe.active = facts.count("active_experts");
  require(moe.active <= moe.experts, facts, "active_experts", moe.active,
          "must not exceed the " + std::to_string(moe.experts) + " experts");
  moe.width = facts.count("expert_width");
  moe.gated = facts.flag("gated");
  moe.shared_width = shared_width(facts, moe.width);
  moe.shared_gate = moe.shared_width > 0 && facts.flag("shared_gate");
  moe.router_bias = facts.flag("router_bias");
  moe.score_correction = facts.flag("score_correction");
  moe.expert_bias = facts.flag("expert_bias");
  return moe;
}

/// Which layers have experts.
class ExpertPattern {
public:
  explicit ExpertPattern(NetworkFacts& facts)
      : any_(facts.count_or_zero("experts") > 1), first_(facts.count_or_zero("dense_first")),
        period_(positive_or(facts, "expert_period", 1)), frequency_(positive_or(facts, "expert_frequency", 1)) {
    for (const json& layer : facts.list("dense_layers").value_or(json::array())) {
      if (!layer.is_number_integer()) {
        throw InvalidSpec(facts.key_of("dense_layers"), layer.dump(), "must list whole numbers");
      }
      dense_.insert(layer.get<Count>());
    }
  }

  [[nodiscard]] bool of_layer(Count layer) const {
    return any_ && layer >= first_ && layer % frequency_ == 0 && (layer + 1) % period_ == 0 && !dense_.contains(layer);
  }

private:
  bool any_;
  Count first_;
  Count period_;
  Count frequency_;
  std::set<Count> dense_{};
};

/// Makes each kind of layer once, and only those that occur.
class BlockMaker {
public:
  explicit BlockMaker(NetworkFacts& facts)
      : facts_(facts), layers_(facts.count("layers")), windows_(facts, layers_), experts_(facts),
        latent_(facts.text("attention") == "latent"), shared_(make_shared_part(facts)) {}

  [[nodiscard]] Count layers() const { return layers_; }

  [[nodiscard]] Block make(Count layer) {
    Block block = shared_;
    if (latent_) {
      block.mixers = {latent_attention()};
    } else {
      GroupedQueryAttention attention = grouped_attention();
      attention.window = windows_.of_layer(layer);
      block.mixers = {attention};
    }
    block.feed_forward = experts_.of_layer(layer) ? FeedForward(experts()) : FeedForward(dense());
    return block;
  }

private:
  static Block make_shared_part(NetworkFacts& facts) {
    return {.normalisation = make_normalisation(facts),
            .norms = facts.count_or_zero("norms"),
            .parallel = facts.flag("parallel")};
  }

  template <class Part, class Maker>
  const Part& once(std::optional<Part>& part, Maker maker) {
    if (!part) {
      part = maker(facts_);
    }
    return *part;
  }
  const GroupedQueryAttention& grouped_attention() { return once(grouped_part_, make_grouped_attention); }
  const LatentAttention& latent_attention() { return once(latent_part_, make_latent_attention); }
  const MixtureOfExperts& experts() { return once(experts_part_, make_experts); }
  const DenseFeedForward& dense() { return once(dense_part_, make_dense); }

  NetworkFacts& facts_;
  Count layers_;
  WindowPattern windows_;
  ExpertPattern experts_;
  bool latent_;
  Block shared_;
  std::optional<GroupedQueryAttention> grouped_part_{};
  std::optional<LatentAttention> latent_part_{};
  std::optional<MixtureOfExperts> experts_part_{};
  std::optional<DenseFeedForward> dense_part_{};
};

} // namespace

Normalisation make_normalisation(NetworkFacts& facts) {
  const std::string kind = facts.text("norm");
  return {.weight = kind != "without_parameters", .bias = kind == "layer"};
}

std::vector<LayerRun> make_layers(NetworkFacts& facts) {
  BlockMaker maker(facts);
  std::vector<LayerRun> runs;
  for (Count layer = 0; layer < maker.layers(); ++layer) {
    Block block = maker.make(layer);
    if (!runs.empty() && runs.back().block == block) {
      ++runs.back().count;
    } else {
      runs.push_back({std::move(block), 1});
    }
  }
  return runs;
}

} // namespace tokenroof::readers
