// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same bits in every run and thread order.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

void same_bits_every_time(Judge& judge, const Problem& problem);

} // namespace kg::card
