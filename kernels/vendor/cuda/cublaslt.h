// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's matrix product, which takes an epilogue. As cuBLAS it stores by columns (cublas.h).
#pragma once

#include "vendor/cuda/cublas.h"

#include <cublasLt.h>

#include <cstdint>

namespace kg::vendor::cublaslt {

// So many matrices, `stride` elements apart; those of one product are as many.
struct Batch {
  std::int64_t count, stride;
};

// Each rows x columns, by columns, which begin `leading` elements apart.
class Layout {
 public:
  Layout(cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
         const Batch& batch);
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// What is computed, with f32 scalars.
class Operation {
 public:
  explicit Operation(cublasComputeType_t compute);
  ~Operation() { cublasLtMatmulDescDestroy(operation_); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  cublasLtMatmulDesc_t get() const { return operation_; }

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    KG_CHECK(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value));
  }

 private:
  cublasLtMatmulDesc_t operation_ = nullptr;
};

// C = alpha op(A) op(B) + beta C, and what the operation says follows.
struct Product {
  float alpha;
  const void* a;
  const Layout& layout_a;
  const void* b;
  const Layout& layout_b;
  float beta;
  void* c;
  const Layout& layout_c;
};

// Enqueues it, by the first algorithm that the library executes of those that its heuristics put
// first for these layouts and alignments. Throws NotSupported where it has none.
void multiply(const Operation& operation, const Product& product, Stream& stream);

} // namespace kg::vendor::cublaslt
