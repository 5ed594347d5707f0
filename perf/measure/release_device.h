// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::perf {

// Destroys the CUDA context that the search for a device created. A GPU in exclusive mode admits
// one process, which must be the measuring one. Nothing of this process may be on the device. Does
// nothing on the host backend.
void release_device();

} // namespace kg::perf
