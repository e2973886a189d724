/// @file
/// The catalogue's files as they are in models/, inside the library.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tokenroof::catalogue {

/// A file of models/: its path from there, such as "devices/a10.json", and its text.
struct EmbeddedFile {
  std::string_view path{};
  std::string_view text{};
};

/// All of them, sorted by path.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files() noexcept;

/// Those whose path begins with `folder`, such as "devices/".
[[nodiscard]] std::span<const EmbeddedFile> embedded_files(std::string_view folder) noexcept;

/// The text of the file of that path, or nothing.
[[nodiscard]] std::optional<std::string_view> embedded_file(std::string_view path) noexcept;

} // namespace tokenroof::catalogue
