#include "program.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tokenroof::test {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Files rather than pipes: both streams may grow without anyone reading them in time.
File temporary() {
  File file(std::tmpfile());
  if (!file) {
    throw std::runtime_error("no temporary file");
  }
  return file;
}

std::string contents(const File& file) {
  std::rewind(file.get());
  std::string text;
  for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get())) {
    text += static_cast<char>(c);
  }
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

} // namespace

Outcome run(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {TOKENROOF_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const File out = temporary();
  const File err = temporary();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err.get()), STDERR_FILENO);
  pid_t child = 0;
  const int started = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) {
    throw std::runtime_error("cannot start " TOKENROOF_PROGRAM);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .out = contents(out), .err = contents(err)};
}

Outcome run_predict(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"predict", "--model", "llama-3.1-8b", "--device", "h100_sxm"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

std::string output(const std::vector<std::string>& arguments) {
  const Outcome result = run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all = split(text, '\n');
  if (all.back().empty()) {
    all.pop_back();
  }
  return all;
}

std::vector<std::string> fields(const std::string& line) { return split(line, ','); }

} // namespace tokenroof::test
