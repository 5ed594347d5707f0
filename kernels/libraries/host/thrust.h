// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Thrust on the CPU, with its TBB back end (THRUST_HOST_SYSTEM=CPP, THRUST_DEVICE_SYSTEM=TBB,
// target Thrust::Host), so thrust::device is the CPU's worker threads: it shares the pool with
// whatever else uses oneTBB, and needs no OpenMP runtime beside the one that oneDNN brings. Sums
// over short runs use thrust::seq inside a worker.
#pragma once

#include <thrust/execution_policy.h>
