// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's matrix product, which takes an epilogue. As cuBLAS it stores by columns (cublas.h).
#pragma once

#include "libraries/cuda/cublas.h"
#include "libraries/library.h"
#include "libraries/proposals.h"

#include <cublasLt.h>

#include <cstdint>
#include <utility>

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
  Layout(Layout&& other) noexcept : layout_(std::exchange(other.layout_, nullptr)) {}
  Layout& operator=(Layout&&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// What is computed, with f32 scalars, or those of the type `scalars`, of as many bits.
class Operation {
 public:
  explicit Operation(cublasComputeType_t compute, cudaDataType scalars = CUDA_R_32F);
  ~Operation() { cublasLtMatmulDescDestroy(operation_); }
  Operation(Operation&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
  Operation& operator=(Operation&&) = delete;
  cublasLtMatmulDesc_t get() const { return operation_; }

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    KG_CHECK(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value));
  }

 private:
  cublasLtMatmulDesc_t operation_ = nullptr;
};

// C = alpha op(A) op(B) + beta C, and what the operation says follows.
struct Operands {
  float alpha;
  const void* a;
  Layout layout_a;
  const void* b;
  Layout layout_b;
  float beta;
  void* c;
  Layout layout_c;
};

// A product in cuBLASLt's words, and the algorithms for it. A caller keeps it: describing a small
// product and asking the heuristic takes the host longer than the product takes the GPU.
class Product {
 public:
  // Throws NotSupported where the heuristic knows of nothing.
  Product(Operation operation, Operands operands);
  // Elsewhere, since nvcc 13.0 breaks down over the library's unnamed struct in a vector.
  Product(Product&& other) noexcept;
  ~Product();

  // Enqueues it, by the first algorithm that the library executes of those that its heuristics put
  // first for these layouts and alignments; for `fastest`, where C is not read, by the fastest of
  // the first few, which the first call times. Throws NotSupported where there is none.
  void multiply(Math math, Stream& stream);

 private:
  Operation operation_;
  Operands operands_;
  Proposals<cublasLtMatmulHeuristicResult_t> proposals_;
};

} // namespace kg::vendor::cublaslt
