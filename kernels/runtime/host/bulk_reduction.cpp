// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/bulk_reduction.h"

#include "runtime/host/bfloat16.h"
#include "runtime/host/half.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kg::host {
namespace {

template <std::size_t bytes>
using Word = std::conditional_t<bytes == 2, std::uint16_t,
                                std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>;

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.f, value) : value;
}

// f32 and f64 have sums alone.
float combined(ReduceOp, float old, float by) {
  const float sum = flushed(flushed(old) + flushed(by));
  return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : sum;
}
double combined(ReduceOp, double old, double by) { return old + by; }

template <class T>
T combined(ReduceOp op, T old, T by) {
  if constexpr (std::is_integral_v<T>)
    return reduced(op, old, by);
  else
    return op == ReduceOp::add ? old + by : op == ReduceOp::min ? __hmin(old, by) : __hmax(old, by);
}

template <class T>
void reduce_as(ReduceOp op, void* to, const void* from, std::size_t bytes) {
  using Bits = Word<sizeof(T)>;
  auto* const word = static_cast<Bits*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
    T by;
    std::memcpy(static_cast<void*>(&by), static_cast<const T*>(from) + i, sizeof by);
    Bits before = __atomic_load_n(word + i, __ATOMIC_SEQ_CST), after;
    do {
      after = std::bit_cast<Bits>(combined(op, std::bit_cast<T>(before), by));
    } while (!__atomic_compare_exchange_n(word + i, &before, after, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
  }
}

} // namespace

void reduce(BulkReduction reduction, void* to, const void* from, std::size_t bytes) {
  const ReduceOp op = reduction.op;
  switch (reduction.type) {
  case ReduceType::u32: return reduce_as<std::uint32_t>(op, to, from, bytes);
  case ReduceType::s32: return reduce_as<std::int32_t>(op, to, from, bytes);
  case ReduceType::u64: return reduce_as<std::uint64_t>(op, to, from, bytes);
  case ReduceType::s64: return reduce_as<std::int64_t>(op, to, from, bytes);
  case ReduceType::f16: return reduce_as<__half>(op, to, from, bytes);
  case ReduceType::bf16: return reduce_as<__nv_bfloat16>(op, to, from, bytes);
  case ReduceType::f32: return reduce_as<float>(op, to, from, bytes);
  case ReduceType::f64: return reduce_as<double>(op, to, from, bytes);
  }
}

} // namespace kg::host
