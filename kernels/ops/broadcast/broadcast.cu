// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands and result move once: after its first use a repeated operand comes from the caches.
// Bytes, for [n, c] + [c] in f32: 8 n c + 4 c; flops: n c. Expected on an H200: for one large
// operand copy bandwidth, 4.1 to 4.3 TB/s; for two the bandwidth of `elementwise`.
//
// Threads take packs of the result across row ends, so an operand of the result's shape moves in
// 16-byte accesses whatever the row length. The coordinates of a pack take one division per
// remaining axis (primitives/divisor.h), about 15 instructions each. A multiprocessor can issue
// about 140 while 48 bytes of a pack are transferred. A pack that crosses a row end reads a
// repeated operand element by element: rare in long rows, the rule in rows shorter than a pack.
// These cases are branches in which nvcc unpacks 16-bit elements as they arrive. Loads then wait
// for one another, four round trips for two packs: a bias of 4,096 columns had 80 % of copy
// bandwidth on an H200 in bf16. Rows of whole aligned packs therefore have a kernel without these
// branches. It loads three packs per operand before it uses the first: 48 KiB in flight on a
// multiprocessor if one operand is large; not measured.
//
// Why not one block per row or tile of a row, which needs no divisions: rows of 64 or 197 elements,
// typical of biases, would leave most of a block idle. Why no kernel for each pattern: the patterns
// are branches uniform over the grid, which cost less than the loads.
#include "ops/broadcast/broadcast.h"

#include "ops/broadcast/plan.h"
#include "primitives/arithmetic.h"
#include "primitives/map.h"
#include "primitives/stored_pack.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::broadcast {

// Packs that a thread loads from each operand before it uses the first: 32 KiB in flight on a
// multiprocessor if one operand is large. Four would exceed the registers for 16-bit types.
constexpr int kPacks = 2;
constexpr int kWholePacks = 3; // for rows of whole packs, kept as stored

template <class T>
struct Operands {
  const T* data[2];
};

template <Op op, class T>
__global__ void __launch_bounds__(kMapThreads) naive(Operands<T> operands, T* out, Plan plan) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= plan.size) return;
  std::int64_t rest = i / plan.inner.extent.value;
  const std::int64_t column = i % plan.inner.extent.value;
  std::int64_t a = column * plan.inner.stride[0];
  std::int64_t b = column * plan.inner.stride[1];
  for (int d = 0; d < plan.outer_axes; ++d) {
    const std::int64_t coordinate = rest % plan.outer[d].extent.value;
    rest /= plan.outer[d].extent.value;
    a += coordinate * plan.outer[d].stride[0];
    b += coordinate * plan.outer[d].stride[1];
  }
  out[i] = apply<op>(operands.data[0][a], operands.data[1][b]);
}

// The offsets of element `index` of the result in both operands, and its column.
struct Place {
  std::int64_t offset[2];
  std::int64_t column;
};

__device__ inline Place place_of(const Plan& plan, std::int64_t index) {
  if (plan.outer_axes == 0)
    return {{index * plan.inner.stride[0], index * plan.inner.stride[1]}, index};
  std::int64_t rest = plan.inner.extent.quotient(index);
  const std::int64_t column = index - rest * plan.inner.extent.value;
  Place place{{column * plan.inner.stride[0], column * plan.inner.stride[1]}, column};
  KG_UNROLL
  for (int d = 0; d < kMaxRank - 1; ++d) {
    if (d >= plan.outer_axes) break;
    const Axis& axis = plan.outer[d];
    const std::int64_t next = axis.extent.quotient(rest);
    const std::int64_t coordinate = rest - next * axis.extent.value;
    rest = next;
    place.offset[0] += coordinate * axis.stride[0];
    place.offset[1] += coordinate * axis.stride[1];
  }
  return place;
}

