#include "readers/gguf_file.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "readers/byte_reader.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

constexpr std::uint64_t longest_key = 65535; // the format's own limit
constexpr std::uint64_t longest_name = 255;  // ggml's is 64, forks have doubled it
constexpr std::uint64_t longest_text = 1024; // names are shorter; of chat templates nothing is needed
constexpr std::uint64_t longest_list = 8192; // one number a layer
constexpr std::uint32_t most_dimensions = 4;
constexpr int deepest_array = 4;
constexpr std::uint64_t default_alignment = 32;
constexpr std::int64_t most_alignment = std::int64_t{1} << 30;
constexpr std::int64_t most_parts = 4096;

enum class ValueType : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64,
};

constexpr std::uint32_t value_types = 13;

/// Bytes of a value of fixed width, or the least that another one takes.
std::uint64_t least_bytes(ValueType type, std::uint64_t length_bytes) {
  constexpr std::array<std::uint64_t, value_types> widths = {1, 1, 2, 2, 4, 4, 4, 1, 0, 4, 8, 8, 8};
  const std::uint64_t width = widths[static_cast<std::size_t>(type)];
  return type == ValueType::string || type == ValueType::array ? width + length_bytes : width;
}

bool has_fixed_width(ValueType type) { return type != ValueType::string && type != ValueType::array; }

bool is_whole(ValueType type) {
  return has_fixed_width(type) && type != ValueType::float32 && type != ValueType::float64;
}

std::uint64_t aligned(std::uint64_t position, std::uint64_t alignment) {
  return (position + alignment - 1) / alignment * alignment;
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 80)) {
    const bool printable = c >= ' ' && c <= '~';
    result += printable ? c : '?';
  }
  return result + "'";
}

/// One file's header from start to end.
class HeaderReader {
public:
  HeaderReader(ByteSource& source, std::string_view name) : in_(source, name) {}

  GgufFile read() {
    magic();
    version();
    const std::uint64_t tensors = length("number of tensors");
    const std::uint64_t entries = length("number of metadata entries");
    metadata(entries);
    tensor_table(tensors);
    data();
    file_.path = in_.name();
    return std::move(file_);
  }

private:
  void magic() {
    const std::string magic = in_.text(4, "magic number");
    if (magic != "GGUF") {
      in_.fail_at(0, "begins with " + in_quotes(magic) + ", not 'GGUF'");
    }
  }

  /// The version's own bytes tell the order of all numbers: none has reached 65536.
  void version() {
    const std::uint64_t at = in_.position();
    auto version = in_.number<std::uint32_t>("version");
    constexpr std::uint32_t low_half = 0xFFFF;
    if ((version & low_half) == 0) {
      version = ((version & 0xFF000000U) >> 24U) | ((version & 0xFF0000U) >> 8U);
      in_.set_order(std::endian::big);
    }
    if (version < 1 || version > 3) {
      in_.fail_at(at, "GGUF version " + std::to_string(version) + "; versions 1 to 3 can be read");
    }
    length_bytes_ = version == 1 ? 4 : 8;
  }

  /// Version 1 has lengths of 32 bits.
  std::uint64_t length(std::string_view what) {
    return length_bytes_ == 4 ? in_.number<std::uint32_t>(what) : in_.number<std::uint64_t>(what);
  }

  std::string text(std::uint64_t most, std::string_view what) {
    const std::uint64_t at = in_.position();
    const std::uint64_t bytes = length(what);
    if (bytes > most) {
      in_.fail_at(at, std::string(what) + " of " + std::to_string(bytes) + " bytes; " + std::to_string(most) +
                          " at most are believed");
    }
    return in_.text(bytes, what);
  }

  /// Refuses to go over more items than the rest of the file can hold.
  void check_count(std::uint64_t count, std::uint64_t least_each, std::string_view what) const {
    if (count > in_.remaining() / least_each) {
      in_.fail(std::to_string(count) + " " + std::string(what) + " cannot be in the " +
               std::to_string(in_.remaining()) + " bytes left: truncated, or not what it claims to be");
    }
  }

