// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What cuBLAS remembers between calls, and how its functions are written.
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

// A call that is refused: the status it returns and why.
struct Refused : Error {
  Refused(cublasStatus_t status, const std::string& why) : Error(why), status(status) {}
  cublasStatus_t status;
};

// Throws Refused(CUBLAS_STATUS_INVALID_VALUE, why) unless `condition` holds.
void demand_valid(bool condition, const char* why);

// Runs `body` as the function `name`; what is wrong goes to standard error.
cublasStatus_t call(const char* name, const std::function<void()>& body);

// Throws Refused unless `handle` is one.
cublasContext& context(cublasHandle_t handle);

// Runs `task` on the handle's stream: now, or, while a graph is captured there, when that runs.
void enqueue(const cublasContext& context, std::function<void()> task);

// A column-major matrix on the device. Throws Refused unless it lies in one allocation.
void demand_matrix(const void* data, std::size_t element_bytes, int rows, int columns, int ld,
                   const char* which);
// `n` elements, `increment` apart.
void demand_vector(const void* data, std::size_t element_bytes, int n, int increment,
                   const char* which);

} // namespace kg::foreign::blas
