// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers below the normal range, to detect kernels that flush subnormals to zero.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

void subnormal_numbers(Judge& judge);

} // namespace kg::card
