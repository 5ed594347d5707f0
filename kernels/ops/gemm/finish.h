// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the variants of gemm do with a sum: scale it, add C, then add the bias, keep the argument of
// the activation and activate, or multiply by the slope at an argument that was kept; round once
// and store.
//
// Which of it a problem wants is the same for all threads, so these branches cost nothing that
// counts: 2 m n of them beside m n k multiply-adds. As template parameters they would multiply
// kernels by eight.
#pragma once

#include "ops/gemm/variants.h"
#include "primitives/activation_slope.h"
#include "primitives/row.h"

#include <cstdint>

namespace kg::gemm {

// Of results that are rounded to T.
template <class T, activation::Function function, int Count>
__device__ __forceinline__ void apply(Floats<Count>& z) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) z.value[e] = activation::value<function, T>(z.value[e]);
}

template <class T, int Count>
__device__ __forceinline__ void activate(Epilogue epilogue, Floats<Count>& z) {
  switch (epilogue) {
  case Epilogue::bias_relu: return apply<T, activation::Function::relu>(z);
  case Epilogue::bias_gelu: return apply<T, activation::Function::gelu>(z);
  case Epilogue::bias_gelu_tanh: return apply<T, activation::Function::gelu_tanh>(z);
  default: return;
  }
}

template <class T, activation::Function function, int Count>
__device__ __forceinline__ void apply_slope(const Floats<Count>& z, Floats<Count>& dy) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    dy.value[e] = activation::gradient<function, T>(z.value[e], dy.value[e]);
}

template <class T, int Count>
__device__ __forceinline__ void differentiate(Epilogue epilogue, const Floats<Count>& z,
                                              Floats<Count>& dy) {
  switch (epilogue) {
  case Epilogue::drelu: return apply_slope<T, activation::Function::relu>(z, dy);
  case Epilogue::dgelu: return apply_slope<T, activation::Function::gelu>(z, dy);
  case Epilogue::dgelu_tanh: return apply_slope<T, activation::Function::gelu_tanh>(z, dy);
  default: return;
  }
}

template <class T>
__device__ __forceinline__ T* row_of_z(const BasicProblem<T>& p, std::int64_t product,
                                       std::int64_t row) {
  return p.z + product * p.stride_z + row * p.ldz;
}

template <class T>
__device__ __forceinline__ T* row_of_c(const BasicProblem<T>& p, std::int64_t product,
                                       std::int64_t row) {
  return p.c + product * p.stride_c + row * p.ldc;
}

template <class T>
__device__ __forceinline__ bool reads_c(const BasicProblem<T>& p) {
  return p.beta != 0; // beta = 0 does not look at C
}

// Whether a result takes more than sums and a bias.
template <class T>
__device__ __forceinline__ bool reads_beside(const BasicProblem<T>& p) {
  return reads_c(p) || differentiates(p.epilogue);
}

// Count neighbouring elements of C from their sums and what is beside them, packs that `beside`
// gives where they are wanted and which it stores. If it `kReads` neither C nor z, none of them is
// wanted.
template <int Count, class T, class Beside>
__device__ __forceinline__ void finish(const BasicProblem<T>& p, Floats<Count> value,
                                       const Beside& beside) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) value.value[e] *= p.alpha;
  if (Beside::kReads && reads_c(p)) {
    const Floats<Count> old = widened(beside.c());
    KG_UNROLL
    for (int e = 0; e < Count; ++e) value.value[e] = fmaf(p.beta, old.value[e], value.value[e]);
  }
  if (adds_bias(p.epilogue)) {
    const Floats<Count> bias = beside.bias();
    KG_UNROLL
    for (int e = 0; e < Count; ++e) value.value[e] += bias.value[e];
    if (p.z != nullptr) beside.keep_z(value);
    activate<T>(p.epilogue, value);
  } else if (Beside::kReads && differentiates(p.epilogue)) {
    differentiate<T>(p.epilogue, widened(beside.z()), value);
  }
  beside.write(value);
}

// What is beside a row's pack number `pack`, loaded when it is wanted. Count > 1: the rows of C and
// z, and the bias, begin at a multiple of 16 bytes.
template <class T, int Count>
struct LoadedBeside {
  static constexpr bool kReads = true;
  const BasicProblem<T>& p;
  std::int64_t product, row, pack;
  __device__ __forceinline__ StoredPack<T, Count> c() const {
    return load_stored<T, Count>(row_of_c(p, product, row), pack, p.n);
  }
  __device__ __forceinline__ Floats<Count> bias() const {
    return widened(load_stored<T, Count>(p.bias, pack, p.n));
  }
  __device__ __forceinline__ StoredPack<T, Count> z() const {
    return load_stored<T, Count>(row_of_z(p, product, row), pack, p.n);
  }
  __device__ __forceinline__ void keep_z(const Floats<Count>& value) const {
    store_pack<T, Count, Store::wide>(row_of_z(p, product, row), pack, p.n, value);
  }
  __device__ __forceinline__ void write(const Floats<Count>& value) const {
    store_pack<T, Count, Store::wide>(row_of_c(p, product, row), pack, p.n, value);
  }
};

template <int Count, class T>
__device__ __forceinline__ void finish(const BasicProblem<T>& p, std::int64_t product,
                                       std::int64_t row, std::int64_t pack,
                                       const Floats<Count>& value) {
  finish<Count>(p, value, LoadedBeside<T, Count>{p, product, row, pack});
}

// The same of a part of k, product and part being `part`: the sums as they are, packs whole.
template <int Count>
__device__ __forceinline__ void finish(const PartialSums& to, std::int64_t part, std::int64_t row,
                                       std::int64_t pack, const Floats<Count>& value) {
  store_pack<float, Count, Store::wide>(to.data + (part * to.m + row) * to.pitch, pack, to.pitch,
                                        value);
}

// Whether whole packs can be stored, as `finish` wants them.
template <class T>
bool packs_fit(const BasicProblem<T>& p) {
  return rows_are_aligned(p.c, p.ldc, p.stride_c) && is_aligned(p.bias) &&
         (p.z == nullptr || rows_are_aligned(p.z, p.ldz, p.stride_z));
}

} // namespace kg::gemm
