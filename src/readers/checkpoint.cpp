#include "readers/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "readers/module_names.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using Part = TensorMeaning::Part;
using Place = std::pair<TensorRole, Count>; ///< a role, and its layer or -1

constexpr Count outside = -1;

Place place_of(TensorRole role, std::optional<Count> layer) { return {role, layer.value_or(outside)}; }

/// Elements of each role in each place.
std::map<Place, Count> needed_elements(const Network& network) {
  std::map<Place, Count> needed;
  for_each_run(network, [&](const LayerRun& run, const LayerSpan& span) {
    for (Count layer = span.first; layer < span.first + span.count; ++layer) {
      for_each_tensor(run.block, network, [&](const Tensor& tensor) {
        needed[{tensor.role, layer}] += elements(tensor);
      });
    }
  });
  for_each_outer_tensor(network, [&](const Tensor& tensor) { needed[{tensor.role, outside}] += elements(tensor); });
  return needed;
}

/// What a file has of one role in one place.
struct Holding {
  std::map<std::string, StoredTensor, std::less<>> whole{}; ///< by type
  double packed_bytes = 0;
  double companion_bytes = 0;
};

/// Codes in integers that are not numbers themselves.
bool is_packed(const TensorMeaning& meaning, const SafetensorsTensor& tensor) {
  constexpr std::array<std::string_view, 3> containers = {"U8", "U32", "I32"};
  const bool integer = std::find(containers.begin(), containers.end(), tensor.type) != containers.end();
  return meaning.part == Part::packed || (integer && !is_vector(meaning.roles.front()));
}

class Holdings {
public:
  Holdings(const Network& network, const std::optional<WeightScheme>& configured)
      : configured_(configured), needed_(needed_elements(network)) {}

  void add(const TensorMeaning& meaning, const SafetensorsTensor& tensor) {
    Count all = 0;
    for (const TensorRole role : meaning.roles) {
      all += needed(place_of(role, meaning.layer));
    }
    Count elements_left = tensor.elements;
    auto bytes_left = static_cast<double>(tensor.bytes);
    for (std::size_t i = 0; i < meaning.roles.size(); ++i) {
      const bool last = i + 1 == meaning.roles.size();
      const double share = last || all == 0 ? 1 : part_of(needed(place_of(meaning.roles[i], meaning.layer)), all);
      const Count elements = last || all == 0 ? elements_left : share_of(tensor.elements, share);
      const double bytes = last || all == 0 ? bytes_left : std::floor(static_cast<double>(tensor.bytes) * share);
      add(meaning, tensor, meaning.roles[i], elements, bytes);
      elements_left -= elements;
      bytes_left -= bytes;
    }
  }

  [[nodiscard]] std::vector<StoredTensor> stored() const {
    std::vector<StoredTensor> result;
    for (const auto& [place, holding] : holdings_) {
      append(result, place, holding);
    }
    return result;
  }

private:
  static double part_of(Count part, Count all) { return static_cast<double>(part) / static_cast<double>(all); }
  static Count share_of(Count elements, double share) {
    return static_cast<Count>(std::llround(static_cast<double>(elements) * share));
  }

  [[nodiscard]] Count needed(const Place& place) const {
    const auto found = needed_.find(place);
    return found == needed_.end() ? 0 : found->second;
  }

  void add(const TensorMeaning& meaning, const SafetensorsTensor& tensor, TensorRole role, Count elements,
           double bytes) {
    Holding& holding = holdings_[place_of(role, meaning.layer)];
    if (meaning.part == Part::companion) {
      holding.companion_bytes += bytes;
    } else if (is_packed(meaning, tensor)) {
      holding.packed_bytes += bytes;
    } else {
      StoredTensor& whole =
          holding.whole
              .try_emplace(tensor.type, StoredTensor{.role = role, .layer = meaning.layer, .format = tensor.format})
              .first->second;
      whole.elements += elements;
      whole.bytes += bytes;
    }
  }

  /// The format that the configuration has for that place, or one that says no more than its bits.
  [[nodiscard]] Format quantised_format(const Place& place, double code_bits) const {
    if (configured_) {
      const std::vector<Format>* stated = detail::stated_formats(*configured_, place.first);
      const auto layer = static_cast<std::size_t>(std::max<Count>(place.second, 0));
      const Format& format = stated == nullptr ? configured_->format : stated->at(std::min(layer, stated->size() - 1));
      return format.encoding == Encoding::plain && code_bits < 8 ? configured_->format : format;
    }
    const std::string name = "int" + std::to_string(std::lround(code_bits));
    return {.name = std::string_view(name), .arithmetic = Arithmetic::fp16, .encoding = Encoding::weight_only};
  }

  void append(std::vector<StoredTensor>& result, const Place& place, const Holding& holding) const {
    Count whole_elements = 0;
    for (const auto& [type, tensor] : holding.whole) {
      whole_elements += tensor.elements;
      result.push_back(tensor);
    }
    if (holding.packed_bytes > 0) {
      result.push_back(packed(place, holding, needed(place) - whole_elements));
    } else if (holding.companion_bytes > 0) {
      add_companions(result, place, holding);
    }
  }

