/// @file
/// The metadata of a GGUF file by key, checked: what is of another type or out of range is an error that names the key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/gguf_file.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// Keys of one architecture. Refers to the file, which must outlive it.
class GgufMetadata {
public:
  /// Throws ParseError where the file does not say which architecture it is of.
  explicit GgufMetadata(const GgufFile& file);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path; }
  [[nodiscard]] const std::string& architecture() const noexcept { return architecture_; }
  /// The whole key of an architecture's fact: "llama.attention.head_count".
  [[nodiscard]] std::string key(std::string_view fact) const { return architecture_ + "." + std::string(fact); }

  /// A whole number in [0, 2^40], of that layer where the file has one for each; nothing where the key is absent.
  /// Throws ParseError, InvalidSpec.
  [[nodiscard]] std::optional<Count> find_count(std::string_view fact, Count layer = 0) const;
  /// A positive one. Throws ParseError where the key is absent.
  [[nodiscard]] Count count(std::string_view fact, Count layer = 0) const;
  /// A list of flags, one a layer; nothing where the key is absent or no list. Throws InvalidSpec where the list is shorter.
  [[nodiscard]] std::optional<std::vector<bool>> flags(std::string_view fact, Count layers) const;
  /// A flag, or nothing. Throws ParseError.
  [[nodiscard]] std::optional<bool> flag(std::string_view fact) const;
  /// A text by its whole key, empty where it is absent or no text.
  [[nodiscard]] std::string text(std::string_view whole_key) const;
  /// Elements of a list by its whole key, 0 where it is absent or no list.
  [[nodiscard]] std::uint64_t list_length(std::string_view whole_key) const;
  /// A whole number by its whole key, or nothing.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view whole_key) const;

private:
  [[nodiscard]] const GgufValue* find(std::string_view whole_key) const;

  const GgufFile& file_;
  std::string architecture_{};
};

} // namespace tokenroof::readers