// Operand `k` for the pack of the result that begins at `index`.
template <int k, class T>
__device__ inline Pack<T, kPackElements<T>> load(const T* data, const Plan& plan,
                                                 std::int64_t index, const Place& place) {
  constexpr int kCount = kPackElements<T>;
  using Chunk = Pack<T, kCount>;
  Chunk result;
  const T* const first = data + place.offset[k];
  const bool in_one_row = place.column + kCount <= plan.inner.extent.value;
  if (plan.dense[k] || (in_one_row && plan.inner.stride[k] == 1)) {
    if (reinterpret_cast<std::uintptr_t>(first) % kPackBytes == 0)
      return *reinterpret_cast<const Chunk*>(first);
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) result.element[e] = first[e];
  } else if (in_one_row) {
    const T repeated = *first;
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) result.element[e] = repeated;
  } else {
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) result.element[e] = data[place_of(plan, index + e).offset[k]];
  }
  return result;
}

template <class T>
struct Loaded {
  Pack<T, kPackElements<T>> a, b;
};

template <class T>
__device__ inline Loaded<T> load_both(const Operands<T>& operands, const Plan& plan,
                                      std::int64_t index) {
  const Place place = place_of(plan, index);
  return {load<0>(operands.data[0], plan, index, place),
          load<1>(operands.data[1], plan, index, place)};
}

template <Op op, class T>
__device__ inline void store(T* out, Loaded<T> x) {
  KG_UNROLL
  for (int e = 0; e < kPackElements<T>; ++e)
    x.a.element[e] = apply<op>(x.a.element[e], x.b.element[e]);
  store_wide(reinterpret_cast<Pack<T, kPackElements<T>>*>(out), x.a);
}

// An operand's data for a pack of the result: a pack, or one element if it is repeated along the
// inner axis. Repeating the element at once would wait for its load.
template <class T>
struct Part {
  StoredPack<T, kPackElements<T>> pack;
  StoredPack<T, 1> single;

  __device__ __forceinline__ void keep_raw() {
    pack.keep_raw();
    single.keep_raw();
  }
};

template <class T>
__device__ __forceinline__ Part<T> load_whole(const T* data, const Axis& inner, int operand,
                                              const Place& place) {
  Part<T> part;
  if (inner.stride[operand] == 1)
    part.pack.load(data + place.offset[operand]);
  else
    part.single.load(data + place.offset[operand]);
  return part;
}

template <class T>
__device__ __forceinline__ Pack<T, kPackElements<T>> whole(const Part<T>& part, const Axis& inner,
                                                           int operand) {
  if (inner.stride[operand] == 1) return part.pack.pack();
  const Pack<T, 1> single = part.single.pack();
  Pack<T, kPackElements<T>> result;
  KG_UNROLL
  for (int e = 0; e < kPackElements<T>; ++e) result.element[e] = single.element[0];
  return result;
}

// For rows of whole packs, aligned unless repeated. No __restrict__, as below.
template <Op op, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized_whole(Operands<T> operands, T* out, Plan plan) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = plan.size / kCount;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kMapThreads;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kMapThreads + threadIdx.x;
  for (; first < packs; first += kWholePacks * step) {
    const auto pack = [&](int l) { return first + l * step; };
    Part<T> a[kWholePacks], b[kWholePacks];
    KG_UNROLL
    for (int l = 0; l < kWholePacks; ++l) {
      if (pack(l) >= packs) break;
      const Place place = place_of(plan, pack(l) * kCount);
      a[l] = load_whole(operands.data[0], plan.inner, 0, place);
      b[l] = load_whole(operands.data[1], plan.inner, 1, place);
    }
    loaded(a);
    loaded(b);
    KG_UNROLL
    for (int l = 0; l < kWholePacks; ++l) {
      if (pack(l) >= packs) break;
      const Loaded<T> x{whole(a[l], plan.inner, 0), whole(b[l], plan.inner, 1)};
      store<op>(out + pack(l) * kCount, x);
    }
  }
}

