#include "tokenroof/units/literals.hpp"

using namespace tokenroof::literals;

#ifdef TOKENROOF_MUST_NOT_COMPILE
const auto sum = 1_GB + 1_GFLOP;
#else
const auto sum = 1_GB + 1_GB;
#endif