  void metadata(std::uint64_t entries) {
    check_count(entries, length_bytes_ + 4 + 1, "metadata entries");
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::uint64_t at = in_.position();
      std::string key = text(longest_key, "metadata key");
      const std::string shown = in_quotes(key);
      if (!file_.metadata.emplace(std::move(key), value(value_type())).second) {
        in_.fail_at(at, "the key " + shown + " is there twice");
      }
    }
  }

  ValueType value_type() {
    const std::uint64_t at = in_.position();
    const auto type = in_.number<std::uint32_t>("type of a value");
    if (type >= value_types) {
      in_.fail_at(at, "type " + std::to_string(type) + " of a metadata value is not known");
    }
    return static_cast<ValueType>(type);
  }

  GgufValue value(ValueType type) {
    switch (type) {
    case ValueType::float32:
      return static_cast<double>(in_.number<float>("number"));
    case ValueType::float64:
      return in_.number<double>("number");
    case ValueType::boolean:
      return in_.number<std::uint8_t>("flag") != 0;
    case ValueType::string:
      return text_value();
    case ValueType::array:
      return array(1);
    default:
      return whole_number(type);
    }
  }

  std::int64_t whole_number(ValueType type) {
    switch (type) {
    case ValueType::uint8:
    case ValueType::boolean:
      return in_.number<std::uint8_t>("number");
    case ValueType::int8:
      return in_.number<std::int8_t>("number");
    case ValueType::uint16:
      return in_.number<std::uint16_t>("number");
    case ValueType::int16:
      return in_.number<std::int16_t>("number");
    case ValueType::uint32:
      return in_.number<std::uint32_t>("number");
    case ValueType::int32:
      return in_.number<std::int32_t>("number");
    case ValueType::int64:
      return in_.number<std::int64_t>("number");
    default:
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      return static_cast<std::int64_t>(std::min(in_.number<std::uint64_t>("number"), most));
    }
  }

  std::string text_value() {
    const std::uint64_t bytes = length("length of a text");
    if (bytes <= longest_text) {
      return in_.text(bytes, "text");
    }
    in_.skip(bytes, "text");
    return {};
  }

  GgufArray array(int depth) {
    if (depth > deepest_array) {
      in_.fail("arrays nested deeper than " + std::to_string(deepest_array) + " levels");
    }
    const ValueType type = value_type();
    GgufArray array{.count = length("length of an array"), .flags = type == ValueType::boolean};
    check_count(array.count, least_bytes(type, length_bytes_), "elements of an array");
    if (is_whole(type) && array.count <= longest_list) {
      array.integers.reserve(static_cast<std::size_t>(array.count));
      for (std::uint64_t i = 0; i < array.count; ++i) {
        array.integers.push_back(whole_number(type));
      }
    } else if (has_fixed_width(type)) {
      in_.skip(array.count * least_bytes(type, length_bytes_), "array");
    } else {
      skip_elements(type, array.count, depth);
    }
    return array;
  }

  void skip_elements(ValueType type, std::uint64_t count, int depth) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (type == ValueType::string) {
        in_.skip(length("length of a text"), "text");
      } else {
        (void)array(depth + 1);
      }
    }
  }

  std::uint64_t alignment() const {
    const auto found = file_.metadata.find("general.alignment");
    if (found == file_.metadata.end()) {
      return default_alignment;
    }
    const auto* stated = std::get_if<std::int64_t>(&found->second);
    if (stated == nullptr || *stated <= 0 || *stated > most_alignment ||
        !std::has_single_bit(static_cast<std::uint64_t>(*stated))) {
      throw ParseError(in_.name(), "general.alignment", "is no power of two up to " + std::to_string(most_alignment));
    }
    return static_cast<std::uint64_t>(*stated);
  }

  void tensor_table(std::uint64_t tensors) {
    check_count(tensors, length_bytes_ + 4 + 4 + 8, "tensors");
    file_.tensors.reserve(static_cast<std::size_t>(tensors));
    const std::uint64_t alignment = this->alignment();
    std::unordered_set<std::string> names;
    for (std::uint64_t i = 0; i < tensors; ++i) {
      const std::uint64_t at = in_.position();
      file_.tensors.push_back(tensor(alignment));
      if (!names.insert(file_.tensors.back().name).second) {
        in_.fail_at(at, "the tensor " + in_quotes(file_.tensors.back().name) + " is there twice");
      }
    }
    data_start_ = aligned(in_.position(), alignment);
  }

  GgufTensor tensor(std::uint64_t alignment) {
    GgufTensor tensor{.name = text(longest_name, "name of a tensor")};
    const std::uint64_t at = in_.position();
    const auto dimensions = in_.number<std::uint32_t>("number of dimensions");
    if (dimensions > most_dimensions) {
      in_.fail_at(at,
                  in_quotes(tensor.name) + " has " + std::to_string(dimensions) + " dimensions; at most 4 are known");
    }
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      tensor.shape[i] = dimension(tensor);
    }
    tensor.format = format(tensor);
    measure(tensor, at);
    place(tensor, alignment);
    return tensor;
  }

  Count dimension(const GgufTensor& tensor) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40U;
    const std::uint64_t at = in_.position();
    const std::uint64_t size = length("dimension of a tensor");
    if (size == 0 || size > most) {
      in_.fail_at(at, in_quotes(tensor.name) + " has a dimension of " + std::to_string(size));
    }
    return static_cast<Count>(size);
  }

  Format format(const GgufTensor& tensor) {
    const std::uint64_t at = in_.position();
    const auto id = in_.number<std::uint32_t>("type of a tensor");
    const GgmlType* type = find_ggml_type(id);
    if (type == nullptr) {
      in_.fail_at(at, in_quotes(tensor.name) + " has the ggml type " + std::to_string(id) + ", which is not known");
    }
    if (!type->format) {
      in_.fail_at(at, in_quotes(tensor.name) + " has the ggml type " + type->name + ", which files no longer have");
    }
    return *type->format;
  }

  /// Sets the size. Bounds keep every product far from what 63 bits or the exact doubles hold.
  void measure(GgufTensor& tensor, std::uint64_t at) const {
    constexpr Count most = Count{1} << 48;
    Count elements = 1;
    for (const Count size : tensor.shape) {
      if (size > most / elements) {
        in_.fail_at(at, in_quotes(tensor.name) + " has more than 2^48 elements");
      }
      elements *= size;
    }
    const Count row = tensor.shape[0];
    if (row % static_cast<Count>(tensor.format.block_elements) != 0) {
      in_.fail_at(at, in_quotes(tensor.name) + " has rows of " + std::to_string(row) + " elements, no multiple of " +
                          std::string(tensor.format.name.view()) + "'s blocks");
    }
    const Count rows = elements / row;
    tensor.elements = elements;
    tensor.bytes =
        static_cast<std::uint64_t>(storage(tensor.format, static_cast<double>(rows), static_cast<double>(row)).value());
  }

  /// Data follow each other without gaps, as ggml demands.
  void place(const GgufTensor& tensor, std::uint64_t alignment) {
    const std::uint64_t at = in_.position();
    const auto offset = in_.number<std::uint64_t>("offset of a tensor");
    const std::uint64_t expected = aligned(data_end_, alignment);
    if (offset != expected) {
      in_.fail_at(at, in_quotes(tensor.name) + " has the offset " + std::to_string(offset) +
                          " where the tensors before it end at " + std::to_string(expected));
    }
    data_end_ = offset + tensor.bytes;
    if (data_end_ > most_data) {
      in_.fail_at(at, "the tensors take more than 2^52 bytes");
    }
  }

  void data() const {
    if (file_.tensors.empty()) {
      return;
    }
    const std::uint64_t size = in_.position() + in_.remaining();
    if (data_start_ + data_end_ > size) {
      in_.fail_at(size, "the file ends here, the tensors' data at byte " + std::to_string(data_start_ + data_end_) +
                            ": truncated");
    }
  }

  static constexpr std::uint64_t most_data = std::uint64_t{1} << 52U;

  ByteReader in_;
  GgufFile file_{};
  std::uint64_t length_bytes_ = 8;
  std::uint64_t data_start_ = 0;
  std::uint64_t data_end_ = 0;
};

