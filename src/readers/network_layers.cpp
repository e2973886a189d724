#include "readers/network_layers.hpp"

#include <array>
#include <string>
#include <utility>

#include "readers/layer_pattern.hpp"
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

std::optional<Tokens> selected_tokens(NetworkFacts& facts) {
  const auto selected = facts.find_count("selected");
  require(!selected || *selected > 0, facts, "selected", 0, "must be positive");
  return selected ? std::optional(Tokens::from_value(static_cast<double>(*selected))) : std::nullopt;
}

/// Nothing where a layer uses an earlier one's choice, or sees everything.
std::optional<TokenIndexer> make_indexer(NetworkFacts& facts) {
  if (facts.count_or_zero("index_heads") == 0 || facts.flag("shares_index")) {
    return std::nullopt;
  }
  const std::string norm = facts.text("index_key_norm");
  return TokenIndexer{.heads = facts.count("index_heads"),
                      .head_dim = facts.count("index_head_dim"),
                      .head_weights = facts.flag("index_head_weights", true),
                      .query_norm = facts.flag("index_query_norm"),
                      .key_norm = {.weight = norm != "none", .bias = norm == "layer"},
                      .keys_in_fp8 = facts.flag("index_keys_in_fp8", true)};
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
  attention.output_gate = facts.flag("output_gate");
  attention.head_gate = facts.flag("head_gate");
  attention.fused = facts.flag("fused");
  attention.query_key_norm = make_query_key_norm(facts);
  attention.keys_are_values = facts.flag("keys_are_values");
  attention.shares_cache = facts.flag("shares_cache");
  attention.selected = selected_tokens(facts);
  attention.indexer = make_indexer(facts);
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
  attention.output_gate = facts.flag("output_gate");
  attention.selected = selected_tokens(facts);
  attention.indexer = make_indexer(facts);
  return attention;
}

CompressedAttention make_compressed_attention(NetworkFacts& facts) {
  CompressedAttention attention;
  attention.heads = facts.count("heads");
  attention.head_dim = facts.count("head_dim");
  attention.query_rank = facts.count("query_rank");
  attention.output_groups = facts.count("output_groups");
  require(attention.heads % attention.output_groups == 0, facts, "output_groups", attention.output_groups,
          "must divide the " + std::to_string(attention.heads) + " query heads");
  attention.output_rank = facts.count("output_rank");
  attention.window = Tokens::from_value(static_cast<double>(facts.count("window")));
  attention.ratio = facts.count_or_zero("compressed_ratio");
  if (attention.ratio > 0 && attention.ratio == facts.count_or_zero("indexed_ratio")) {
    attention.overlap = true;
    attention.indexer = make_indexer(facts);
    attention.selected = facts.count("selected");
  }
  return attention;
}

Mixer make_attention(NetworkFacts& facts, const std::optional<Tokens>& window) {
  const std::string kind = facts.text("attention");
  if (kind == "latent") {
    return make_latent_attention(facts);
  }
  if (kind == "compressed") {
    return make_compressed_attention(facts);
  }
  GroupedQueryAttention attention = make_grouped_attention(facts);
  attention.window = window;
  return attention;
}

Mixer make_linear_attention(NetworkFacts& facts) {
  constexpr std::array<std::pair<std::string_view, LinearRule>, 4> rules = {
      {{"gated_delta", LinearRule::gated_delta},
       {"channel_gated_delta", LinearRule::channel_gated_delta},
       {"fixed_decay", LinearRule::fixed_decay},
       {"receptance", LinearRule::receptance}}};
  LinearAttention mixer;
  mixer.key_heads = facts.count("linear_key_heads");
  mixer.value_heads = facts.count("linear_value_heads");
  require(mixer.value_heads % mixer.key_heads == 0, facts, "linear_value_heads", mixer.value_heads,
          "must be a multiple of the " + std::to_string(mixer.key_heads) + " key heads");
  mixer.key_head_dim = facts.count("linear_key_head_dim");
  mixer.value_head_dim = facts.count("linear_value_head_dim");
  mixer.convolution = facts.count_or_zero("convolution");
  mixer.decay_rank = facts.count_or_zero("decay_rank");
  mixer.gate_rank = facts.count_or_zero("gate_rank");
  const std::string rule = facts.text("linear_rule");
  for (const auto& [name, value] : rules) {
    mixer.rule = rule == name ? value : mixer.rule;
  }
  return mixer;
}

