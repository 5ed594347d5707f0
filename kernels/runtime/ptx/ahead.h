// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Work that somebody will want, done meanwhile by a few threads.
#pragma once

#include <functional>

namespace kg::ptx_run {

// In the order of the calls, by as many threads as there are processors, but few. Errors are
// dropped: who wants the result meets them, too. The end of the process waits for what is under
// way, and drops what has not begun; so what the work uses and is static must be there before the
// first call.
void do_ahead(std::function<void()> work);

} // namespace kg::ptx_run