// `head` elements precede the first pack boundary of out. No __restrict__: out may be an operand.
// Therefore all loads of a tile come before its first store.
template <Op op, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Operands<T> operands, T* out, Plan plan, int head) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kTile = kMapThreads * kPacks;
  const std::int64_t packs = (plan.size - head) / kCount;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
  std::int64_t tile_end = static_cast<std::int64_t>(blockIdx.x + 1) * kTile;
  const auto index_of = [head](std::int64_t pack) { return head + pack * kCount; };

  for (; tile_end <= packs; first += step, tile_end += step) {
    Loaded<T> x[kPacks];
    KG_UNROLL
    for (int l = 0; l < kPacks; ++l)
      x[l] = load_both(operands, plan, index_of(first + l * kMapThreads));
    KG_UNROLL
    for (int l = 0; l < kPacks; ++l) store<op>(out + index_of(first + l * kMapThreads), x[l]);
  }
  // The last, partial tile: `first` is in range only for the block whose turn it is.
  for (; first < packs && first < tile_end; first += kMapThreads)
    store<op>(out + index_of(first), load_both(operands, plan, index_of(first)));

  // The last block, which has the least work in the loop above, handles head and tail.
  if (blockIdx.x + 1 == gridDim.x) {
    const std::int64_t body = packs * kCount;
    const int edge = static_cast<int>(plan.size - body);
    const int i = static_cast<int>(threadIdx.x);
    if (i < edge) {
      const std::int64_t index = i < head ? i : body + i;
      const Place place = place_of(plan, index);
      out[index] = apply<op>(operands.data[0][place.offset[0]], operands.data[1][place.offset[1]]);
    }
  }
}

namespace {

template <class T>
void require_operand(const char* name, const T* data, bool dense, Shape shape, const T* out,
                     std::int64_t size) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const std::string what = std::string("broadcast: ") + name;
  require_elements(what, data, element_count(shape));
  if (dense)
    require_same_or_apart(what, data, "out", out, size * kBytes);
  else
    require_apart(what, data, element_count(shape) * kBytes, "out", out, size * kBytes);
}

// Whether vectorized_whole applies: no pack of the result crosses a row end, and operands that are
// not repeated along the row are aligned. (Their other strides are whole rows.)
template <class T>
bool has_whole_packs(const Operands<T>& operands, const T* out, const Plan& plan) {
  constexpr int kCount = kPackElements<T>;
  bool whole = plan.inner.extent.value % kCount == 0 && elements_to_boundary(out) == 0;
  for (int k = 0; k < 2; ++k)
    whole = whole && (plan.inner.stride[k] == 0 || elements_to_boundary(operands.data[k]) == 0);
  return whole;
}

template <Op op, class T>
void launch_variant(const Operands<T>& operands, T* out, const Plan& plan, Variant variant,
                    Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(plan.size, kMapThreads),
               "broadcast: " + std::to_string(plan.size) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<op, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, operands, out,
           plan);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacks>(plan.size), .block = kMapThreads, .stream = &stream};
  if (has_whole_packs(operands, out, plan)) {
    launch(vectorized_whole<op, T>, config, operands, out, plan);
    return;
  }
  const int head = static_cast<int>(std::min<std::int64_t>(elements_to_boundary(out), plan.size));
  launch(vectorized<op, T>, config, operands, out, plan, head);
}

} // namespace

template <class T>
Variant run(Op op, const T* a, Shape a_shape, const T* b, Shape b_shape, T* out, Variant variant,
            Stream& stream) {
  const std::vector<std::int64_t> shape = result_shape(a_shape, b_shape);
  variant = resolved(variant);
  if (element_count(shape) == 0) return variant;
  const Plan plan = make_plan(a_shape, b_shape);
  require_elements("broadcast: out", out, plan.size);
  require_operand("a", a, plan.dense[0], a_shape, out, plan.size);
  require_operand("b", b, plan.dense[1], b_shape, out, plan.size);
  const Operands<T> operands{{a, b}};
  switch (op) {
  case Op::add: launch_variant<Op::add>(operands, out, plan, variant, stream); break;
  case Op::sub: launch_variant<Op::sub>(operands, out, plan, variant, stream); break;
  case Op::mul: launch_variant<Op::mul>(operands, out, plan, variant, stream); break;
  case Op::div: launch_variant<Op::div>(operands, out, plan, variant, stream); break;
  }
  return variant;
}

template Variant run(Op, const float*, Shape, const float*, Shape, float*, Variant, Stream&);
template Variant run(Op, const f16*, Shape, const f16*, Shape, f16*, Variant, Stream&);
template Variant run(Op, const bf16*, Shape, const bf16*, Shape, bf16*, Variant, Stream&);

} // namespace kg::broadcast
