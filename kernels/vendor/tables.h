// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a backend brings: one table of variants per operation. dispatch.cpp checks arguments,
// answers empty problems and finds the variant. The functions here see only problems with at least
// one element of output and of input (gemm: k may be 0), and sums of at least two terms.
#pragma once

#include "vendor/vendor.h"

#include <span>

namespace kg::vendor {

struct ElementwiseVariant {
  std::string_view name;
  bool (*supports)(Binary op, Dtype dtype);
  void (*run)(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
              Stream& stream);
};

struct ReductionVariant {
  std::string_view name;
  bool (*supports)(SumAxis axis);
  void (*run)(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
              Stream& stream);
};

struct SoftmaxVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, const void* x, void* y, std::int64_t rows, std::int64_t cols,
              Stream& stream);
};

struct TransposeVariant {
  std::string_view name;
  void (*run)(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
              std::int64_t ldy, Stream& stream);
};

struct GemmVariant {
  std::string_view name;
  void (*run)(const Gemm& problem, Math math, Stream& stream);
};

// Defined by each backend (host/tables.cpp, cuda/tables.cpp). The functions in a table may be asked
// for support without a device.
std::span<const ElementwiseVariant> elementwise_table();
std::span<const ReductionVariant> reduction_table();
std::span<const SoftmaxVariant> softmax_table();
std::span<const TransposeVariant> transpose_table();
std::span<const GemmVariant> gemm_table();

} // namespace kg::vendor
