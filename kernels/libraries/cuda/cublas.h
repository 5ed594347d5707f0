// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every wrapper of a cuBLAS function uses. cuBLAS stores by columns. A row-major matrix read
// that way is its transpose, with the same leading dimension; comments call it the column view.
#pragma once

#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <cublas_v2.h>

#include <cstdint>
#include <optional>

// In the namespace of cublasStatus_t, where KG_CHECK finds it from everywhere.
kg::Status describe(cublasStatus_t status);

namespace kg::vendor::cublas {

// One handle per thread, as cuBLAS advises: handles are not to be shared between threads that set
// their stream or mode.
cublasHandle_t handle_on(Stream& stream, cublasMath_t mode);

// nullopt: no type that the project asks cuBLAS for.
std::optional<cudaDataType> type_of(Dtype dtype);

cublasOperation_t transposition(bool transpose);

// A vector of n ones, kept per thread, and like scratch memory never freed before the thread ends.
const float* ones(std::int64_t n, Stream& stream);

} // namespace kg::vendor::cublas
