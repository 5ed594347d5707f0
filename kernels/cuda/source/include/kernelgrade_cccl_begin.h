// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Included before each CCCL header (Thrust, libcu++), with kernelgrade_cccl_end.h after the header.
// CCCL then sees a plain C++ compiler, and Thrust's device system is a single host thread.

#pragma push_macro("__CUDACC__")
#pragma push_macro("__NVCC__")
#pragma push_macro("__CUDACC_VER_MAJOR__")
#pragma push_macro("__CUDACC_VER_MINOR__")
#undef __CUDACC__
#undef __NVCC__
#undef __CUDACC_VER_MAJOR__
#undef __CUDACC_VER_MINOR__

#ifndef THRUST_DEVICE_SYSTEM
#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
// With fp16 support, CCCL would look for CUDA's own header.
#ifndef CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_FP16_SUPPORT
#endif

#if __has_include(<thrust/mr/new.h>)
#include "cuda/source/thrust_memory.h"
#endif
