/// @file
/// The built-in devices (constants of the program), networks and engines (embedded, parsed once on demand).
#pragma once

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/catalogue/provenance.hpp"
