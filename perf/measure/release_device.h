// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::perf {

// Gives up the context that looking for a device has made: a GPU may be set to serve one process at
// a time, and that is to be the one that measures. Nothing of this process may be on the device.
// Does nothing on the host backend.
void release_device();

} // namespace kg::perf