Mixer make_state_space(NetworkFacts& facts) {
  StateSpace mixer;
  mixer.heads = facts.count("state_heads");
  mixer.head_dim = facts.count("state_head_dim");
  mixer.state = facts.count("state");
  mixer.groups = positive_or(facts, "state_groups", 1);
  mixer.convolution = positive_or(facts, "convolution", 4);
  mixer.projection_bias = facts.flag("projection_bias");
  mixer.convolution_bias = facts.flag("convolution_bias", true);
  mixer.norm = facts.flag("state_norm", true);
  return mixer;
}

Mixer make_selective_scan(NetworkFacts& facts) {
  return SelectiveScan{.inner = facts.count("inner"),
                       .state = facts.count("state"),
                       .step_rank = facts.count("step_rank"),
                       .convolution = positive_or(facts, "convolution", 4),
                       .projection_bias = facts.flag("projection_bias"),
                       .convolution_bias = facts.flag("convolution_bias", true),
                       .norms = facts.flag("state_norm")};
}

Mixer make_short_convolution(NetworkFacts& facts) {
  return ShortConvolution{.taps = facts.count("convolution"), .bias = facts.flag("convolution_bias")};
}

/// What layers that do not attend have in the class.
Mixer make_other_mixer(NetworkFacts& facts) {
  constexpr std::array<std::pair<std::string_view, Mixer (*)(NetworkFacts&)>, 4> makers = {
      {{"linear", make_linear_attention},
       {"state_space", make_state_space},
       {"selective_scan", make_selective_scan},
       {"convolution", make_short_convolution}}};
  const std::string kind = facts.text("other_mixer");
  for (const auto& [name, make] : makers) {
    if (name == kind) {
      return make(facts);
    }
  }
  throw ParseError(facts.path(), "model_type", "what its layers without attention are is not known");
}

DenseFeedForward make_dense(NetworkFacts& facts) {
  constexpr Count usual_factor = 4;
  auto width = facts.find_count("width");
  if (!width) {
    width = usual_factor * facts.count("hidden");
    facts.assume(facts.key_of("width") + " is absent: " + std::to_string(*width) + ", four times the hidden width");
  }
  require(*width > 0, facts, "width", *width, "must be positive");
  return {.width = *width,
          .gated = facts.flag("gated"),
          .bias = facts.flag("feed_forward_bias"),
          .receptance = facts.flag("receptance")};
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
  moe.router_scale = facts.flag("router_scale");
  const Count latent_width = facts.count_or_zero("latent_width");
  moe.latent_width = latent_width == facts.count("hidden") ? 0 : latent_width;
  moe.latent_norm = moe.latent_width > 0 && facts.flag("latent_norm");
  return moe;
}

/// Makes layers, each from the facts that hold for it.
class BlockMaker {
public:
  explicit BlockMaker(NetworkFacts& facts)
      : facts_(facts), layers_(layer_total(facts)), pattern_(facts, layers_),
        sharing_(facts.count_or_zero("sharing_layers")), index_kinds_(facts.list("index_kinds")),
        index_heads_(facts.count_or_zero("any_index_heads")), index_period_(facts.count_or_zero("index_period")),
        index_offset_(facts.count_or_zero("index_offset")) {
    note_short_list();
  }

  [[nodiscard]] Count layers() const { return layers_; }

  [[nodiscard]] Block make(Count layer) {
    facts_.enter_layer(layer, layers_);
    facts_.describe_layer("first", layer == 0);
    facts_.describe_layer("shares_cache", layer >= layers_ - sharing_);
    facts_.describe_layer("hashed", layer < facts_.count_or_zero("hashed_layers"));
    describe_selection(layer);
    Block block = make(pattern_.of_layer(layer));
    facts_.leave_layers();
    return block;
  }

