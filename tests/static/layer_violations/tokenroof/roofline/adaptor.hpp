#include "tokenroof/hardware/device.hpp"
#include "tokenroof/integrations/fmt.hpp"
