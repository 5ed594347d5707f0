// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes per element, equal in f32 and 16 bits, where gradient and parameter take 4 bytes together:
// 12 (sgd), 20 (momentum, nesterov, lion) or 28 (adam, adamw), with 5 to 16 operations. Expected on
// an H200: at least 92 % of copy bandwidth. 28 bytes at 4.3 TB/s leave 190 instruction slots per
// thread, ten times what IEEE division and square root need, so results match the host bit by bit.
//
// A block processes a chunk of 4096 elements of one tensor. Its first element depends on two
// serialized loads: the chunk, and the tensor's row, which hundreds of blocks read and L2 caches.
// Scale and flag are loaded along with the first. A thread then loads four elements of each array
// before it converts the first. For adam these are 64 bytes in f32 and 56 in 16 bits, at least 56
// KiB in flight per multiprocessor, of which the GPU needs some 32.
//
// Why not eight 16-bit elements, which are 16 bytes: 24 of 28 bytes are f32, and 32 bytes per
// thread take two accesses that each use half of their sectors. Why not a grid of resident blocks
// only: all blocks but the last of each tensor have equal work, and waiting blocks hide the latency
// of the others' first loads.
#include "ops/optimizer/optimizer.h"

#include "primitives/pack.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace kg::optimizer {

constexpr int kThreads = 256;
constexpr int kBlocksPerChunk = kChunkElements / kThreads; // for naive
inline constexpr int kBlocksPerSm = 4;                     // for vectorized, at least: 64 registers

// A step's coefficients, each computed in f64 and rounded once.
struct Coefficients {
  float rate; // adam, adamw: divided by 1 - beta1^t
  float beta1, rest1;
  float beta2, rest2;
  float root; // 1 / sqrt(1 - beta2^t)
  float epsilon;
  float decay; // of the gradient
  float keep;  // 1 - rate * decay: adamw, lion
};

// Pointers to device memory; null: 1 and 0.
struct Gate {
  const float* scale;
  const std::int32_t* found_inf;
};

struct State {
  float value, first, second;
};

// Written so that every compiler fuses the same multiplies and adds.
template <Kind kind>
__device__ __forceinline__ State stepped(State s, float g, const Coefficients& c) {
  if constexpr (kind == Kind::adamw || kind == Kind::lion)
    s.value *= c.keep;
  else if (c.decay != 0)
    g = fmaf(c.decay, s.value, g);

  if constexpr (kind == Kind::sgd) {
    s.value = fmaf(-c.rate, g, s.value);
  } else if constexpr (kind == Kind::momentum || kind == Kind::nesterov) {
    s.first = fmaf(c.beta1, s.first, g);
    const float along = kind == Kind::nesterov ? fmaf(c.beta1, s.first, g) : s.first;
    s.value = fmaf(-c.rate, along, s.value);
  } else if constexpr (kind == Kind::lion) {
    const float blend = fmaf(c.beta1, s.first, c.rest1 * g);
    s.first = fmaf(c.beta2, s.first, c.rest2 * g);
    const float sign = blend > 0 ? 1.0F : blend < 0 ? -1.0F : blend; // a NaN stays NaN
    s.value = fmaf(-c.rate, sign, s.value);
  } else {
    s.first = fmaf(c.beta1, s.first, c.rest1 * g);
    s.second = fmaf(c.beta2, s.second, c.rest2 * g * g);
    s.value = fmaf(-c.rate, s.first / fmaf(sqrtf(s.second), c.root, c.epsilon), s.value);
  }
  return s;
}

// The f32 values of the parameter.
template <class T>
__device__ __forceinline__ float* values_of(const Parameter<T>& p) {
  if constexpr (sizeof(T) == sizeof(float))
    return p.value;
  else
    return p.master;
}

