// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Included by the first line of each rewritten source: the macros that nvcc predefines.
#pragma once

#include <cuda_runtime.h>

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)

// The value of __CUDA_ARCH__ in device code (rewrite/architecture.h). The default is the virtual
// device's; a project may define another.
#ifndef KERNELGRADE_CUDA_ARCH
#define KERNELGRADE_CUDA_ARCH 800
#endif
// Defined only here, for code that must differ on the emulator.
#define KERNELGRADE_HOST 1
