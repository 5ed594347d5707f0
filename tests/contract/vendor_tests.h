// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of the libraries' wrappers (kernels/libraries) beyond correct results.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// On the usual problems, every wrapper refuses a null pointer, a negative extent and an unknown
// library, with a message that names the problem. Empty problems run with null pointers and write
// nothing.
void vendors_keep_their_promises(Judge& judge);

} // namespace kg::card