// Updates elements [at, at + Count) of a tensor whose arrays are aligned to Count elements.
template <Kind kind, int Count, class T>
__device__ __forceinline__ void step_pack(const Parameter<T>& p, std::int64_t at, float scale,
                                          const Coefficients& c) {
  using Floats = Pack<float, Count>;
  const auto gradient = *reinterpret_cast<const Pack<T, Count>*>(p.gradient + at);
  auto value = *reinterpret_cast<const Floats*>(values_of(p) + at);
  Floats first{}, second{};
  if constexpr (has_first(kind)) first = *reinterpret_cast<const Floats*>(p.first + at);
  if constexpr (has_second(kind)) second = *reinterpret_cast<const Floats*>(p.second + at);
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    const State next = stepped<kind>({value.element[e], first.element[e], second.element[e]},
                                     to_float(gradient.element[e]) * scale, c);
    value.element[e] = next.value;
    first.element[e] = next.first;
    second.element[e] = next.second;
  }
  if constexpr (has_first(kind)) store_wide(reinterpret_cast<Floats*>(p.first + at), first);
  if constexpr (has_second(kind)) store_wide(reinterpret_cast<Floats*>(p.second + at), second);
  store_wide(reinterpret_cast<Floats*>(values_of(p) + at), value);
  if constexpr (sizeof(T) < sizeof(float)) {
    Pack<T, Count> rounded;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) rounded.element[e] = from_float<T>(value.element[e]);
    store_wide(reinterpret_cast<Pack<T, Count>*>(p.value + at), rounded);
  }
}

__device__ __forceinline__ float scale_of(const Gate& gate) {
  return gate.scale == nullptr ? 1.0F : *gate.scale;
}
__device__ __forceinline__ bool is_skipped(const Gate& gate) {
  return gate.found_inf != nullptr && *gate.found_inf != 0;
}

template <Kind kind, class T>
__global__ void __launch_bounds__(kThreads)
    naive(TensorList<Parameter<T>> list, Coefficients c, Gate gate) {
  const Chunk chunk = list.chunks[blockIdx.x / kBlocksPerChunk];
  const float scale = scale_of(gate);
  if (is_skipped(gate)) return;
  const Parameter<T> p = list.rows[chunk.row];
  const std::int64_t at =
      chunk.number * kChunkElements + blockIdx.x % kBlocksPerChunk * kThreads + threadIdx.x;
  if (at < p.size) step_pack<kind, 1>(p, at, scale, c);
}

// Whether each array of the tensor is aligned to Count elements.
template <int Count, class T>
__device__ __forceinline__ bool is_made_of_packs(const Parameter<T>& p) {
  const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  const std::uintptr_t narrow = address(p.value) | address(p.gradient);
  const std::uintptr_t wide = address(p.master) | address(p.first) | address(p.second);
  return narrow % (Count * sizeof(T)) == 0 && wide % (Count * sizeof(float)) == 0;
}

template <Kind kind, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    vectorized(TensorList<Parameter<T>> list, Coefficients c, Gate gate) {
  constexpr int kCount = kPackElements<float>;
  const Chunk chunk = list.chunks[blockIdx.x];
  const float scale = scale_of(gate);
  if (is_skipped(gate)) return;
  const Parameter<T> p = list.rows[chunk.row];
  const std::int64_t begin = chunk.number * kChunkElements;
  const auto count =
      static_cast<int>(p.size - begin < kChunkElements ? p.size - begin : kChunkElements);
  const auto thread = static_cast<int>(threadIdx.x);
  int in_packs = 0;
  if (is_made_of_packs<kCount>(p)) {
    in_packs = count / kCount * kCount;
    // Unrolling would not help: the stores of an iteration delay the loads of the next one anyway.
    KG_ROLLED
    for (int i = thread * kCount; i < in_packs; i += kThreads * kCount)
      step_pack<kind, kCount>(p, begin + i, scale, c);
  }
  for (int i = in_packs + thread; i < count; i += kThreads)
    step_pack<kind, 1>(p, begin + i, scale, c);
}

