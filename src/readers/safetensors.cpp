#include "readers/safetensors.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "readers/byte_reader.hpp"
#include "readers/json_file.hpp"
#include "readers/json_object.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_header_bytes = 100'000'000; // the format's own limit
constexpr std::size_t most_dimensions = 16;
constexpr std::uint64_t most_elements = std::uint64_t{1} << 52; // so that bytes are exact in a double
constexpr JsonLimits header_limits = {.bytes = most_header_bytes, .depth = 8};

struct Type {
  std::string_view name;
  std::uint64_t bits;
  std::string_view format; ///< of an element; what has no format of its own is kept as integers of its width
};

/// Types of the format and of its forks: github.com/huggingface/safetensors (safetensors/src/tensor.rs, v0.6).
constexpr std::array types = {
    Type{"BOOL", 8, "int8"},   Type{"U8", 8, "int8"},     Type{"I8", 8, "int8"},         Type{"F8_E5M2", 8, "fp8"},
    Type{"F8_E4M3", 8, "fp8"}, Type{"F8_E8M0", 8, "fp8"}, Type{"F8_E4M3FNUZ", 8, "fp8"}, Type{"F8_E5M2FNUZ", 8, "fp8"},
    Type{"I16", 16, "int16"},  Type{"U16", 16, "int16"},  Type{"F16", 16, "fp16"},       Type{"BF16", 16, "bf16"},
    Type{"I32", 32, "int32"},  Type{"U32", 32, "int32"},  Type{"F32", 32, "fp32"},       Type{"F64", 64, "fp64"},
    Type{"I64", 64, "int64"},  Type{"U64", 64, "int64"},  Type{"C64", 64, "int64"},      Type{"F4", 4, ""},
    Type{"F6_E2M3", 6, ""},    Type{"F6_E3M2", 6, ""},
};

const Type* find_type(std::string_view name) {
  const auto* const found = std::find_if(types.begin(), types.end(), [&](const Type& t) { return t.name == name; });
  return found == types.end() ? nullptr : found;
}

Format format_of_type(const Type& type) {
  if (const auto known = find_format(type.format)) {
    return *known;
  }
  return {.name = type.name,
          .block_elements = 8,
          .block_bytes = static_cast<double>(type.bits),
          .arithmetic = Arithmetic::fp4,
          .encoding = Encoding::weight_only,
          .spans_rows = true};
}

