#include "readers/byte_reader.hpp"

#include <system_error>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

constexpr std::uint64_t window_bytes = 65536;

class MemoryBytes final : public ByteSource {
public:
  explicit MemoryBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] bool read(std::uint64_t position, std::span<std::byte> into) override {
    const auto from = bytes_.subspan(static_cast<std::size_t>(position), into.size());
    std::copy(from.begin(), from.end(), into.begin());
    return true;
  }

private:
  std::span<const std::byte> bytes_;
};

class FileBytes final : public ByteSource {
public:
  explicit FileBytes(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    std::error_code error;
    const bool regular = std::filesystem::is_regular_file(path, error);
    size_ = regular ? std::filesystem::file_size(path, error) : 0;
    if (!file_ || !regular || error) {
      throw ParseError(path.string(), "", "cannot be opened as a file");
    }
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] bool read(std::uint64_t position, std::span<std::byte> into) override {
    file_.seekg(static_cast<std::streamoff>(position));
    file_.read(reinterpret_cast<char*>(into.data()), // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
               static_cast<std::streamsize>(into.size()));
    return static_cast<bool>(file_);
  }

private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

} // namespace

std::unique_ptr<ByteSource> bytes_of_memory(std::span<const std::byte> bytes) {
  return std::make_unique<MemoryBytes>(bytes);
}

std::unique_ptr<ByteSource> bytes_of_file(const std::filesystem::path& path) {
  return std::make_unique<FileBytes>(path);
}

ByteReader::ByteReader(ByteSource& source, std::string_view name)
    : source_(source), name_(name), size_(source.size()) {}

void ByteReader::fail_at(std::uint64_t position, std::string_view reason) const {
  throw ParseError(name_, "byte " + std::to_string(position), reason);
}

void ByteReader::require(std::uint64_t length, std::string_view what) const {
  if (length > remaining()) {
    fail(std::string(what) + " of " + std::to_string(length) + " bytes where " + std::to_string(remaining()) +
         " are left: truncated, or not what it claims to be");
  }
}

void ByteReader::refill() {
  window_start_ = position_;
  window_.resize(static_cast<std::size_t>(std::min(window_bytes, remaining())));
  if (!source_.read(position_, window_)) {
    fail("cannot be read");
  }
}

void ByteReader::take(std::span<std::byte> into, std::string_view what) {
  require(into.size(), what);
  while (!into.empty()) {
    if (position_ < window_start_ || position_ >= window_start_ + window_.size()) {
      refill();
    }
    const auto at = static_cast<std::size_t>(position_ - window_start_);
    const std::size_t count = std::min(into.size(), window_.size() - at);
    std::memcpy(into.data(), window_.data() + at, count);
    into = into.subspan(count);
    position_ += count;
  }
}

std::string ByteReader::text(std::uint64_t length, std::string_view what) {
  require(length, what);
  std::string result(static_cast<std::size_t>(length), '\0');
  take(std::as_writable_bytes(std::span(result)), what);
  return result;
}

void ByteReader::skip(std::uint64_t length, std::string_view what) {
  require(length, what);
  position_ += length;
}

} // namespace tokenroof::readers
