#include "readers/layer_pattern.hpp"

#include <utility>

#include "readers/json_object.hpp"
#include "readers/network_class.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {

namespace {

using nlohmann::json;

Count positive_or(NetworkFacts& facts, std::string_view fact, Count otherwise) {
  const auto found = facts.find_count(fact);
  if (found && *found == 0) {
    throw InvalidSpec(facts.key_of(fact), "0", "must be positive");
  }
  return found.value_or(otherwise);
}

/// Words of a list, letters of a pattern, numbers as they are written.
std::vector<std::string> words_of(NetworkFacts& facts, std::string_view fact) {
  std::vector<std::string> words;
  if (facts.is_text(fact)) {
    for (const char letter : facts.text(fact)) {
      words.emplace_back(1, letter);
    }
    return words;
  }
  if (const json* list = facts.list(fact)) {
    for (const json& entry : *list) {
      words.push_back(entry.is_string() ? entry.get<std::string>() : entry.dump());
    }
  }
  return words;
}

std::set<Count> indices(NetworkFacts& facts, std::string_view fact) {
  std::set<Count> found;
  const json* list = facts.list(fact);
  if (list == nullptr) {
    return found;
  }
  for (const json& layer : *list) {
    if (!layer.is_number_integer()) {
      throw InvalidSpec(facts.key_of(fact), shortened(layer), "must list whole numbers");
    }
    found.insert(layer.get<Count>());
  }
  return found;
}

} // namespace

Count layer_total(NetworkFacts& facts) {
  if (facts.has("layers") || !facts.has("layer_types")) {
    return facts.count("layers");
  }
  constexpr std::size_t most_layers = 2048;
  const std::size_t listed = words_of(facts, "layer_types").size();
  if (listed == 0 || listed > most_layers) {
    throw InvalidSpec(facts.key_of("layer_types"), std::to_string(listed) + " entries", "must lie between 1 and 2048");
  }
  return static_cast<Count>(listed);
}

LayerPattern::LayerPattern(NetworkFacts& facts, Count layers) : facts_(facts), halves_(facts.flag("halves")) {
  read_window();
  read_types(layers);
  read_attention_layers();
  read_experts();
}

void LayerPattern::read_window() {
  if (!facts_.flag("window_enabled", true)) {
    return;
  }
  const auto window = facts_.find_count("window");
  if (!window) {
    return;
  }
  if (*window == 0) {
    throw InvalidSpec(facts_.key_of("window"), "0", "must be positive");
  }
  window_ = Tokens::from_value(static_cast<double>(*window));
  window_from_ = facts_.count_or_zero("window_from");
  window_period_ = facts_.count_or_zero("window_period");
}

std::vector<LayerPattern::Listed> LayerPattern::listed(std::string_view fact) const {
  std::vector<Listed> kinds;
  for (const std::string& word : words_of(facts_, fact)) {
    const LayerWord* known = find_layer_word(word);
    if (known == nullptr) {
      throw ParseError(facts_.path(), facts_.key_of(fact),
                       "layers of type " + shortened(json(word)) + " are not supported");
    }
    if (known->mixer == "other" && !facts_.has("other_mixer")) {
      throw ParseError(facts_.path(), facts_.key_of(fact),
                       "what layers of type " + shortened(json(word)) + " are is not known for this model_type");
    }
    Listed kind;
    kind.mixer = known->mixer == "other"  ? MixerPart::other
                 : known->mixer == "none" ? MixerPart::none
                                          : MixerPart::attention;
    kind.windowed = known->window;
    if (!known->feed_forward.empty()) {
      kind.feed_forward = known->feed_forward == "experts" ? FeedForwardPart::experts : FeedForwardPart::dense;
    } else if (halves_) {
      kind.feed_forward = FeedForwardPart::none;
    }
    kinds.push_back(kind);
  }
  return kinds;
}

