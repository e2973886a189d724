#include "tokenroof/integrations/fmt.hpp"
#include "tokenroof/units/literals.hpp"

using namespace tokenroof::literals;

std::string capacity() {
#ifdef TOKENROOF_MUST_NOT_COMPILE
  return fmt::format("{:.1ms}", 80_GiB);
#else
  return fmt::format("{:.1GiB}", 80_GiB);
#endif
}
