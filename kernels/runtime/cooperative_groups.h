// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
// device_code.h plus cooperative groups. A separate header, because nvcc takes longer for the
// headers of cooperative groups than for all others together.
// headers than for all others together.
#pragma once

#include "runtime/device_code.h"

#if KG_BACKEND_CUDA
#include <cooperative_groups.h>
#ifdef __CUDACC__
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#endif
#else
#include "runtime/host/cooperative_groups.h"
#include "runtime/host/cooperative_groups_async.h"
#endif
