/// @file
/// From names as people write them to what they mean. General habits of writing are rules here; everything else is an
/// alias in models/aliases.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/engine/engine.hpp"
#include "tokenroof/hardware/device.hpp"
#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/precision/format.hpp"

namespace tokenroof::validation {

/// Whether a reason names what is nearest to an unknown name, which takes a millisecond.
enum class Nearest : bool { no, yes };

/// What a name means, or why that is not known, with the nearest names that are.
template <class Meaning>
struct Resolved {
  std::optional<Meaning> meaning{};
  std::string reason{};

  [[nodiscard]] explicit operator bool() const { return meaning.has_value(); }
};

struct Hardware {
  Device device{};
  std::optional<Bytes> visible{}; ///< memory of one device as the text states it
};

/// "16x NVIDIA GeForce RTX 3090" is sixteen devices of a kind.
struct HardwareName {
  Resolved<Hardware> hardware{};
  std::int64_t devices = 1;
};

/// A count in front ("16x") is the number of devices; a size in parentheses, or behind, chooses among those sold, and one
/// that says "visible" is what the driver shows; what else is in parentheses may be left out. Devices of several kinds
/// ("A + B", "A, B") are counted and not resolved. `source`: whose words these are, where that matters.
[[nodiscard]] HardwareName resolve_hardware(std::string_view text, std::string_view source = {},
                                            Nearest nearest = Nearest::yes);

struct NetworkName {
  const catalogue::NetworkEntry* entry = nullptr; ///< of the built-in catalogue
  std::string weight_format{};                    ///< that the name says ("…-quantized.w8a8"); empty: none
};

/// The owner in front, remarks in brackets and words behind that leave the architecture as it is ("-Instruct") may be
/// left out.
[[nodiscard]] Resolved<NetworkName> resolve_network(std::string_view text, Nearest nearest = Nearest::yes);

/// Where the text says nothing, the network's name does, or its file. "IQ4_KSS - 4.0 bpw", when the format itself is not
/// known, is one of that many bits.
[[nodiscard]] Resolved<WeightScheme> resolve_weights(std::string_view text, const NetworkName& network);

/// "K/V" is a pair; of two formats the mean counts, by the part of a token's elements that are keys.
/// `usual` is what no text, and "auto", mean.
[[nodiscard]] Resolved<Format> resolve_kv(std::string_view text, const Format& usual, double share_of_keys = 0.5);

struct EngineName {
  Shared<Engine> engine{};
  bool reserves_context = false; ///< buffers are as for the whole context from the start
};

/// By framework, backend (which may be empty) and version; the device decides where the backend does not.
[[nodiscard]] Resolved<EngineName> resolve_engine(std::string_view framework, std::string_view backend,
                                                  std::string_view version, std::string_view source,
                                                  const Device* device);

} // namespace tokenroof::validation
