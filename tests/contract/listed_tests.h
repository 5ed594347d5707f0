// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the shapes that are timed on the host and on a GPU.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

void lists_problems(Judge& judge);

} // namespace kg::card
