/// @file
/// Makes safetensors files, whole or damaged on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace tokenroof::test {

/// A file around that header, with so many bytes of data.
[[nodiscard]] inline std::string safetensors_file(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  for (std::size_t i = 0; i < sizeof(length); ++i) {
    file[i] = static_cast<char>((length >> (8 * i)) & 0xFFU);
  }
  return file + header + std::string(data_bytes, '\0');
}

/// A file in the making: tensors in the order they are added, one after the other.
class SafetensorsWriter {
public:
  void add(const std::string& name, const std::string& type, const std::vector<std::size_t>& shape) {
    const std::size_t bits = bits_of(type);
    const std::size_t elements = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
    const std::size_t bytes = elements * bits / 8;
    header_[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {bytes_, bytes_ + bytes}}};
    bytes_ += bytes;
  }

  [[nodiscard]] std::size_t tensor_bytes() const { return bytes_; }
  [[nodiscard]] std::string file() const { return safetensors_file(header_.dump(), bytes_); }

private:
  static std::size_t bits_of(std::string_view type) {
    if (type == "BOOL" || type.starts_with("F8")) {
      return 8;
    }
    return std::stoul(std::string(type.substr(type.find_first_of("123468"))));
  }

  nlohmann::json header_ = nlohmann::json::object();
  std::size_t bytes_ = 0;
};

inline void write_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

[[nodiscard]] inline std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace tokenroof::test