namespace {

Coefficients coefficients(Kind kind, const Step& step) {
  double rate = step.rate, root = 1;
  if (has_second(kind)) {
    const auto t = static_cast<double>(step.number);
    rate /= 1 - std::pow(step.beta1, t);
    root = 1 / std::sqrt(1 - std::pow(step.beta2, t));
  }
  const auto f32 = [](double number) { return static_cast<float>(number); };
  return {.rate = f32(rate),
          .beta1 = f32(step.beta1),
          .rest1 = f32(1 - step.beta1),
          .beta2 = f32(step.beta2),
          .rest2 = f32(1 - step.beta2),
          .root = f32(root),
          .epsilon = f32(step.epsilon),
          .decay = f32(step.decay),
          .keep = f32(1 - step.rate * step.decay)};
}

template <Kind kind, class T>
void launch_kind(const Table<T>& table, const Step& step, Variant variant, Stream& stream) {
  const std::int64_t per_chunk = variant == Variant::naive ? kBlocksPerChunk : 1;
  launch(variant == Variant::naive ? naive<kind, T> : vectorized<kind, T>,
         {.grid = grid_x(table.list.chunk_count * per_chunk, "optimizer: the elements",
                         "make two tables"),
          .block = kThreads,
          .stream = &stream},
         table.list, coefficients(kind, step), Gate{step.scale, step.found_inf});
}

void require_number(const char* field, double value, double below) {
  require(value >= 0 && value < below,
          "optimizer: " + std::string(field) + " is " + std::to_string(value) +
              "; it must be at least 0 and " +
              (below == 1 ? std::string("below 1") : std::string("finite")));
}

void require_valid(Kind kind, const Step& step) {
  constexpr double kInfinity = HUGE_VAL;
  require_number("rate", step.rate, kInfinity);
  require_number("decay", step.decay, kInfinity);
  if (has_first(kind)) require_number("beta1", step.beta1, 1);
  if (has_second(kind) || kind == Kind::lion) require_number("beta2", step.beta2, 1);
  if (!has_second(kind)) return;
  require_number("epsilon", step.epsilon, kInfinity);
  require(step.number >= 1, "optimizer: the number of the step is " + std::to_string(step.number) +
                                "; the first one has number 1");
}

} // namespace

template <class T>
Variant run(const Table<T>& table, const Step& step, Variant variant, Stream& stream) {
  require_valid(table.kind, step);
  variant = resolved(variant);
  if (table.list.chunk_count == 0) return variant;
  switch (table.kind) {
  case Kind::sgd: launch_kind<Kind::sgd>(table, step, variant, stream); break;
  case Kind::momentum: launch_kind<Kind::momentum>(table, step, variant, stream); break;
  case Kind::nesterov: launch_kind<Kind::nesterov>(table, step, variant, stream); break;
  case Kind::adam: launch_kind<Kind::adam>(table, step, variant, stream); break;
  case Kind::adamw: launch_kind<Kind::adamw>(table, step, variant, stream); break;
  case Kind::lion: launch_kind<Kind::lion>(table, step, variant, stream); break;
  }
  return variant;
}

template <class T>
Work work(Kind kind, std::int64_t elements, const Step& step) {
  const double states = 1.0 + (has_first(kind) ? 1 : 0) + (has_second(kind) ? 1 : 0);
  const double narrow = sizeof(T) < sizeof(float) ? sizeof(T) : 0; // a parameter beside its master
  const double scalars = (step.scale != nullptr ? sizeof(float) : 0) +
                         (step.found_inf != nullptr ? sizeof(std::int32_t) : 0);
  const double flops[] = {5, 7, 9, 16, 15, 10};
  const auto n = static_cast<double>(elements);
  return {.bytes = n * (sizeof(T) + 2 * states * sizeof(float) + narrow) + scalars,
          .written = n * (states * sizeof(float) + narrow),
          .flops = n * flops[static_cast<int>(kind)]};
}

template Variant run(const Table<float>&, const Step&, Variant, Stream&);
template Variant run(const Table<f16>&, const Step&, Variant, Stream&);
template Variant run(const Table<bf16>&, const Step&, Variant, Stream&);
template Work work<float>(Kind, std::int64_t, const Step&);
template Work work<f16>(Kind, std::int64_t, const Step&);
template Work work<bf16>(Kind, std::int64_t, const Step&);

} // namespace kg::optimizer
