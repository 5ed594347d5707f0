// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by all cuBLAS wrappers. cuBLAS is column-major. It reads a row-major matrix as the
// transpose, with the same leading dimension; comments call this the column view.
#pragma once

#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <cublas_v2.h>

#include <cstdint>
#include <optional>

// In the namespace of cublasStatus_t, so that KG_CHECK finds it from everywhere.
kg::Status describe(cublasStatus_t status);

namespace kg::vendor::cublas {

// One handle per thread, as cuBLAS recommends: threads that set stream or mode must not share one.
cublasHandle_t handle_on(Stream& stream, cublasMath_t mode);

// nullopt: the project does not use cuBLAS with this type.
std::optional<cudaDataType> type_of(Dtype dtype);

cublasOperation_t transposition(bool transpose);

// A vector of n ones, cached per thread. Like scratch memory, it lives until the thread ends.
const float* ones(std::int64_t n, Stream& stream);

} // namespace kg::vendor::cublas