void LayerPattern::read_types(Count layers) {
  types_ = listed("layer_types");
  if (types_.empty()) {
    return;
  }
  if (static_cast<Count>(types_.size()) < layers) {
    throw InvalidSpec(facts_.key_of("layer_types"), std::to_string(types_.size()) + " entries",
                      "must have one for each of " + std::to_string(layers) + " layers");
  }
  for (const Listed& kind : types_) {
    if (kind.windowed && !window_) {
      throw ParseError(facts_.path(), facts_.key_of("layer_types"), "has windowed layers, but no window is given");
    }
  }
}

void LayerPattern::read_attention_layers() {
  if (facts_.list("attention_layers") != nullptr) {
    attention_layers_ = indices(facts_, "attention_layers");
  }
  attention_period_ = positive_or(facts_, "attention_period", 0);
  attention_offset_ = facts_.find_count("attention_offset").value_or(attention_period_ - 1);
}

void LayerPattern::read_experts() {
  experts_from_ = facts_.count_or_zero("dense_first");
  expert_period_ = positive_or(facts_, "expert_period", 1);
  expert_offset_ = facts_.find_count("expert_offset").value_or(expert_period_ - 1);
  expert_frequency_ = positive_or(facts_, "expert_frequency", 1);
  dense_ = indices(facts_, "dense_layers");
}

MixerPart LayerPattern::mixer_by_position(Count layer) const {
  bool attends = true;
  if (attention_layers_) {
    attends = attention_layers_->contains(layer + (facts_.flag("layers_count_from_one") ? 1 : 0));
  } else if (attention_period_ > 0) {
    attends = layer % attention_period_ == attention_offset_ % attention_period_;
  } else if (facts_.flag("attention_free")) {
    attends = false;
  }
  return attends ? MixerPart::attention : MixerPart::other;
}

bool LayerPattern::windowed(Count layer) const {
  if (!types_.empty()) {
    return types_[static_cast<std::size_t>(layer)].windowed;
  }
  return layer >= window_from_ && (window_period_ == 0 || (layer + 1) % window_period_ != 0);
}

bool LayerPattern::has_experts(Count layer) const {
  if (facts_.count_or_zero("experts") <= 1) {
    return false;
  }
  if (facts_.has("expert_layers")) {
    const std::string word = facts_.word("expert_layers");
    const LayerWord* known = find_layer_word(word);
    if (known == nullptr) {
      throw ParseError(facts_.path(), facts_.key_of("expert_layers"),
                       "feed-forward networks of type " + shortened(json(word)) + " are not supported");
    }
    return known->feed_forward == "experts" || known->mixer == "attention"; // "1" means either
  }
  return layer >= experts_from_ && layer % expert_frequency_ == 0 &&
         layer % expert_period_ == expert_offset_ % expert_period_ && !dense_.contains(layer);
}

FeedForwardPart LayerPattern::feed_forward(Count layer) const {
  if (facts_.flag("no_feed_forward")) {
    return FeedForwardPart::none;
  }
  if (facts_.flag("linear_feed_forward")) {
    return FeedForwardPart::linear_map;
  }
  return has_experts(layer) ? FeedForwardPart::experts : FeedForwardPart::dense;
}

LayerKind LayerPattern::of_layer(Count layer) const {
  LayerKind kind;
  kind.mixer = types_.empty() ? mixer_by_position(layer) : types_[static_cast<std::size_t>(layer)].mixer;
  if (facts_.flag("no_mixer")) {
    kind.mixer = MixerPart::none;
  } else if (facts_.flag("linear_mixer")) {
    kind.mixer = MixerPart::linear_map;
  }
  if (kind.mixer == MixerPart::attention && windowed(layer)) {
    kind.window = window_;
  }
  const auto stated = types_.empty() ? std::nullopt : types_[static_cast<std::size_t>(layer)].feed_forward;
  kind.feed_forward = stated ? *stated : feed_forward(layer);
  return kind;
}

std::vector<LayerKind> LayerPattern::of_prediction() const {
  std::vector<LayerKind> kinds;
  for (const Listed& kind : listed("prediction_layers")) {
    kinds.push_back({.mixer = kind.mixer, .feed_forward = kind.feed_forward.value_or(FeedForwardPart::dense)});
  }
  return kinds;
}

} // namespace tokenroof::readers
