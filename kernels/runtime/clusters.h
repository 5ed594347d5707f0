// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether launches on this device may use clusters (launch.h).
#pragma once

namespace kg {

// A GPU supports clusters from compute capability 9.0 on; a machine without a GPU counts as
// supporting them. The host's virtual device reports 8.0 but supports clusters too, except when it
// runs code that nvcc compiled for a target below 9.0 (kernels/runtime/ptx).
bool device_has_clusters();

} // namespace kg
