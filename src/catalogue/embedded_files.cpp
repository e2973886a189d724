#include "catalogue/embedded_files.hpp"

#include <algorithm>

namespace tokenroof::catalogue {

std::span<const EmbeddedFile> embedded_files(std::string_view folder) noexcept {
  const auto range = std::ranges::equal_range(
      embedded_files(), folder, {}, [&](const EmbeddedFile& file) { return file.path.substr(0, folder.size()); });
  return {range.begin(), range.end()};
}

std::optional<std::string_view> embedded_file(std::string_view path) noexcept {
  const auto file = std::ranges::lower_bound(embedded_files(), path, {}, &EmbeddedFile::path);
  return file != embedded_files().end() && file->path == path ? std::optional(file->text) : std::nullopt;
}

} // namespace tokenroof::catalogue
