// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the CUDA header of the same name. Starting and stopping the profiler has no effect.
#pragma once

#include "cuda/source/api_types.h"

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
