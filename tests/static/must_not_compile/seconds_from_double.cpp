#include "tokenroof/units/quantity.hpp"

#ifdef TOKENROOF_MUST_NOT_COMPILE
const tokenroof::Seconds ttft = 0.23; // seconds or milliseconds? A bare number does not say
#else
const tokenroof::Seconds ttft = tokenroof::Seconds::from_value(0.23);
#endif
