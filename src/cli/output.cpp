#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

#ifdef _WIN32
#include <io.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

#include "readers/printable.hpp"

namespace tokenroof::cli {

namespace {

bool is_terminal(std::FILE* file) {
#ifdef _WIN32
  return _isatty(_fileno(file)) != 0;
#else
  return isatty(fileno(file)) != 0;
#endif
}

[[noreturn]] void throw_write_error() {
  throw std::system_error(errno, std::generic_category(), "cannot write the result");
}

} // namespace

bool stdout_is_terminal() { return is_terminal(stdout); }
bool stderr_is_terminal() { return is_terminal(stderr); }

std::size_t stdout_width() {
  constexpr std::size_t usual = 80;
#ifndef _WIN32
  winsize size{};
  if (ioctl(fileno(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
#endif
  return usual;
}

bool stdout_is_styled() {
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool wanted = no_colour == nullptr || *no_colour == '\0';
  return wanted && terminal != nullptr && std::string(terminal) != "dumb" && stdout_is_terminal();
}

void write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw_write_error();
  }
}

void flush() {
  if (std::fflush(stdout) != 0) {
    throw_write_error();
  }
}

void complain(std::string_view message) {
  // Messages quote files and arguments, which may be hostile.
  const std::string line = "tokenroof: " + readers::printable(message, "\n") + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace tokenroof::cli
