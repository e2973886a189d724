/// @file
/// Everything but the adaptors of `integrations/`.
#pragma once

#include "tokenroof/calibration.hpp"
#include "tokenroof/catalogue.hpp"
#include "tokenroof/explain.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/planning/remedies.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/report.hpp"
#include "tokenroof/sweep/sweep.hpp"
#include "tokenroof/units/literals.hpp"
#include "tokenroof/validation.hpp"
