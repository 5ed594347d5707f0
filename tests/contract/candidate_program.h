// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-try and kernelgrade-try-checked, started by `kernelgrade try`: an operation's
// conformance tests for an external kernel in a shared object.
#pragma once

#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

// The cards of all operations (generated from the calls of kernelgrade_add_op).
std::vector<const Card*> cards();

} // namespace kg::card