GgufFile read_part(const std::filesystem::path& path) {
  const std::unique_ptr<ByteSource> source = bytes_of_file(path);
  return HeaderReader(*source, path.string()).read();
}

/// A whole number of the metadata, or nothing.
std::optional<std::int64_t> stated_number(const GgufFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) {
    return std::nullopt;
  }
  const auto* number = std::get_if<std::int64_t>(&found->second);
  if (number == nullptr) {
    throw ParseError(file.path, std::string(key), "is no whole number");
  }
  return *number;
}

std::int64_t part_count(const GgufFile& file) {
  const std::int64_t count = stated_number(file, "split.count").value_or(1);
  if (count < 0 || count > most_parts) {
    throw ParseError(file.path, "split.count", std::to_string(count) + " parts; at most " + std::to_string(most_parts));
  }
  return count;
}

std::string five_digits(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') + digits;
}

/// What all parts of that split file begin with. Throws ParseError where the name does not follow the convention.
std::string part_prefix(const GgufFile& file, std::int64_t count) {
  const std::string part = five_digits(stated_number(file, "split.no").value_or(0) + 1);
  const std::string ending = "-" + part + "-of-" + five_digits(count) + ".gguf";
  if (!file.path.ends_with(ending)) {
    throw ParseError(file.path, "split.count",
                     "a part of " + std::to_string(count) + " files, whose name must end in " + ending +
                         " for its siblings to be found");
  }
  return file.path.substr(0, file.path.size() - ending.size());
}

