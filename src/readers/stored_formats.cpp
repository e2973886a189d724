#include "readers/stored_formats.hpp"

#include <algorithm>
#include <array>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

/// What the network needs, and what the file has, of one role in one place.
struct Share {
  std::vector<Tensor> needed{};
  std::vector<StoredTensor> stored{};
};

using Shares = std::array<Share, tensor_role_count>;

Share& share_of(Shares& shares, TensorRole role) { return shares[static_cast<std::size_t>(role)]; }

Count elements_of(const std::vector<Tensor>& tensors) {
  Count sum = 0;
  for (const Tensor& tensor : tensors) {
    sum += elements(tensor);
  }
  return sum;
}

double bytes_in(const Format& format, const std::vector<Tensor>& tensors) {
  double sum = 0;
  for (const Tensor& tensor : tensors) {
    sum += storage(format, tensor).value();
  }
  return sum;
}

std::string where(TensorRole role, std::optional<Count> layer) {
  return std::string(name(role)) + (layer ? " of layer " + std::to_string(*layer) : "");
}

const StoredTensor& largest(const Share& share) {
  return *std::max_element(share.stored.begin(), share.stored.end(),
                           [](const StoredTensor& a, const StoredTensor& b) { return a.bytes < b.bytes; });
}

/// The format of all tensors there, or the one of the largest, stretched so that the bytes are those of the file.
class Choice {
public:
  Choice(const Share& share, TensorRole role, std::optional<Count> layer)
      : share_(share), needed_(elements_of(share.needed)) {
    for (const StoredTensor& tensor : share.stored) {
      elements_ += tensor.elements;
      bytes_ += tensor.bytes;
    }
    if (elements_ < needed_ && !is_vector(role) && !may_be_absent(role)) {
      throw InvalidSpec(where(role, layer), std::to_string(elements_) + " elements",
                        "the network needs " + std::to_string(needed_));
    }
  }

  [[nodiscard]] Count missing() const { return std::max<Count>(needed_ - elements_, 0); }
  [[nodiscard]] Count surplus() const { return std::max<Count>(elements_ - needed_, 0); }

  [[nodiscard]] Format format() const {
    if (share_.stored.empty()) {
      return stretched(Format{}, 0);
    }
    const Format& common = largest(share_).format;
    const bool uniform = std::all_of(share_.stored.begin(), share_.stored.end(),
                                     [&](const StoredTensor& tensor) { return tensor.format == common; });
    if (uniform && elements_ >= needed_) {
      return laid_out(common);
    }
    return stretched(common, bytes_ - static_cast<double>(surplus()) * bytes_ / static_cast<double>(elements_));
  }

private:
  /// Layers that share the cache of an earlier one may come without keys and values of their own.
  [[nodiscard]] bool may_be_absent(TensorRole role) const {
    return share_.stored.empty() && (role == TensorRole::attention_key || role == TensorRole::attention_value);
  }

  /// The file may lay the same elements out in other rows than the inventory does.
  [[nodiscard]] Format laid_out(const Format& format) const {
    Format spanning = format;
    spanning.spans_rows = true;
    spanning.row_bytes = 0;
    for (const Format& candidate : {format, spanning}) {
      if (bytes_in(candidate, share_.needed) == bytes_) {
        return candidate;
      }
    }
    return elements_ > needed_ ? format : stretched(format, bytes_);
  }

  [[nodiscard]] Format stretched(Format format, double bytes) const {
    format.block_elements = static_cast<double>(needed_);
    format.block_bytes = bytes;
    format.spans_rows = true;
    format.row_bytes = 0;
    return format;
  }

  const Share& share_;
  Count needed_;
  Count elements_ = 0;
  double bytes_ = 0;
};

/// Elements per role that have no counterpart on the other side.
struct Differences {
  std::array<Count, tensor_role_count> missing{};
  std::array<Count, tensor_role_count> surplus{};
};

