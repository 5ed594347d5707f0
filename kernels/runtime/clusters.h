// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether launches here may have clusters (launch.h).
#pragma once

namespace kg {

// A GPU has them from compute capability 9.0 on; a machine without a GPU counts as one that has.
// The host's virtual device has them, too, though it is an 8.0 otherwise, except where it runs what
// nvcc compiled for less than 9.0 (kernels/runtime/ptx).
bool device_has_clusters();

} // namespace kg
