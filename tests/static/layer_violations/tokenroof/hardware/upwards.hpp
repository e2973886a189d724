#include "tokenroof/roofline/time.hpp"
