// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-try and kernelgrade-try-checked, which `kernelgrade try` starts: the contract of an
// operation for somebody else's kernel, in a shared object.
#pragma once

#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

// Those of every operation that has one (generated from the calls of kernelgrade_add_op).
std::vector<const Card*> cards();

} // namespace kg::card