void append(GgufFile& whole, GgufFile part) {
  std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(whole.tensors));
}

void check_whole(const GgufFile& file) {
  std::unordered_set<std::string_view> names;
  for (const GgufTensor& tensor : file.tensors) {
    if (!names.insert(tensor.name).second) {
      throw ParseError(file.path, tensor.name, "the tensor is in two parts");
    }
  }
  const auto stated = stated_number(file, "split.tensors.count");
  if (stated && *stated != static_cast<std::int64_t>(file.tensors.size())) {
    throw ParseError(file.path, "split.tensors.count",
                     std::to_string(*stated) + " tensors, but the parts hold " + std::to_string(file.tensors.size()));
  }
}

} // namespace

GgufFile read_gguf_file(const std::filesystem::path& path) {
  GgufFile given = read_part(path);
  const std::int64_t count = part_count(given);
  if (count <= 1) {
    return given;
  }
  const std::string prefix = part_prefix(given, count);
  GgufFile whole;
  for (std::int64_t part = 1; part <= count; ++part) {
    const std::string name = prefix + "-" + five_digits(part) + "-of-" + five_digits(count) + ".gguf";
    GgufFile read = read_part(name);
    if (part_count(read) != count || stated_number(read, "split.no").value_or(0) + 1 != part) {
      throw ParseError(name, "split.no", "is not part " + std::to_string(part) + " of " + std::to_string(count));
    }
    if (part == 1) {
      whole = std::move(read);
    } else {
      append(whole, std::move(read));
    }
  }
  check_whole(whole);
  return whole;
}

GgufFile parse_gguf_file(std::span<const std::byte> bytes, std::string_view name) {
  const std::unique_ptr<ByteSource> source = bytes_of_memory(bytes);
  GgufFile file = HeaderReader(*source, name).read();
  if (const std::int64_t count = part_count(file); count > 1) {
    throw ParseError(file.path, "split.count",
                     "one of " + std::to_string(count) + " parts: give the file, not its bytes");
  }
  return file;
}

} // namespace tokenroof::readers
