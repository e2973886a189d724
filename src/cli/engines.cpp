#include <string>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"

namespace tokenroof::cli {

int engines(const CatalogueOptions& options) {
  if (options.id.empty()) {
    write("roofline\n");
  } else {
    write(std::string(find_engine(options.id, Device{})->id.view()) + "\n");
  }
  flush();
  return success;
}

} // namespace tokenroof::cli
