// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the wrappers of libraries (kernels/libraries) promise beside the right results.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// On the usual problems: a null pointer, a negative extent and a name that no library has are
// refused in words that say so, whatever the library; problems without elements run with null
// pointers and write nothing.
void vendors_keep_their_promises(Judge& judge);

} // namespace kg::card
