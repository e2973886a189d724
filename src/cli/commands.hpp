/// @file
/// The subcommands. Each writes its result to stdout and returns the program's exit code; errors are thrown.
#pragma once

#include "cli/options.hpp"

namespace tokenroof::cli {

/// What the program's exit code means.
enum ExitCode : int {
  success = 0,
  failure = 1, ///< the output could not be written, or memory ran out
  usage = 2,
  unknown_id = 3,
  bad_file = 4,
  does_not_fit = 5, ///< under --require-fit only
};

int predict(const PredictOptions& options);
int sweep(const SweepOptions& options);
int validate(const ValidateOptions& options);
int calibrate(const CalibrateOptions& options);
int models(const CatalogueOptions& options);
int devices(const CatalogueOptions& options);
int engines(const CatalogueOptions& options);
int formats(const CatalogueOptions& options);

} // namespace tokenroof::cli
