// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces libnvJitLink, which would link to machine code. Like versions before CUDA 12.3, it
// reports no version, so Numba and cuda.core pass PTX to the driver's linker (driver/link.cpp).
extern "C" [[gnu::visibility("default")]] const char kernelgrade_no_nvjitlink = 1;
