// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's matrix product, which takes an epilogue. Like cuBLAS it is column-major (cublas.h).
#pragma once

#include "libraries/cuda/cublas.h"
#include "libraries/library.h"
#include "libraries/proposals.h"

#include <cublasLt.h>

#include <cstdint>
#include <utility>

namespace kg::vendor::cublaslt {

// `count` matrices, `stride` elements apart. All matrices of a product have the same count.
struct Batch {
  std::int64_t count, stride;
};

// Column-major rows x columns matrices with leading dimension `leading`.
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

// The computation. Its scalars are f32, or of another 32-bit type `scalars`.
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

// C = alpha op(A) op(B) + beta C, followed by the operation's epilogue.
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

// A product as described to cuBLASLt, and its algorithms. Callers cache it: for small products the
// description and the heuristic take the host longer than the product takes the GPU.
class Product {
 public:
  // Throws NotSupported if the heuristic finds no algorithm.
  Product(Operation operation, Operands operands);
  // Defined in cublaslt.cpp: nvcc 13.0 fails on the library's unnamed struct in a vector.
  Product(Product&& other) noexcept;
  ~Product();

  // Enqueues the product by the first algorithm that the library executes. The heuristic ranks the
  // algorithms for these layouts and alignments. `fastest`, if C is not read, uses the fastest of
  // the first few, which the first call times. Throws NotSupported if no algorithm works.
  void multiply(Math math, Stream& stream);

 private:
  Operation operation_;
  Operands operands_;
  Proposals<cublasLtMatmulHeuristicResult_t> proposals_;
};

} // namespace kg::vendor::cublaslt
