// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The first line of a rewritten source: what nvcc defines before the first line of its own.
#pragma once

#include <cuda_runtime.h>

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)

// What __CUDA_ARCH__ is in device code (rewrite/architecture.h): the virtual device's, unless the
// project defines another.
#ifndef KERNELGRADE_CUDA_ARCH
#define KERNELGRADE_CUDA_ARCH 800
#endif
// Here, and nowhere else: for code that is to differ on the host backend.
#define KERNELGRADE_HOST 1
