#include <string>

#include <CLI/CLI.hpp>

#include "tokenroof/version.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Predicts TTFT, TPOT, throughput and memory of language models on any device.", "tokenroof"};
  app.set_version_flag("--version", std::string(tokenroof::linked_version()));
  app.require_subcommand(0, 1);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
