// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// libcudart.so.13: CUDA programs need a library of this name with this symbol version (cudart.map).
// libcuda.so.1, on which this library depends, defines the symbols.
extern "C" [[gnu::visibility("default")]] const int kernelgrade_emulates_cudart = 13;
