// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How Hopper's asynchronous reductions combine elements (PTX ISA, "cp.reduce.async.bulk",
// "cp.reduce.async.bulk.tensor", "red.async").
#pragma once

namespace kg {

// inc and dec wrap as atomicInc and atomicDec do.
enum class ReduceOp : unsigned char { add, min, max, inc, dec, bit_and, bit_or, bit_xor };
enum class ReduceType : unsigned char { u32, s32, u64, s64, f16, bf16, f32, f64 };

constexpr bool is_bitwise(ReduceOp op) { return op >= ReduceOp::bit_and; }

// Whether bulk reductions into global memory have the operation for the type.
constexpr bool reduces_in_bulk(ReduceOp op, ReduceType type) {
  const bool is_integer = type <= ReduceType::s64;
  if (is_bitwise(op)) return is_integer;
  if (op == ReduceOp::inc || op == ReduceOp::dec) return type == ReduceType::u32;
  if (op == ReduceOp::add) return type != ReduceType::s64;
  return is_integer || type == ReduceType::f16 || type == ReduceType::bf16;
}

// Whether reductions into the shared memory of a cluster have it.
constexpr bool reduces_in_cluster(ReduceOp op, ReduceType type) {
  if (op == ReduceOp::add && type == ReduceType::u64) return true;
  const bool is_word = type == ReduceType::u32 || type == ReduceType::s32;
  return is_word && reduces_in_bulk(op, type);
}

// The new value of an integer.
template <class T>
constexpr T reduced(ReduceOp op, T old, T by) {
  switch (op) {
  case ReduceOp::add:
    return static_cast<T>(static_cast<unsigned long long>(old) +
                          static_cast<unsigned long long>(by)); // wraps
  case ReduceOp::min: return by < old ? by : old;
  case ReduceOp::max: return old < by ? by : old;
  case ReduceOp::inc: return old >= by ? 0 : old + 1;
  case ReduceOp::dec: return old == 0 || old > by ? by : old - 1;
  case ReduceOp::bit_and: return old & by;
  case ReduceOp::bit_or: return old | by;
  case ReduceOp::bit_xor: return old ^ by;
  }
  return old;
}

} // namespace kg
