#include "readers/gguf.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "readers/gguf_file.hpp"
#include "readers/gguf_metadata.hpp"
#include "readers/gguf_network.hpp"
#include "readers/gguf_tensors.hpp"
#include "readers/gguf_types.hpp"
#include "readers/stored_formats.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

constexpr std::size_t longest_name = 96;

bool is_printable(std::string_view text) {
  return !text.empty() && text.size() <= longest_name &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string network_name(const GgufMetadata& metadata) {
  const std::string stated = metadata.text("general.name");
  return is_printable(stated) ? stated : std::filesystem::path(metadata.path()).stem().string();
}

/// Files that are no language model say so in their metadata.
void refuse_others(const GgufFile& file, const GgufMetadata& metadata) {
  const std::string type = metadata.text("general.type");
  if (!type.empty() && type != "model") {
    throw ParseError(file.path, "general.type", "holds no network: " + (is_printable(type) ? type : "unknown"));
  }
  if (metadata.architecture() == "clip") {
    throw ParseError(file.path, "general.architecture", "an encoder of images or sound (clip), no language model");
  }
  if (file.tensors.empty()) {
    throw ParseError(file.path, "", "holds no tensors: a vocabulary at most, no network");
  }
}

double bytes_of(const GgufFile& file) {
  std::uint64_t bytes = 0;
  for (const GgufTensor& tensor : file.tensors) {
    bytes += tensor.bytes;
  }
  return static_cast<double>(bytes);
}

/// The format that holds most of the bytes.
Format commonest_format(const GgufFile& file) {
  std::map<std::string_view, std::pair<std::uint64_t, const Format*>> uses;
  for (const GgufTensor& tensor : file.tensors) {
    auto& [bytes, format] = uses[tensor.format.name.view()];
    bytes += tensor.bytes;
    format = &tensor.format;
  }
  const auto most = std::max_element(uses.begin(), uses.end(),
                                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  return *most->second.second;
}

/// The mixture's name where the file says it, else the commonest format's.
Id scheme_name(const GgufMetadata& metadata, const Format& commonest) {
  constexpr std::int64_t guessed = 1024; // a flag beside the number: the mixture was told from the tensors
  const auto stated = metadata.number("general.file_type");
  const std::string_view name = stated ? gguf_file_type(static_cast<std::uint64_t>(*stated & ~guessed)) : "";
  return name.empty() ? commonest.name : Id(name);
}

/// One line for each kind of tensor that no step reads.
void note_others(const std::vector<GgufOther>& others, std::vector<std::string>& assumptions) {
  std::map<std::string, std::pair<std::uint64_t, std::string>> kinds;
  for (const GgufOther& other : others) {
    auto& [bytes, example] = kinds.try_emplace(other.what, 0, other.tensor->name).first->second;
    bytes += other.tensor->bytes;
  }
  for (const auto& [what, kind] : kinds) {
    assumptions.push_back(what + ": stored, taken as not read by a step (" + std::to_string(kind.first) + " bytes, " +
                          (is_printable(kind.second) ? kind.second : "unprintable name") + ")");
  }
}

NetworkReading examine(const GgufFile& file) {
  const GgufMetadata metadata(file);
  refuse_others(file, metadata);
  const GgufTensorTable table = sort_tensors(file);
  GgufNetwork made = make_gguf_network(metadata, table);
  made.network.name = network_name(metadata);
  if (!metadata.flag("attention.causal").value_or(true)) {
    made.assumptions.push_back(metadata.key("attention.causal") +
                               " = false: read as if each token saw those before it");
  }
  note_others(made.others, made.assumptions);
  StoredMatch match = match_formats(made.network, made.stored, bytes_of(file));
  std::move(match.assumptions.begin(), match.assumptions.end(), std::back_inserter(made.assumptions));
  const Format commonest = commonest_format(file);
  return {.network = std::move(made.network),
          .weights = WeightScheme{.name = scheme_name(metadata, commonest),
                                  .format = commonest,
                                  .vectors = find_format("fp32").value(),
                                  .stored = std::move(match.formats)},
          .assumptions = std::move(made.assumptions)};
}

} // namespace

NetworkReading read_gguf(const std::filesystem::path& path) { return examine(read_gguf_file(path)); }

NetworkReading parse_gguf(std::span<const std::byte> bytes, std::string_view name) {
  return examine(parse_gguf_file(bytes, name));
}

} // namespace tokenroof::readers
