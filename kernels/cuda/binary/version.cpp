// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// libcudart.so.13: CUDA's programs ask for a library of this name and this version of its symbols
// (cudart.map). The symbols themselves are those of libcuda.so.1, on which it depends.
extern "C" [[gnu::visibility("default")]] const int kernelgrade_emulates_cudart = 13;
