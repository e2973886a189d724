/// @file
/// models/aliases.json: what people's words for hardware, networks, formats, engines and metrics mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/quantities.hpp"

namespace tokenroof::validation {

/// Letters and digits in lower case, points between digits, and plus signs: what tells names apart.
[[nodiscard]] std::string normalised(std::string_view text);

/// What some names mean; empty: what the rest of the row says.
struct Alias {
  std::string means{};
  std::vector<std::string> names{};    ///< normalised
  std::vector<std::string> networks{}; ///< ids of the only networks for which it holds; empty: all
  std::vector<std::string> sources{};  ///< texts of which a row's source must hold one; empty: any
};

/// An engine by the framework's name, its backend and its version.
struct EngineAlias {
  std::string means{};
  std::vector<std::string> frameworks{};     ///< normalised
  std::vector<std::string> backends{};       ///< normalised; empty: any
  std::vector<std::string> device_classes{}; ///< empty: any
  std::vector<std::string> sources{};        ///< texts of which the row's source must hold one; empty: any
  std::vector<double> before{};              ///< versions from this on are not meant; empty: all are
  bool reserves_context = false;             ///< buffers are as for the whole context from the start
};

/// What a number behind a text in a row's notes states.
enum class Setting : std::uint8_t {
  batched_tokens,
  kv_block,
  context,
  tensor,
  pipeline,
  data,
  device_index,
  expanded_cache,      ///< 1: latent attention caches keys and values of each head
  attention_scores,    ///< 1: they exist in memory, as without flash attention
  mean_length,         ///< of prompts and outputs, over what their columns say
  requests_per_client, ///< of a benchmark of clients
};
inline constexpr std::size_t setting_count = 11;

struct SettingText {
  std::string text{};
  Setting setting = Setting::batched_tokens;
  std::optional<double> value{};  ///< what the text states by itself
  std::optional<double> equals{}; ///< the setting is whether the number is this one
};

/// Which quantity a metric is, where the notes hold a text and the framework is one of some.
struct Reading {
  std::string metric{};
  std::string notes{};                   ///< empty: any
  std::vector<std::string> frameworks{}; ///< normalised; empty: any
  std::optional<Quantity> quantity{};    ///< none: not claimed
  double unit = 1;                       ///< in bytes, tokens or sequences
  bool unit_is_certain = false;          ///< whatever the row's own column for units says
  std::string reason{};                  ///< why it is not claimed
};

struct Aliases {
  std::vector<Alias> devices{};
  std::vector<Alias> networks{};
  std::vector<Alias> weight_formats{};
  std::vector<Alias> kv_formats{};
  std::vector<Alias> network_prefixes{}; ///< words in front of a network's name that may be left out
  std::vector<Alias> network_suffixes{}; ///< words behind it; what they mean is a weight format
  std::vector<EngineAlias> engines{};
  std::vector<SettingText> settings{};
  std::vector<Reading> readings{};
};

/// Whether a row's source holds one of some texts; true where there are none.
[[nodiscard]] bool is_of_source(const std::vector<std::string>& sources, std::string_view source);

/// The built-in ones, parsed once. Thread-safe.
[[nodiscard]] const Aliases& aliases();

/// The numbers between points where a version first has a digit: 0, 19, 0 of "v0.19.0 (V1)".
[[nodiscard]] std::vector<double> version_numbers(std::string_view text);

/// What the notes of a row state.
using Settings = std::array<std::optional<double>, setting_count>;
[[nodiscard]] Settings settings_in(std::string_view notes);

/// How the metric of a row is read; null: its name is not known.
[[nodiscard]] const Reading* find_reading(std::string_view metric, std::string_view notes, std::string_view framework);

} // namespace tokenroof::validation
