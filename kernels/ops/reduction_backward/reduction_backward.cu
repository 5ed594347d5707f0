// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: size_of(T) per element of dx and of dy, and per element of x for an extremum, plus 4 bytes
// per result for its position. Expected on an H200: write bandwidth, 4.3 TB/s and more, for sums
// and means; for extrema the bandwidth of a sum over x, then write bandwidth.
//
// Threads take packs of dx across row ends (primitives/write_packs.h). Their coordinates take two
// divisions by numbers known to the host, about 30 instructions per 16 bytes. After its first use
// dy comes from the caches. If each result covers whole contiguous packs, a separate kernel takes
// one integer division per pack and one division of its gradient. It loads the gradients of four
// packs before it stores the first: 173 instructions per 2 KiB in bf16. An earlier kernel had two
// packs, waited for each gradient in turn and divided for each element. It reached 51 % of copy
// bandwidth on an H200 in bf16 and 86 % in f32; the current one is not measured.
//
// Why a separate launch finds the extrema: a result with a long axis needs many blocks to find its
// position, and all of them would have to wait for it. Two launches avoid that wait.
#include "ops/reduction_backward/reduction_backward.h"

#include "ops/argmax/largest_first.h"
#include "ops/reduction/launches.h"
#include "primitives/divisor.h"
#include "primitives/stored_pack.h"
#include "primitives/write_packs.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>
#include <string>

namespace kg::reduction_backward {

constexpr int kPacks = 2;    // computed by a thread before it stores the first
constexpr int kRowPacks = 4; // for rows of whole packs

// The order of argmax; minima negate the elements.
struct FirstExtremum : argmax::LargestFirst {
  float sign = 1; // -1 for minima

  FirstExtremum partial() const { return *this; }
  using LargestFirst::from; // for keys
  template <class T>
  __device__ __forceinline__ Accumulator from(T element, std::int64_t index) const {
    return LargestFirst::from(sign * to_float(element), index);
  }
};

template <class T>
struct Problem {
  const T* dy;
  const std::int32_t* places; // of extrema: indices along the axis
  T* dx;
  std::int64_t size; // of dx
  std::int64_t axis;
  Divisor inner;
  Divisor slice;     // axis x inner
  float divisor = 1; // axis for a mean
};

// The coordinates of an element of dx.
struct Coordinates {
  std::int64_t outer, axis, inner;
};

template <class T>
__device__ inline Coordinates coordinates_of(const Problem<T>& problem, std::int64_t index) {
  const std::int64_t outer = problem.slice.quotient(index);
  const std::int64_t rest = index - outer * problem.slice.value;
  const std::int64_t axis = problem.inner.quotient(rest);
  return {outer, axis, rest - axis * problem.inner.value};
}

// Advances to the next element of dx.
template <class T>
__device__ inline void advance(const Problem<T>& problem, Coordinates& at) {
  if (++at.inner < problem.inner.value) return;
  at.inner = 0;
  if (++at.axis < problem.axis) return;
  at.axis = 0;
  ++at.outer;
}

template <class T>
__device__ inline std::int64_t result_of(const Problem<T>& problem, const Coordinates& at) {
  return at.outer * problem.inner.value + at.inner;
}

// The gradient of a result at index `axis`; `place` is the extremum's index. Always inline: g++
// does not instrument loads and stores of class-type arguments and results.
template <bool extremum, class T>
__device__ __forceinline__ T share(T dy, std::int32_t place, std::int64_t axis, float divisor) {
  if constexpr (extremum)
    return place == axis ? dy : from_float<T>(0.0f);
  else
    return from_float<T>(to_float(dy) / divisor);
}

template <bool extremum, class T>
__device__ __forceinline__ T element_at(const Problem<T>& problem, const Coordinates& at) {
  const std::int64_t result = result_of(problem, at);
  return share<extremum>(problem.dy[result], extremum ? problem.places[result] : 0, at.axis,
                         problem.divisor);
}

template <bool extremum, class T>
__global__ void __launch_bounds__(kMapThreads) naive(Problem<T> problem) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < problem.size) problem.dx[i] = element_at<extremum>(problem, coordinates_of(problem, i));
}

