// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/host/block.h"

namespace kg::check {

// The running thread has polled often enough at an instruction, so others run first. Does nothing
// for instructions of inline functions that the executor shares with kernels.
void poll(const void* instruction);

} // namespace kg::check
