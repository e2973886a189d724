/// @file
/// Which kind of layer stands where: lists of words or numbers, pattern strings, periods, indices, blocks.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "readers/network_facts.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

enum class MixerPart { attention, other, none, linear_map };
enum class FeedForwardPart { dense, experts, none, linear_map };

/// What one layer consists of.
struct LayerKind {
  MixerPart mixer = MixerPart::attention;
  std::optional<Tokens> window{};
  FeedForwardPart feed_forward = FeedForwardPart::dense;
};

/// Number of layers, which a list of their types says where no key does. Throws ParseError, InvalidSpec.
[[nodiscard]] Count layer_total(NetworkFacts& facts);

/// Kinds of all layers.
class LayerPattern {
public:
  /// Throws ParseError for words it does not know, InvalidSpec for lists that do not cover the layers.
  LayerPattern(NetworkFacts& facts, Count layers);

  /// Call within `NetworkFacts::enter_layer`: blocks and lists may switch parts off.
  [[nodiscard]] LayerKind of_layer(Count layer) const;

  /// The kinds of the layers of one prediction module, where the configuration lists them.
  [[nodiscard]] std::vector<LayerKind> of_prediction() const;

  /// Whether each layer is a mixer or a feed-forward network alone.
  [[nodiscard]] bool halves() const { return halves_; }

private:
  struct Listed {
    MixerPart mixer = MixerPart::attention;
    bool windowed = false;
    std::optional<FeedForwardPart> feed_forward{};
  };

  void read_window();
  void read_types(Count layers);
  void read_attention_layers();
  void read_experts();
  [[nodiscard]] std::vector<Listed> listed(std::string_view fact) const;
  [[nodiscard]] MixerPart mixer_by_position(Count layer) const;
  [[nodiscard]] bool windowed(Count layer) const;
  [[nodiscard]] bool has_experts(Count layer) const;
  [[nodiscard]] FeedForwardPart feed_forward(Count layer) const;

  NetworkFacts& facts_;
  bool halves_;
  std::vector<Listed> types_{};

  std::optional<Tokens> window_{};
  Count window_from_ = 0;
  Count window_period_ = 0; ///< each layer of that number sees everything; 0: none does

  std::optional<std::set<Count>> attention_layers_{};
  Count attention_period_ = 0;
  Count attention_offset_ = 0;

  Count experts_from_ = 0;
  Count expert_period_ = 1;
  Count expert_offset_ = 0;
  Count expert_frequency_ = 1;
  std::set<Count> dense_{};
};

} // namespace tokenroof::readers
