/// @file
/// Makes GGUF files: of any version and byte order, whole or damaged on purpose.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokenroof::test {

/// Numbers of the types of tensors that tests write most.
enum class Ggml : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq4_nl = 20,
  bf16 = 30,
  mxfp4 = 39,
  iq4_ks = 144,
};

/// A file in the making: metadata and tensors in the order they are added.
class GgufWriter {
public:
  explicit GgufWriter(std::uint32_t version = 3, std::endian order = std::endian::little, std::uint64_t alignment = 32)
      : version_(version), order_(order), alignment_(alignment) {}

  GgufWriter& text(std::string_view key, std::string_view value) {
    begin(key, 8);
    put_text(metadata_, value);
    return *this;
  }
  GgufWriter& number(std::string_view key, std::uint32_t value) { return entry(key, 4, value); }
  GgufWriter& number64(std::string_view key, std::uint64_t value) { return entry(key, 10, value); }
  GgufWriter& number16(std::string_view key, std::uint16_t value) { return entry(key, 2, value); }
  GgufWriter& signed_number(std::string_view key, std::int32_t value) { return entry(key, 5, value); }
  GgufWriter& real(std::string_view key, float value) { return entry(key, 6, value); }
  GgufWriter& flag(std::string_view key, bool value) { return entry(key, 7, static_cast<std::uint8_t>(value ? 1 : 0)); }
  GgufWriter& numbers(std::string_view key, const std::vector<std::int32_t>& values) {
    begin_array(key, 5, values.size());
    for (const std::int32_t value : values) {
      put(metadata_, value);
    }
    return *this;
  }
  GgufWriter& flags(std::string_view key, const std::vector<bool>& values) {
    begin_array(key, 7, values.size());
    for (const bool value : values) {
      put(metadata_, static_cast<std::uint8_t>(value ? 1 : 0));
    }
    return *this;
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& values) {
    begin_array(key, 8, values.size());
    for (const std::string& value : values) {
      put_text(metadata_, value);
    }
    return *this;
  }

  /// A tensor of that many bytes; rows first, as ggml counts dimensions.
  GgufWriter& tensor(std::string name, std::vector<std::uint64_t> shape, std::uint32_t type, std::uint64_t bytes) {
    tensors_.push_back({std::move(name), std::move(shape), type, bytes});
    return *this;
  }

  /// Bytes that all tensors take, padding aside.
  [[nodiscard]] std::uint64_t tensor_bytes() const {
    std::uint64_t bytes = 0;
    for (const Entry& tensor : tensors_) {
      bytes += tensor.bytes;
    }
    return bytes;
  }
  [[nodiscard]] std::size_t tensor_count() const { return tensors_.size(); }
  [[nodiscard]] std::uint64_t alignment() const { return alignment_; }

  /// Everything before the tensors' data, padded to where these begin.
  [[nodiscard]] std::string header() const {
    std::string out = "GGUF";
    put(out, version_);
    put_length(out, tensors_.size());
    put_length(out, entries_);
    out += metadata_;
    std::uint64_t offset = 0;
    for (const Entry& tensor : tensors_) {
      put_text(out, tensor.name);
      put(out, static_cast<std::uint32_t>(tensor.shape.size()));
      for (const std::uint64_t dimension : tensor.shape) {
        put_length(out, dimension);
      }
      put(out, tensor.type);
      put(out, offset);
      offset = padded(offset + tensor.bytes);
    }
    out.resize(static_cast<std::size_t>(padded(out.size())));
    return out;
  }

  /// Where the data end, counted from where they begin.
  [[nodiscard]] std::uint64_t data_end() const {
    std::uint64_t end = 0;
    for (const Entry& tensor : tensors_) {
      end = padded(end) + tensor.bytes;
    }
    return end;
  }

  /// The whole file.
  [[nodiscard]] std::string bytes() const {
    std::string out = header();
    out.resize(out.size() + static_cast<std::size_t>(data_end()));
    return out;
  }

  /// Writes the file; its data are a hole that takes no space on disk.
  void write(const std::filesystem::path& path) const {
    const std::string start = header();
    std::ofstream(path, std::ios::binary).write(start.data(), static_cast<std::streamsize>(start.size()));
    std::filesystem::resize_file(path, start.size() + data_end());
  }

private:
  struct Entry {
    std::string name{};
    std::vector<std::uint64_t> shape{};
    std::uint32_t type = 0;
    std::uint64_t bytes = 0;
  };

  template <class T>
  void put(std::string& out, T value) const {
    std::string raw(sizeof(T), '\0');
    std::memcpy(raw.data(), &value, sizeof(T));
    if (order_ != std::endian::native) {
      std::reverse(raw.begin(), raw.end());
    }
    out += raw;
  }

  /// Version 1 has lengths of 32 bits.
  void put_length(std::string& out, std::uint64_t length) const {
    if (version_ == 1) {
      put(out, static_cast<std::uint32_t>(length));
    } else {
      put(out, length);
    }
  }

  void put_text(std::string& out, std::string_view text) const {
    put_length(out, text.size());
    out += text;
  }

  void begin(std::string_view key, std::uint32_t type) {
    ++entries_;
    put_text(metadata_, key);
    put(metadata_, type);
  }

  void begin_array(std::string_view key, std::uint32_t type, std::size_t count) {
    begin(key, 9);
    put(metadata_, type);
    put_length(metadata_, count);
  }

  template <class T>
  GgufWriter& entry(std::string_view key, std::uint32_t type, T value) {
    begin(key, type);
    put(metadata_, value);
    return *this;
  }

  [[nodiscard]] std::uint64_t padded(std::uint64_t position) const {
    return (position + alignment_ - 1) / alignment_ * alignment_;
  }

  std::uint32_t version_;
  std::endian order_;
  std::uint64_t alignment_;
  std::string metadata_{};
  std::uint64_t entries_ = 0;
  std::vector<Entry> tensors_{};
};

/// The bytes of a text, as readers take them.
[[nodiscard]] inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

} // namespace tokenroof::test
