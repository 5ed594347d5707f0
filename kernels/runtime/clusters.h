// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether launches here may have clusters (launch.h).
#pragma once

namespace kg {

// On a GPU from compute capability 9.0 on; where there is none, as if there were such a one. The
// host backend's virtual device has clusters though it is an 8.0 otherwise, but not where it runs
// what nvcc compiled (kernels/runtime/ptx).
bool device_has_clusters();

} // namespace kg