  [[nodiscard]] StoredTensor packed(const Place& place, const Holding& holding, Count elements) const {
    constexpr double bits_a_byte = 8;
    const auto layer = place.second == outside ? std::nullopt : std::optional(place.second);
    const double code_bits = elements > 0 ? bits_a_byte * holding.packed_bytes / static_cast<double>(elements) : 0;
    if (needed(place) > 0 && (code_bits < 1 || code_bits > bits_a_byte + 1)) {
      throw InvalidSpec(std::string(name(place.first)) + (layer ? " of layer " + std::to_string(*layer) : ""),
                        std::to_string(holding.packed_bytes) + " bytes of packed codes",
                        "cannot be the " + std::to_string(elements) + " elements that the network needs");
    }
    return {.role = place.first,
            .layer = layer,
            .format = quantised_format(place, code_bits),
            .elements = std::max<Count>(elements, 0),
            .bytes = holding.packed_bytes + holding.companion_bytes};
  }

  /// Scales of codes that are numbers by themselves; without any, they are counted where the role is.
  void add_companions(std::vector<StoredTensor>& result, const Place& place, const Holding& holding) const {
    constexpr double bits_a_byte = 8;
    if (holding.whole.empty()) {
      result.push_back({.role = place.first,
                        .layer = place.second == outside ? std::nullopt : std::optional(place.second),
                        .format = Format{},
                        .bytes = holding.companion_bytes});
      return;
    }
    const auto first = result.end() - static_cast<std::ptrdiff_t>(holding.whole.size());
    const auto largest = std::max_element(
        first, result.end(), [](const StoredTensor& a, const StoredTensor& b) { return a.bytes < b.bytes; });
    const Format quantised = quantised_format(place, bits_a_byte);
    if (largest->format.arithmetic == quantised.arithmetic) {
      largest->format = quantised;
    }
    largest->bytes += holding.companion_bytes;
  }

  const std::optional<WeightScheme>& configured_;
  std::map<Place, Count> needed_;
  std::map<Place, Holding> holdings_{};
};

/// Tensors that no step reads, by what they are.
struct Others {
  std::map<std::string, std::pair<std::uint64_t, std::string>> kinds{};

  void add(const std::string& what, const SafetensorsTensor& tensor) {
    kinds.try_emplace(what, 0, tensor.name).first->second.first += tensor.bytes;
  }
  void note(std::vector<std::string>& notes) const {
    for (const auto& [what, kind] : kinds) {
      notes.push_back(what + ": stored, taken as not read by a step (" + std::to_string(kind.first) + " bytes, " +
                      kind.second.substr(0, 96) + ")");
    }
  }
};

bool has_role(const std::vector<TensorMeaning>& meanings, TensorRole role) {
  return std::any_of(meanings.begin(), meanings.end(), [role](const TensorMeaning& meaning) {
    return meaning.part != Part::companion && meaning.roles == std::vector{role};
  });
}

/// Names the shared tensor as the network does, and a second copy of it as what it is.
void settle_head(Network& network, std::vector<TensorMeaning>& meanings, std::vector<std::string>& notes) {
  const bool embedding = has_role(meanings, TensorRole::token_embedding);
  const bool head = has_role(meanings, TensorRole::lm_head);
  if (!network.tied_embeddings && embedding && !head) {
    network.tied_embeddings = true;
    notes.emplace_back("the file has no head: it is taken to be the token embedding");
  }
  if (!network.tied_embeddings) {
    return;
  }
  for (TensorMeaning& meaning : meanings) {
    const bool shared = meaning.roles == std::vector{embedding ? TensorRole::token_embedding : TensorRole::lm_head};
    if (shared) {
      meaning.roles = {TensorRole::tied_embedding};
    } else if (meaning.roles == std::vector{TensorRole::lm_head}) {
      meaning.roles.clear();
      meaning.other = "a second copy of the token embedding as head";
    }
  }
}

} // namespace

StoredMatch match_checkpoint(Network& network, const std::vector<SafetensorsTensor>& tensors,
                             const std::optional<WeightScheme>& configured) {
  std::vector<std::string> notes;
  std::vector<TensorMeaning> meanings;
  meanings.reserve(tensors.size());
  for (const SafetensorsTensor& tensor : tensors) {
    meanings.push_back(meaning_of_tensor(tensor.name));
  }
  settle_head(network, meanings, notes);
  Holdings holdings(network, configured);
  Others others;
  double total = 0;
  const Count layers = layer_count(network);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    total += static_cast<double>(tensors[i].bytes);
    const TensorMeaning& meaning = meanings[i];
    if (meaning.roles.empty()) {
      others.add(meaning.other, tensors[i]);
    } else if (meaning.layer && (*meaning.layer < 0 || *meaning.layer >= layers)) {
      others.add("layers beyond the network's (multi-token prediction modules)", tensors[i]);
    } else {
      holdings.add(meaning, tensors[i]);
    }
  }
  StoredMatch match = match_formats(network, holdings.stored(), total);
  others.note(notes);
  match.assumptions.insert(match.assumptions.begin(), notes.begin(), notes.end());
  return match;
}

} // namespace tokenroof::readers
