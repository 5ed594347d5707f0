// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Epilogue of all gemm variants: scale the sum, add C, add the bias, keep the activation's argument
// and activate, or multiply by the derivative at a kept argument; round once and store.
//
// All threads take the same branches, at negligible cost: 2 m n branches for m n k multiply-adds.
// As template parameters, the same choices would multiply the number of kernels by eight.
#pragma once

#include "ops/gemm/variants.h"
#include "primitives/activation_slope.h"
#include "primitives/row.h"

#include <cstdint>

namespace kg::gemm {

// For results that are rounded to T.
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
  return p.beta != 0; // beta = 0 never reads C
}

// Whether a result depends on more than sums and a bias.
template <class T>
__device__ __forceinline__ bool reads_beside(const BasicProblem<T>& p) {
  return reads_c(p) || differentiates(p.epilogue);
}

// Finishes Count neighbouring elements of C from their sums. `beside` loads the other inputs (C,
// bias, z) on demand and stores the results. If kReads is false, the result depends on neither C
// nor z.
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

// Loads a row's other inputs for vector number `pack` on demand. Count > 1: rows of C and z, and
// the bias, are aligned to 16 bytes.
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

// For a part of k: stores the sums unchanged, as whole vectors. `part` numbers products and parts.
template <int Count>
__device__ __forceinline__ void finish(const PartialSums& to, std::int64_t part, std::int64_t row,
                                       std::int64_t pack, const Floats<Count>& value) {
  store_pack<float, Count, Store::wide>(to.data + (part * to.m + row) * to.pitch, pack, to.pitch,
                                        value);
}

// Whether `finish` can store whole 16-byte vectors.
template <class T>
bool packs_fit(const BasicProblem<T>& p) {
  return rows_are_aligned(p.c, p.ldc, p.stride_c) && is_aligned(p.bias) &&
         (p.z == nullptr || rows_are_aligned(p.z, p.ldz, p.stride_z));
}

} // namespace kg::gemm
