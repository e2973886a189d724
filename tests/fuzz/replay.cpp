// Runs a fuzz target over files, and over the files of directories: the regression test, where there is no libFuzzer.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay_file(const std::filesystem::path& path) {
  std::printf("%s\n", path.filename().c_str());
  std::fflush(stdout); // so that the last name printed is the one that crashed
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int replay(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    replay_file(path);
    return 1;
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) {
      replay_file(entry.path());
      ++files;
    }
  }
  return files;
}

} // namespace

int main(int argument_count, char** arguments) try {
  int files = 0;
  for (int i = 1; i < argument_count; ++i) {
    files += replay(arguments[i]);
  }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "not refused by an error of the library: %s\n", error.what());
  return 1;
}