class Matching {
public:
  Matching(const Network& network, const std::vector<StoredTensor>& stored)
      : network_(network), layers_(static_cast<std::size_t>(layer_count(network))) {
    gather_needed();
    for (const StoredTensor& tensor : stored) {
      gather(tensor);
    }
  }

  StoredMatch match(double total) {
    StoredMatch result;
    for (std::size_t i = 0; i < tensor_role_count; ++i) {
      result.formats.by_role[i] = formats(static_cast<TensorRole>(i));
    }
    result.formats.other = rest(result.formats, total);
    note(result.assumptions, differences_.missing, " elements fewer than the network is taken to have");
    note(result.assumptions, differences_.surplus, " elements beyond the network's, taken as stored and never read");
    return result;
  }

private:
  void gather_needed() {
    for_each_run(network_, [&](const LayerRun& run, const LayerSpan& span) {
      for (Count layer = span.first; layer < span.first + span.count; ++layer) {
        for_each_tensor(run.block, network_, [&](const Tensor& tensor) {
          share_of(layers_[static_cast<std::size_t>(layer)], tensor.role).needed.push_back(tensor);
        });
      }
    });
    for_each_outer_tensor(network_,
                          [&](const Tensor& tensor) { share_of(outer_, tensor.role).needed.push_back(tensor); });
  }

  void gather(const StoredTensor& tensor) {
    Share& share = share_of(tensor.layer ? layers_.at(static_cast<std::size_t>(*tensor.layer)) : outer_, tensor.role);
    share.stored.push_back(tensor);
  }

  /// The format of a role in one place, or nothing where the network has no tensor of it.
  std::optional<Format> format(const Share& share, TensorRole role, std::optional<Count> layer) {
    const auto index = static_cast<std::size_t>(role);
    if (share.needed.empty()) {
      for (const StoredTensor& tensor : share.stored) {
        differences_.surplus[index] += tensor.elements;
      }
      return std::nullopt;
    }
    const Choice choice(share, role, layer);
    differences_.missing[index] += choice.missing();
    differences_.surplus[index] += choice.surplus();
    return choice.format();
  }

  std::vector<Format> formats(TensorRole role) {
    std::vector<std::optional<Format>> found;
    found.reserve(layers_.size());
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      found.push_back(format(share_of(layers_[layer], role), role, static_cast<Count>(layer)));
    }
    const auto outside = format(share_of(outer_, role), role, std::nullopt);
    const auto first = std::find_if(found.begin(), found.end(), [](const auto& f) { return f.has_value(); });
    if (first == found.end()) {
      return outside ? std::vector{*outside} : std::vector<Format>();
    }
    std::vector<Format> result;
    result.reserve(found.size());
    for (const auto& of_layer : found) {
      result.push_back(of_layer.value_or(**first));
    }
    const bool uniform =
        std::all_of(result.begin(), result.end(), [&](const Format& f) { return f == result.front(); });
    result.resize(uniform ? 1 : result.size());
    return result;
  }

  [[nodiscard]] Bytes rest(const StoredFormats& formats, double total) const {
    WeightScheme scheme;
    scheme.stored = formats;
    const double rest = total - weight_bytes(network_, scheme).value();
    if (rest < 0) {
      throw InvalidSpec("weights", std::to_string(total) + " bytes",
                        "the network's tensors take " + std::to_string(-rest) + " bytes more");
    }
    return Bytes::from_value(rest);
  }

  static void note(std::vector<std::string>& notes, const std::array<Count, tensor_role_count>& elements,
                   std::string_view what) {
    for (std::size_t i = 0; i < tensor_role_count; ++i) {
      if (elements[i] > 0) {
        notes.push_back(std::string(tensor_role_names[i]) + ": the file has " + std::to_string(elements[i]) +
                        std::string(what));
      }
    }
  }

  const Network& network_;
  std::vector<Shares> layers_;
  Shares outer_{};
  Differences differences_{};
};

} // namespace

StoredMatch match_formats(const Network& network, const std::vector<StoredTensor>& stored, double total) {
  return Matching(network, stored).match(total);
}

} // namespace tokenroof::readers
