/// @file
/// `--json` of models, devices and engines.
#pragma once

#include "cli/options.hpp"

namespace tokenroof::cli {

/// One entry as an object with its `schema_version`, or all as an array under "models".
void write_models_json(const CatalogueOptions& options);

/// The same under "devices": the catalogue's own files, whose keys have their units and whose figures their sources.
void write_devices_json(const CatalogueOptions& options);

/// The same under "engines".
void write_engines_json(const CatalogueOptions& options);

} // namespace tokenroof::cli
