// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs work before it is needed, on a few threads.
#pragma once

#include <functional>

namespace kg::ptx_run {

// Starts the work in call order, on a few threads, at most one per processor. Errors are dropped:
// the code that needs the result gets them again. The end of the process waits for running work and
// drops queued work. Static objects that the work uses must exist before the first call.
void do_ahead(std::function<void()> work);

} // namespace kg::ptx_run
