#include "tokenroof/version.hpp"

namespace tokenroof {

std::string_view linked_version() noexcept { return version; }

} // namespace tokenroof
