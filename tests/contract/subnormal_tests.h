// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers below the normal range, which a kernel that flushes them takes for zeros.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

void subnormal_numbers(Judge& judge);

} // namespace kg::card
