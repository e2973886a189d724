#include "tokenroof/hardware/device.hpp"
