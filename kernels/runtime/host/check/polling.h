// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/host/block.h"

namespace kg::check {

// The running thread has polled often enough by an instruction; others go first. Not where that is
// no kernel's, but one of an inline function that the executor has, too.
void poll(const void* instruction);

} // namespace kg::check
