#include "tokenroof/inline_string.hpp"

#ifdef TOKENROOF_MUST_NOT_COMPILE
constexpr tokenroof::InlineString<4> vendor = "nvidia";
#else
constexpr tokenroof::InlineString<8> vendor = "nvidia";
#endif
static_assert(vendor.view() == "nvidia");