  /// The layers of one prediction module: what the configuration lists, else one like the last that picks its own tokens.
  [[nodiscard]] std::vector<Block> make_prediction() {
    std::vector<Block> blocks;
    for (const LayerKind& kind : pattern_.of_prediction()) {
      blocks.push_back(make(kind));
    }
    if (blocks.empty() && index_heads_ > 0) {
      facts_.enter_layer(layers_ - 1, layers_);
      facts_.describe_layer("shares_index", false);
      blocks.push_back(make(pattern_.of_layer(layers_ - 1)));
      facts_.leave_layers();
    }
    return blocks;
  }

private:
  [[nodiscard]] Block make(const LayerKind& kind) {
    facts_.describe_layer("windowed", kind.window.has_value());
    facts_.describe_layer("attends", kind.mixer == MixerPart::attention);
    Block block{.normalisation = make_normalisation(facts_), .parallel = facts_.flag("parallel")};
    add_mixers(block, kind);
    add_feed_forward(block, kind.feed_forward);
    block.norms = norms(block);
    block.scale = facts_.flag("layer_scale");
    return block;
  }

  /// A layer that lacks one of its two parts lacks the norms of it.
  [[nodiscard]] Count norms(const Block& block) {
    const bool whole = !block.mixers.empty() && block.feed_forward.has_value();
    const Count stated = facts_.count_or_zero("norms");
    return whole || pattern_.halves() ? stated : stated / 2;
  }

  void add_mixers(Block& block, const LayerKind& kind) {
    if (kind.mixer == MixerPart::linear_map) {
      block.mixers.emplace_back(LinearMap{});
    }
    if (kind.mixer == MixerPart::attention) {
      block.mixers.push_back(make_attention(facts_, kind.window));
    }
    if (kind.mixer == MixerPart::other || (kind.mixer == MixerPart::attention && facts_.flag("both_mixers"))) {
      block.mixers.push_back(make_other_mixer(facts_));
    }
  }

  void add_feed_forward(Block& block, FeedForwardPart part) {
    switch (part) {
    case FeedForwardPart::dense:
      block.feed_forward = make_dense(facts_);
      break;
    case FeedForwardPart::experts:
      block.feed_forward = make_experts(facts_);
      break;
    case FeedForwardPart::linear_map:
      block.feed_forward = LinearMap{};
      break;
    case FeedForwardPart::none:
      break;
    }
  }

  /// Which layers pick tokens anew: a list says so, a period where it does not reach to the last layer.
  void describe_selection(Count layer) {
    const auto position = static_cast<std::size_t>(layer);
    bool shares = false;
    if (index_kinds_ != nullptr && position < index_kinds_->size()) {
      shares = (*index_kinds_)[position] == "shared";
    } else if (index_period_ > 1) {
      shares = layer >= index_offset_ && (layer + 1 - index_offset_) % index_period_ != 0;
    }
    facts_.describe_layer("shares_index", shares);
  }

  void note_short_list() {
    if (index_kinds_ != nullptr && static_cast<Count>(index_kinds_->size()) < layers_) {
      facts_.assume(facts_.key_of("index_kinds") + " has " + std::to_string(index_kinds_->size()) + " entries for " +
                    std::to_string(layers_) + " layers: the others follow " + facts_.key_of("index_period"));
    }
  }

  NetworkFacts& facts_;
  Count layers_;
  LayerPattern pattern_;
  Count sharing_;
  const json* index_kinds_;
  Count index_heads_;
  Count index_period_;
  Count index_offset_;
};

/// Compressed attention sees its window alone in prediction modules.
void see_window_alone(Block& block) {
  for (Mixer& mixer : block.mixers) {
    if (auto* attention = std::get_if<CompressedAttention>(&mixer)) {
      attention->ratio = attention->selected = 0;
      attention->overlap = false;
      attention->indexer.reset();
    }
  }
}

} // namespace

Normalisation make_normalisation(NetworkFacts& facts) {
  const std::string kind = facts.text("norm");
  return {.weight = kind != "without_parameters", .bias = kind == "layer"};
}

Layers make_layers(NetworkFacts& facts) {
  BlockMaker maker(facts);
  Layers made;
  for (Count layer = 0; layer < maker.layers(); ++layer) {
    Block block = maker.make(layer);
    if (!made.runs.empty() && made.runs.back().block == block) {
      ++made.runs.back().count;
    } else {
      made.runs.push_back({std::move(block), 1});
    }
  }
  made.prediction = maker.make_prediction();
  for (Block& block : made.prediction) {
    see_window_alone(block);
  }
  return made;
}

} // namespace tokenroof::readers