// A pack for neighbouring results from `result` on, at one index of the axis.
template <bool extremum, class T>
__device__ inline Pack<T, kPackElements<T>> side_by_side(const Problem<T>& problem,
                                                         std::int64_t result, std::int64_t axis) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kPlaces = kPackElements<std::int32_t>;
  auto pack = *reinterpret_cast<const Pack<T, kCount>*>(problem.dy + result);
  KG_UNROLL
  for (int first = 0; first < kCount; first += kPlaces) {
    Pack<std::int32_t, kPlaces> places{};
    if constexpr (extremum)
      places =
          *reinterpret_cast<const Pack<std::int32_t, kPlaces>*>(problem.places + result + first);
    KG_UNROLL
    for (int e = 0; e < kPlaces; ++e)
      pack.element[first + e] =
          share<extremum>(pack.element[first + e], places.element[e], axis, problem.divisor);
  }
  return pack;
}

// A pack for one result from index `axis` on. Divides once; nvcc would divide for each element.
template <bool extremum, class T>
__device__ __forceinline__ Pack<T, kPackElements<T>> pack_of_one(T dy, std::int32_t place,
                                                                 std::int64_t axis, float divisor) {
  if constexpr (!extremum) dy = share<extremum>(dy, place, axis, divisor);
  Pack<T, kPackElements<T>> pack;
  KG_UNROLL
  for (int e = 0; e < kPackElements<T>; ++e)
    pack.element[e] = extremum ? share<extremum>(dy, place, axis + e, divisor) : dy;
  return pack;
}

// The pack of dx that begins at `index`.
template <bool extremum, class T>
__device__ inline Pack<T, kPackElements<T>> pack_at(const Problem<T>& problem, std::int64_t index) {
  constexpr int kCount = kPackElements<T>;
  Coordinates at = coordinates_of(problem, index);
  const std::int64_t result = result_of(problem, at);
  if (at.inner + kCount <= problem.inner.value && elements_to_boundary(problem.dy + result) == 0 &&
      (!extremum || elements_to_boundary(problem.places + result) == 0))
    return side_by_side<extremum>(problem, result, at.axis);
  if (problem.inner.value == 1 && at.axis + kCount <= problem.axis) {
    const T dy = problem.dy[result];
    const std::int32_t place = extremum ? problem.places[result] : 0;
    return pack_of_one<extremum>(dy, place, at.axis, problem.divisor);
  }
  Pack<T, kCount> pack;
  KG_UNROLL
  for (int e = 0; e < kCount; ++e) {
    pack.element[e] = element_at<extremum>(problem, at);
    if (e + 1 < kCount) advance(problem, at);
  }
  return pack;
}

// For results whose rows consist of `row` whole aligned packs.
template <bool extremum, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized_rows(Problem<T> problem, Divisor row) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = problem.size / kCount;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kMapThreads;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kMapThreads + threadIdx.x;
  for (; first < packs; first += kRowPacks * step) {
    const auto number = [&](int l) { return first + l * step; };
    StoredPack<T, 1> dy[kRowPacks];
    std::int32_t place[kRowPacks] = {};
    KG_UNROLL
    for (int l = 0; l < kRowPacks; ++l) {
      if (number(l) >= packs) break;
      const std::int64_t result = row.quotient(number(l));
      dy[l].load(problem.dy + result);
      if constexpr (extremum) place[l] = problem.places[result];
    }
    loaded(dy);
    KG_UNROLL
    for (int l = 0; l < kRowPacks; ++l) {
      if (number(l) >= packs) break;
      const std::int64_t axis = (number(l) - row.quotient(number(l)) * row.value) * kCount;
      const Pack<T, kCount> pack =
          pack_of_one<extremum>(dy[l].pack().element[0], place[l], axis, problem.divisor);
      store_wide(reinterpret_cast<Pack<T, kCount>*>(problem.dx) + number(l), pack);
    }
  }
}

template <bool extremum, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Problem<T> problem, int head) {
  using Chunk = Pack<T, kPackElements<T>>;
  write_packs<kPacks>(
      problem.dx, problem.size, head,
      [&](std::int64_t index) { return pack_at<extremum>(problem, index); },
      [](const Chunk& pack) { return pack; },
      [&](std::int64_t index) {
        return element_at<extremum>(problem, coordinates_of(problem, index));
      });
}

