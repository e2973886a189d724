/// @file
/// Binary files that nobody vouches for, read piece by piece: no length is believed before the bytes are there.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tokenroof::readers {

/// Bytes, in memory or in a file.
class ByteSource {
public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ByteSource(ByteSource&&) = delete;
  ByteSource& operator=(ByteSource&&) = delete;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `into` from `position`, which must lie within the source; false where the bytes cannot be had.
  [[nodiscard]] virtual bool read(std::uint64_t position, std::span<std::byte> into) = 0;
};

/// The bytes of that memory, which must outlive it.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_of_memory(std::span<const std::byte> bytes);

/// The bytes of a regular file, read where they are asked for. Throws ParseError if it cannot be opened.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_of_file(const std::filesystem::path& path);

/// Goes through a source from its start. Whatever is not there is a ParseError with the position of what was read.
class ByteReader {
public:
  /// The source must outlive it; `name` stands for it in messages.
  ByteReader(ByteSource& source, std::string_view name);

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t remaining() const noexcept { return size_ - position_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// The order in which numbers from here on are stored.
  void set_order(std::endian order) noexcept { order_ = order; }

  /// A number of `T`'s width. Throws ParseError.
  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] T number(std::string_view what) {
    std::array<std::byte, sizeof(T)> bytes{};
    take(bytes, what);
    if (order_ != std::endian::native) {
      std::reverse(bytes.begin(), bytes.end());
    }
    return std::bit_cast<T>(bytes);
  }

  /// The next `length` bytes as text. Throws ParseError.
  [[nodiscard]] std::string text(std::uint64_t length, std::string_view what);

  /// Passes over bytes. Throws ParseError where there are fewer.
  void skip(std::uint64_t length, std::string_view what);

  /// Throws ParseError at the current position, or at another one.
  [[noreturn]] void fail(std::string_view reason) const { fail_at(position_, reason); }
  [[noreturn]] void fail_at(std::uint64_t position, std::string_view reason) const;

private:
  void require(std::uint64_t length, std::string_view what) const;
  void take(std::span<std::byte> into, std::string_view what);
  void refill();

  ByteSource& source_;
  std::string name_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> window_;
  std::uint64_t window_start_ = 0;
  std::endian order_ = std::endian::little;
};

} // namespace tokenroof::readers