/// A list of numbers for a message.
std::string list_text(const json& list) {
  constexpr std::size_t most = 100;
  const std::string text = list.dump(-1, ' ', true);
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

/// A tensor and where its data lie, after the header.
struct Entry {
  SafetensorsTensor tensor{};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Header {
public:
  Header(const json& document, std::string_view path, std::uint64_t data_bytes) : path_(path), data_bytes_(data_bytes) {
    for (const auto& [name, value] : document.items()) {
      if (name != "__metadata__") {
        entries_.push_back(entry(name, value));
      }
    }
    check_places();
  }

  std::vector<SafetensorsTensor> take() {
    std::vector<SafetensorsTensor> tensors;
    tensors.reserve(entries_.size());
    for (Entry& entry : entries_) {
      tensors.push_back(std::move(entry.tensor));
    }
    return tensors;
  }

private:
  [[noreturn]] void fail(const std::string& name, const std::string& reason) const {
    throw ParseError(path_, "tensor " + shortened(name), reason);
  }

  [[nodiscard]] std::uint64_t whole(const std::string& name, const json& value) const {
    if (!value.is_number_unsigned()) {
      fail(name, shortened(value) + " is no whole number");
    }
    return value.get<std::uint64_t>();
  }

  [[nodiscard]] const json& member(const std::string& name, const json& value, const char* key, bool is_list) const {
    const auto found = value.find(key);
    if (found == value.end() || (is_list ? !found->is_array() : !found->is_string())) {
      fail(name, std::string("'") + key + "' is missing, or no " + (is_list ? "list" : "text"));
    }
    return *found;
  }

  [[nodiscard]] std::uint64_t elements(const std::string& name, const json& shape) const {
    if (shape.size() > most_dimensions) {
      fail(name, std::to_string(shape.size()) + " dimensions; " + std::to_string(most_dimensions) + " at most");
    }
    std::uint64_t product = 1;
    for (const json& dimension : shape) {
      const std::uint64_t size = whole(name, dimension);
      if (size != 0 && product > most_elements / size) {
        fail(name, "shape " + list_text(shape) + " has more than 2^52 elements");
      }
      product *= size;
    }
    return product;
  }

  [[nodiscard]] Entry entry(const std::string& name, const json& value) const {
    if (!value.is_object()) {
      fail(name, "is not described by an object");
    }
    const std::string type_name = member(name, value, "dtype", false).get<std::string>();
    const Type* const type = find_type(type_name);
    if (type == nullptr) {
      fail(name, "dtype '" + type_name.substr(0, 32) + "' is not known");
    }
    const json& offsets = member(name, value, "data_offsets", true);
    if (offsets.size() != 2) {
      fail(name, "data_offsets " + list_text(offsets) + " must be two numbers");
    }
    const json& shape = member(name, value, "shape", true);
    const std::uint64_t count = elements(name, shape);
    Entry entry{.begin = whole(name, offsets[0]), .end = whole(name, offsets[1])};
    const std::uint64_t bits = count * type->bits;
    if (entry.end < entry.begin || (bits % 8) != 0 || entry.end - entry.begin != bits / 8) {
      fail(name, "data_offsets " + list_text(offsets) + " do not hold " + type_name + " of shape " + list_text(shape));
    }
    entry.tensor = {.name = name,
                    .type = type_name,
                    .format = format_of_type(*type),
                    .elements = static_cast<Count>(count),
                    .bytes = bits / 8};
    return entry;
  }

  /// One tensor after the other, from the header to the end of the file.
  void check_places() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
    std::uint64_t at = 0;
    for (const Entry& entry : entries_) {
      if (entry.begin != at) {
        fail(entry.tensor.name, std::string(entry.begin < at ? "overlaps the one before" : "leaves a gap before it") +
                                    ": begins at " + std::to_string(entry.begin) + " and not at " + std::to_string(at));
      }
      at = entry.end;
    }
    if (at != data_bytes_) {
      throw ParseError(path_, "",
                       "its tensors take " + std::to_string(at) + " bytes, but " + std::to_string(data_bytes_) +
                           " follow the header" + (at > data_bytes_ ? ": truncated" : ""));
    }
  }

  std::string path_;
  std::uint64_t data_bytes_;
  std::vector<Entry> entries_{};
};

SafetensorsFile read(ByteSource& source, std::string_view name) {
  ByteReader in(source, name);
  const auto length = in.number<std::uint64_t>("length of the header");
  if (length > most_header_bytes || length > in.remaining()) {
    in.fail_at(0, "a header of " + std::to_string(length) + " bytes; " +
                      std::to_string(std::min(most_header_bytes, in.remaining())) + " at most can be there");
  }
  const std::string text = in.text(length, "header");
  const json document = parse_json(text, name, header_limits);
  if (!document.is_object()) {
    in.fail_at(sizeof(length), "the header is not a JSON object");
  }
  return {.path = in.name(), .tensors = Header(document, name, in.remaining()).take(), .file_bytes = source.size()};
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 255 && name.find_first_of("/\\") == std::string::npos && name != "." &&
         name != "..";
}

} // namespace

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  const auto source = bytes_of_file(path);
  return read(*source, path.string());
}

SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, std::string_view name) {
  const auto source = bytes_of_memory(bytes);
  return read(*source, name);
}

SafetensorsIndex read_safetensors_index(const std::filesystem::path& path) {
  return parse_safetensors_index(read_text(path, JsonLimits{}.bytes), path.string());
}

SafetensorsIndex parse_safetensors_index(std::string_view text, std::string_view name) {
  const json document = parse_json(text, name);
  const auto map = document.is_object() ? document.find("weight_map") : document.end();
  if (map == document.end() || !map->is_object()) {
    throw ParseError(std::string(name), "weight_map", "is missing, or not an object");
  }
  SafetensorsIndex index;
  std::set<std::string> files;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string() || !is_file_name(file.get<std::string>())) {
      throw ParseError(std::string(name), "weight_map." + tensor.substr(0, 128),
                       shortened(file) + " is no name of a file in the same folder");
    }
    files.insert(file.get<std::string>());
    index.map.emplace(tensor, file.get<std::string>());
  }
  index.files.assign(files.begin(), files.end());
  const auto metadata = document.find("metadata");
  if (metadata != document.end() && metadata->is_object() && metadata->contains("total_size")) {
    const json& total = metadata->at("total_size");
    const bool whole =
        total.is_number() && total.get<double>() >= 0 && total.get<double>() < static_cast<double>(most_elements);
    if (!whole) {
      throw ParseError(std::string(name), "metadata.total_size", shortened(total) + " is no number of bytes");
    }
    index.total_bytes = static_cast<std::uint64_t>(total.get<double>());
  }
  return index;
}

} // namespace tokenroof::readers
