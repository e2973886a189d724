/// @file
/// The built-in devices, by id, name or alias.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/catalogue/device_entry.hpp"
#include "tokenroof/catalogue/device_table.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/hardware/device.hpp"
#include "tokenroof/hardware/memory_choice.hpp"
#include "tokenroof/inline_string.hpp"
#include "tokenroof/nearest.hpp"
#include "tokenroof/units/parse.hpp"

namespace tokenroof::catalogue {

/// All built-in devices, sorted by id.
[[nodiscard]] constexpr std::span<const Device> devices() noexcept { return built_in_devices; }

namespace detail {

inline constexpr std::size_t longest_spelling = 96;
using NormalisedSpelling = InlineString<longest_spelling>;

/// Letters and digits only, in lower case, without the maker's name in front: "NVIDIA GeForce RTX 4090" is "rtx4090".
/// Empty where it is too long to mean anything. tokenroof_normalise() in GenerateDevices.cmake does the same.
[[nodiscard]] constexpr NormalisedSpelling normalised(std::string_view text) {
  constexpr std::array<std::string_view, 7> makers = {"nvidia", "geforce", "amd", "radeon", "intel", "google", "apple"};
  std::array<char, longest_spelling> characters{};
  std::size_t size = 0;
  for (const char written : text) {
    const char c = tokenroof::detail::lower_case(written);
    if (!tokenroof::detail::is_digit(c) && (c < 'a' || c > 'z')) {
      continue;
    }
    if (size == longest_spelling) {
      return {};
    }
    characters[size++] = c;
  }
  std::string_view rest(characters.data(), size);
  const auto stands_in_front = [&](std::string_view maker) { return rest.starts_with(maker); };
  for (auto maker = std::find_if(makers.begin(), makers.end(), stands_in_front); maker != makers.end();
       maker = std::find_if(makers.begin(), makers.end(), stands_in_front)) {
    rest.remove_prefix(maker->size());
  }
  return rest;
}

// Indices, not pointers: under UndefinedBehaviorSanitizer GCC cannot compare an address with null in a constant.

/// The index among the built-in devices, or nothing.
[[nodiscard]] constexpr std::optional<std::size_t> find_spelling(std::string_view text) {
  const NormalisedSpelling spelling = normalised(text);
  const auto alias = std::lower_bound(built_in_device_aliases.begin(), built_in_device_aliases.end(), spelling.view(),
                                      [](const DeviceAlias& a, std::string_view b) { return a.spelling < b; });
  const bool found = alias != built_in_device_aliases.end() && alias->spelling == spelling.view();
  return found ? std::optional<std::size_t>(alias->index) : std::nullopt;
}

/// A spelling and the size that it ends in, if it does.
struct SizedSpelling {
  std::string_view device;
  std::optional<Bytes> size{};
};

/// "RTX 4090 24GB" is "RTX 4090" and 24 GB. The unit must be there: the 395 of "Max+ 395" is not a size.
[[nodiscard]] constexpr SizedSpelling split_trailing_size(std::string_view text) {
  const std::size_t last_letter = text.find_last_not_of("BbIiGg ");
  if (last_letter == std::string_view::npos || last_letter + 1 == text.size()) {
    return {text};
  }
  const std::size_t before = text.find_last_not_of("0123456789.", last_letter);
  if (before == std::string_view::npos || before == last_letter || text.find_first_of(" -_(", before) != before) {
    return {text};
  }
  return {text.substr(0, before), parse_bytes(text.substr(before + 1))};
}

struct FoundDevice {
  std::optional<std::size_t> index{};
  std::optional<Bytes> size{};
};

/// What a spelling means: "ID@SIZE", a known spelling, or a known spelling with the size behind it.
[[nodiscard]] constexpr FoundDevice find_sized(std::string_view text) {
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    const std::optional<Bytes> size = parse_bytes(text.substr(at + 1));
    return size ? FoundDevice{find_spelling(text.substr(0, at)), size} : FoundDevice{};
  }
  const SizedSpelling sized = split_trailing_size(text);
  if (const std::optional<std::size_t> index = find_spelling(text)) {
    // "arc_a770_16gb" is a device of two sizes: its name says which. Where there is one size, nothing is to be chosen.
    const Device& whole = built_in_devices[*index];
    const bool says_which = whole.memory_variant_count > 1 && sized.size && find_memory(whole, *sized.size);
    return {index, says_which ? sized.size : std::nullopt};
  }
  return sized.size ? FoundDevice{find_spelling(sized.device), sized.size} : FoundDevice{};
}

/// Not constexpr: a wrong id in a constant does not compile, and the error shows this call.
[[noreturn]] inline void throw_unknown_device(std::string_view id) {
  std::vector<Spelling> known;
  known.reserve(built_in_device_aliases.size());
  for (const DeviceAlias& alias : built_in_device_aliases) {
    known.push_back({alias.spelling, built_in_devices[alias.index].id.view()});
  }
  const NormalisedSpelling spelling = normalised(split_trailing_size(id.substr(0, id.rfind('@'))).device);
  throw UnknownDevice(std::string(id), nearest_names(spelling.view(), known));
}

} // namespace detail

/// The device of that id, name or alias, or nullptr. Knows no sizes: "rtx_4090", not "rtx_4090@24GiB".
[[nodiscard]] constexpr const Device* find_device(std::string_view id) noexcept {
  const std::optional<std::size_t> index = detail::find_spelling(id);
  return index ? &built_in_devices[*index] : nullptr;
}

/// The device of that id, name or alias; "apple_m3_max_40c@64GiB" or "Apple M3 Max 40-core 64GB" chooses a size.
/// An unknown one does not compile in a constant; otherwise it throws UnknownDevice, which holds the nearest ids.
/// Throws InvalidSpec, listing the sizes, if the device is not sold with that one.
[[nodiscard]] constexpr Device device(std::string_view id) {
  const detail::FoundDevice found = detail::find_sized(id);
  if (!found.index) {
    detail::throw_unknown_device(id);
  }
  const Device& known = built_in_devices[*found.index];
  return found.size ? with_memory(known, *found.size) : known;
}

/// The device with that much memory: `device("apple_m3_max_40c", 64_GiB)`.
[[nodiscard]] constexpr Device device(std::string_view id, Bytes capacity) {
  const std::optional<std::size_t> index = detail::find_spelling(id);
  if (!index) {
    detail::throw_unknown_device(id);
  }
  return with_memory(built_in_devices[*index], capacity);
}

} // namespace tokenroof::catalogue
