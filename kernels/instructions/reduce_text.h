// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The types of asynchronous reductions, and for nvcc the words that name them in PTX.
#pragma once

#include "runtime/device_code.h"
#include "runtime/reduce_op.h"

#include <cstdint>

namespace kg::ptx {

template <class T>
struct ReduceTypeOf;
template <>
struct ReduceTypeOf<std::uint32_t> {
  static constexpr ReduceType value = ReduceType::u32;
  static constexpr char word[] = "u32", added[] = "u32", bits[] = "b32";
};
template <>
struct ReduceTypeOf<std::int32_t> {
  static constexpr ReduceType value = ReduceType::s32;
  static constexpr char word[] = "s32", added[] = "s32", bits[] = "b32";
};
template <>
struct ReduceTypeOf<std::uint64_t> {
  static constexpr ReduceType value = ReduceType::u64;
  static constexpr char word[] = "u64", added[] = "u64", bits[] = "b64";
};
template <>
struct ReduceTypeOf<std::int64_t> {
  static constexpr ReduceType value = ReduceType::s64;
  static constexpr char word[] = "s64", added[] = "s64", bits[] = "b64";
};
template <>
struct ReduceTypeOf<f16> {
  static constexpr ReduceType value = ReduceType::f16;
  static constexpr char word[] = "f16", added[] = "noftz.f16", bits[] = "";
};
template <>
struct ReduceTypeOf<bf16> {
  static constexpr ReduceType value = ReduceType::bf16;
  static constexpr char word[] = "bf16", added[] = "noftz.bf16", bits[] = "";
};
template <>
struct ReduceTypeOf<float> {
  static constexpr ReduceType value = ReduceType::f32;
  static constexpr char word[] = "f32", added[] = "f32", bits[] = "";
};
template <>
struct ReduceTypeOf<double> {
  static constexpr ReduceType value = ReduceType::f64;
  static constexpr char word[] = "f64", added[] = "f64", bits[] = "";
};

template <ReduceOp op, class T>
inline constexpr bool kReducesInBulk = reduces_in_bulk(op, ReduceTypeOf<T>::value);
template <ReduceOp op, class T>
inline constexpr bool kReducesInCluster = reduces_in_cluster(op, ReduceTypeOf<T>::value);

// The type as the operation names it.
template <ReduceOp op, class T>
inline constexpr const char* kReduceType = op == ReduceOp::add ? ReduceTypeOf<T>::added
                                           : is_bitwise(op)    ? ReduceTypeOf<T>::bits
                                                               : ReduceTypeOf<T>::word;

template <ReduceOp>
struct ReduceOpText;
template <>
struct ReduceOpText<ReduceOp::add> {
  static constexpr char word[] = "add";
};
template <>
struct ReduceOpText<ReduceOp::min> {
  static constexpr char word[] = "min";
};
template <>
struct ReduceOpText<ReduceOp::max> {
  static constexpr char word[] = "max";
};
template <>
struct ReduceOpText<ReduceOp::inc> {
  static constexpr char word[] = "inc";
};
template <>
struct ReduceOpText<ReduceOp::dec> {
  static constexpr char word[] = "dec";
};
template <>
struct ReduceOpText<ReduceOp::bit_and> {
  static constexpr char word[] = "and";
};
template <>
struct ReduceOpText<ReduceOp::bit_or> {
  static constexpr char word[] = "or";
};
template <>
struct ReduceOpText<ReduceOp::bit_xor> {
  static constexpr char word[] = "xor";
};

} // namespace kg::ptx
