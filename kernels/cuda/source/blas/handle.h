// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a cuBLAS handle, and helpers for implementing cuBLAS functions.
#pragma once

#include "cuda/source/state.h"

#include <cublas_v2.h>

#include <functional>

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace kg::foreign::blas {

// A refused call: the status to return and the reason.
struct Refused : Error {
  Refused(cublasStatus_t status, const std::string& why) : Error(why), status(status) {}
  cublasStatus_t status;
};

// Throws Refused(CUBLAS_STATUS_INVALID_VALUE, why) unless `condition` holds.
void demand_valid(bool condition, const char* why);

// Runs `body` as the function `name`; prints errors to standard error.
cublasStatus_t call(const char* name, const std::function<void()>& body);

// Throws Refused unless `handle` is a live handle.
cublasContext& context(cublasHandle_t handle);

// Runs `task` on the handle's stream. During capture, the task runs when the graph does.
void enqueue(const cublasContext& context, std::function<void()> task);

// Checks a column-major matrix on the device. Throws Refused unless one allocation contains it.
void demand_matrix(const void* data, std::size_t element_bytes, int rows, int columns, int ld,
                   const char* which);
// Checks a vector of `n` elements with stride `increment`.
void demand_vector(const void* data, std::size_t element_bytes, int n, int increment,
                   const char* which);

} // namespace kg::foreign::blas
