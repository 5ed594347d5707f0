// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// In the place of libnvJitLink, which would make machine code of what is linked. It says no
// version, as those before CUDA 12.3: Numba and cuda.core then hand PTX to the driver's linker
// (driver/link.cpp).
extern "C" [[gnu::visibility("default")]] const char kernelgrade_no_nvjitlink = 1;