namespace {

bool is_extremum(Op op) { return op == Op::max || op == Op::min; }

reduction::Variant search(Variant variant) {
  return variant == Variant::naive ? reduction::Variant::naive : reduction::Variant::tiled;
}

// Bytes for the results' positions, aligned to 16; the search's partial results follow them.
std::size_t places_bytes(const Extents& extents) {
  const std::int64_t bytes = extents[0] * extents[2] * std::int64_t{sizeof(std::int32_t)};
  return static_cast<std::size_t>(div_up(bytes, kPackBytes) * kPackBytes);
}

template <bool extremum, class T>
void launch_variant(const Problem<T>& problem, Variant variant, Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(problem.size, kMapThreads),
               "reduction_backward: " + std::to_string(problem.size) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<extremum, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, problem);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacks>(problem.size), .block = kMapThreads, .stream = &stream};
  const int head =
      static_cast<int>(std::min<std::int64_t>(elements_to_boundary(problem.dx), problem.size));
  if (problem.inner.value == 1 && problem.axis % kPackElements<T> == 0 && head == 0) {
    launch(vectorized_rows<extremum, T>, config, problem, Divisor(problem.axis / kPackElements<T>));
    return;
  }
  launch(vectorized<extremum, T>, config, problem, head);
}

template <class T>
void require_arrays(Op op, const Extents& extents, const Arrays<T>& arrays) {
  const std::int64_t results = extents[0] * extents[2];
  const std::int64_t size = results * extents[1];
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  require_elements("reduction_backward: dy", arrays.dy, results);
  require_elements("reduction_backward: dx", arrays.dx, size);
  require_apart("reduction_backward: dy", arrays.dy, results * kBytes, "dx", arrays.dx,
                size * kBytes);
  if (!is_extremum(op)) return;
  require_elements("reduction_backward: x", arrays.x, size);
  require_same_or_apart("reduction_backward: x", arrays.x, "dx", arrays.dx, size * kBytes);
}

} // namespace

template <class T>
std::size_t workspace_bytes(Op op, const Extents& extents, Variant variant) {
  if (!is_extremum(op)) return 0;
  return places_bytes(extents) + reduction::partial_bytes<FirstExtremum::Accumulator>(
                                     reduction::packed<T>(nullptr, extents), search(variant));
}

template <class T>
Variant run(Op op, const Extents& extents, const Arrays<T>& arrays, void* workspace,
            Variant variant, Stream& stream) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto& [outer, axis, inner] = extents;
  const View<const T, 3> x = reduction::packed(arrays.x, extents);
  reduction::require_input("reduction_backward", x);
  variant = resolved(variant);
  if (x.size() == 0) return variant;
  require_arrays(op, extents, arrays);
  Problem<T> problem{.dy = arrays.dy,
                     .places = nullptr,
                     .dx = arrays.dx,
                     .size = x.size(),
                     .axis = axis,
                     .inner = Divisor(inner),
                     .slice = Divisor(axis * inner)};
  if (!is_extremum(op)) {
    if (op == Op::mean) problem.divisor = static_cast<float>(axis);
    launch_variant<false>(problem, variant, stream);
    return variant;
  }
  require(axis <= kMost, "reduction_backward: x is " + reduction::text(extents) +
                             "; the axis must have at most " + std::to_string(kMost) + " elements");
  require(workspace != nullptr, "reduction_backward: workspace is null; pass workspace_bytes() = " +
                                    std::to_string(workspace_bytes<T>(op, extents, variant)) +
                                    " bytes of device memory");
  auto* const places = static_cast<std::int32_t*>(workspace);
  FirstExtremum order;
  if (op == Op::min) order.sign = -1;
  reduction::launch_variant(order, x, places,
                            static_cast<unsigned char*>(workspace) + places_bytes(extents),
                            search(variant), stream);
  problem.places = places;
  launch_variant<true>(problem, variant, stream);
  return variant;
}

Work work(Op op, Dtype dtype, const Extents& extents) {
  const double results = static_cast<double>(extents[0]) * static_cast<double>(extents[2]);
  const double elements = results * static_cast<double>(extents[1]);
  return {.bytes = static_cast<double>(size_of(dtype)) *
                   ((is_extremum(op) ? 2 : 1) * elements + results),
          .written = static_cast<double>(size_of(dtype)) * elements,
          .flops = elements};
}

template std::size_t workspace_bytes<float>(Op, const Extents&, Variant);
template std::size_t workspace_bytes<f16>(Op, const Extents&, Variant);
template std::size_t workspace_bytes<bf16>(Op, const Extents&, Variant);

template Variant run(Op, const Extents&, const Arrays<float>&, void*, Variant, Stream&);
template Variant run(Op, const Extents&, const Arrays<f16>&, void*, Variant, Stream&);
template Variant run(Op, const Extents&, const Arrays<bf16>&, void*, Variant, Stream&);

} // namespace kg::reduction_backward
