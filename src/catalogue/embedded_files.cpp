#include "catalogue/embedded_files.hpp"

#include <algorithm>

namespace tokenroof::catalogue {

std::span<const EmbeddedFile> embedded_files(std::string_view folder) noexcept {
  const std::span<const EmbeddedFile> all = embedded_files();
  const auto lies_in_folder = [&](const EmbeddedFile& file) { return file.path.starts_with(folder); };
  const auto begin = std::find_if(all.begin(), all.end(), lies_in_folder);
  return {begin, std::find_if_not(begin, all.end(), lies_in_folder)};
}

std::optional<std::string_view> embedded_file(std::string_view path) noexcept {
  const auto file = std::ranges::lower_bound(embedded_files(), path, {}, &EmbeddedFile::path);
  return file != embedded_files().end() && file->path == path ? std::optional(file->text) : std::nullopt;
}

} // namespace tokenroof::catalogue
