// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Thrust on the CPU, with its TBB back end (THRUST_HOST_SYSTEM=CPP, THRUST_DEVICE_SYSTEM=TBB,
// target Thrust::Host). So thrust::device is the CPU's worker threads, which share the pool of
// other oneTBB users. No OpenMP runtime is needed besides the one that oneDNN uses. Sums over short
// runs use thrust::seq inside a worker.
#pragma once

#include <thrust/execution_policy.h>
