// A wrong id in a constant.
#include "tokenroof/catalogue/devices.hpp"

#ifdef TOKENROOF_MUST_NOT_COMPILE
constexpr tokenroof::Device device = tokenroof::catalogue::device("h100_sxmm");
#else
constexpr tokenroof::Device device = tokenroof::catalogue::device("h100_sxm");
#endif
