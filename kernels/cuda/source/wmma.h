// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// nvcuda::wmma (CUDA C++ Programming Guide, "Warp Matrix Functions"). Shapes 16x16, 32x8 and 8x32
// use the emulator's 16x8 mma, with one of its fragments per tile. 8x32 is computed as its
// transpose: D' = B' A' + C'. For 8x8 doubles, lanes exchange elements. CUDA does not specify which
// lane holds which element.
#pragma once

#include "instructions/tf32.h"
#include "runtime/device_code.h"
#include "runtime/host/matrix.h"
#include "runtime/host/warp.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace nvcuda::wmma {

using kg::Location;

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
} // namespace precision
namespace experimental::precision {
struct u4;
struct s4;
struct b1;
} // namespace experimental::precision

namespace detail {

// The format in which the emulator multiplies elements of T, and the type a fragment stores.
template <class T>
struct Element {
  using Stored = T;
  static constexpr int kDepth = 0; // T cannot be a factor
};
template <class StoredAs, class Multiplied, int Depth>
struct Factor {
  using Stored = StoredAs;
  using Format = Multiplied;
  static constexpr int kDepth = Depth; // K of one mma
  static constexpr int kPerRegister = 4 / static_cast<int>(sizeof(Stored));
};
template <>
struct Element<__half> : Factor<__half, kg::host::Binary16, 16> {};
template <>
struct Element<__nv_bfloat16> : Factor<__nv_bfloat16, kg::host::Bfloat16, 16> {};
template <>
struct Element<precision::tf32> : Factor<float, kg::host::Tf32, 8> {};
template <>
struct Element<signed char> : Factor<signed char, kg::host::Bytes<signed char>, 16> {};
template <>
struct Element<unsigned char> : Factor<unsigned char, kg::host::Bytes<unsigned char>, 16> {};

struct Place {
  int row, column;
};

template <class Use, int M, int N, class T>
struct Layout; // of a fragment: Stored, kElements, place(lane, i)

// A line of a factor is a row of A or a column of B. `First`: whether this is the first factor of
// the emulator's mma, with 16 lines per tile, or the second, with 8 lines.
// kernels/instructions/mma.h says which elements of a tile a lane holds.
template <bool First, int Lines, class T>
struct FactorLayout {
  using Traits = Element<T>;
  using Stored = typename Traits::Stored;
  static constexpr int kOfTile = First ? 16 : 8; // lines
  static constexpr int kTiles = Lines / kOfTile;
  static constexpr int kPer = Traits::kPerRegister;
  static constexpr int kRegisters = kOfTile * Traits::kDepth / 32 / kPer; // per tile
  static constexpr int kElements = kTiles * kRegisters * kPer;

  // Row: the line. Column: the position within the line.
  static constexpr Place place(int lane, int i) {
    const int tile = i / kPer / kRegisters, reg = i / kPer % kRegisters;
    const int step = First ? reg / 2 : reg;
    return {kOfTile * tile + lane / 4 + (First ? reg % 2 * 8 : 0),
            (4 * step + lane % 4) * kPer + i % kPer};
  }
};
template <int M, int N, class T>
struct Layout<matrix_a, M, N, T> : FactorLayout<M != 8, M, T> {};
template <int M, int N, class T>
struct Layout<matrix_b, M, N, T> : FactorLayout<M == 8, N, T> {
  static constexpr Place place(int lane, int i) {
    const Place line = FactorLayout<M == 8, N, T>::place(lane, i);
    return {line.column, line.row};
  }
};
template <int M, int N, class T>
struct Layout<accumulator, M, N, T> {
  using Stored = T;
  static constexpr int kElements = M * N / 32;

  static constexpr Place place(int lane, int i) {
    const int tile = i / 4;
    const int line = lane / 4 + i % 4 / 2 * 8, across = lane % 4 * 2 + i % 2;
    if (M == 16) return {line, 8 * tile + across};
    return M == 32 ? Place{16 * tile + line, across} : Place{across, 16 * tile + line};
  }
};

// Doubles: 8x8, with K = 4.
struct LayoutOfDoubles {
  using Stored = double;
  static constexpr int kElements = 1;
};
template <>
struct Layout<matrix_a, 8, 8, double> : LayoutOfDoubles {
  static constexpr Place place(int lane, int) { return {lane / 4, lane % 4}; }
};
template <>
struct Layout<matrix_b, 8, 8, double> : LayoutOfDoubles {
  static constexpr Place place(int lane, int) { return {lane % 4, lane / 4}; }
};
template <>
struct Layout<accumulator, 8, 8, double> : LayoutOfDoubles {
  static constexpr int kElements = 2;
  static constexpr Place place(int lane, int i) { return {lane / 4, lane % 4 * 2 + i}; }
};

template <class Use, int M, int N, int K, class T>
constexpr bool has_fragment() {
  if (std::is_same_v<T, double>) return M == 8 && N == 8 && K == 4;
  const bool shape = (M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32);
  if constexpr (std::is_same_v<Use, accumulator>)
    return shape &&
           (std::is_same_v<T, float> || std::is_same_v<T, __half> || std::is_same_v<T, int>);
  else
    return shape && K == Element<T>::kDepth &&
           (M == 16 || !std::is_same_v<T, precision::tf32>); // tf32 has one shape
}

template <class T>
inline constexpr bool by_rows = std::is_same_v<T, row_major>;

} // namespace detail

template <class Use, int M, int N, int K, class T, class MemoryLayout = void>
class fragment {
  static_assert(detail::has_fragment<Use, M, N, K, T>(),
                "Kernelgrade: of nvcuda::wmma the CPU emulator runs fragments of f16, bf16, tf32, "
                "double and 8-bit integers, with sums in float, f16, double and int; not this one");

 public:
  using Layout = detail::Layout<Use, M, N, T>;
  using element_type = T;
  using storage_element_type = typename Layout::Stored;
  enum { num_elements = Layout::kElements, num_storage_elements = Layout::kElements };
  storage_element_type x[num_elements];
};

// As in CUDA, a value converts to the stored type, which is not deduced from it.
template <class Use, int M, int N, int K, class T, class L>
void fill_fragment(
    fragment<Use, M, N, K, T, L>& to,
    const std::type_identity_t<typename fragment<Use, M, N, K, T, L>::storage_element_type>&
        value) {
  for (auto& element : to.x) element = value;
}

namespace detail {

// Always inlined, so that checkers and counters attribute the accesses to the kernel.
template <class Fragment, class Visit>
__forceinline__ void each_element(Fragment& of, unsigned lane, unsigned pitch, bool rows,
                                  Visit visit) {
  for (int i = 0; i < Fragment::num_elements; ++i) {
    const Place at = Fragment::Layout::place(static_cast<int>(lane), i);
    visit(of.x[i], static_cast<std::size_t>(rows ? at.row : at.column) * pitch +
                       static_cast<std::size_t>(rows ? at.column : at.row));
  }
}

template <class Fragment>
__forceinline__ void load(Fragment& to, const typename Fragment::storage_element_type* from,
                          unsigned pitch, bool rows, Location where) {
  const unsigned lane = kg::host::lane_of_matrix(from, sizeof *from, pitch * sizeof *from,
                                                 "wmma::load_matrix_sync", where);
  each_element(to, lane, pitch, rows,
               [from](auto& element, std::size_t at) { element = from[at]; });
}

} // namespace detail

template <class Use, int M, int N, int K, class T, class L>
__forceinline__ void load_matrix_sync(
    fragment<Use, M, N, K, T, L>& to,
    const std::type_identity_t<typename fragment<Use, M, N, K, T, L>::storage_element_type>* from,
    unsigned pitch, Location where = Location::here()) {
  static_assert(!std::is_same_v<Use, accumulator>, "an accumulator's layout is an argument");
  detail::load(to, from, pitch, detail::by_rows<L>, where);
}
template <int M, int N, int K, class T>
__forceinline__ void load_matrix_sync(fragment<accumulator, M, N, K, T>& to,
                                      const std::type_identity_t<T>* from, unsigned pitch,
                                      layout_t layout, Location where = Location::here()) {
  detail::load(to, from, pitch, layout == mem_row_major, where);
}

template <int M, int N, int K, class T>
__forceinline__ void
store_matrix_sync(std::type_identity_t<T>* to, const fragment<accumulator, M, N, K, T>& from,
                  unsigned pitch, layout_t layout, Location where = Location::here()) {
  const unsigned lane = kg::host::lane_of_matrix(to, sizeof *to, pitch * sizeof *to,
                                                 "wmma::store_matrix_sync", where);
  detail::each_element(from, lane, pitch, layout == mem_row_major,
                       [to](const auto& element, std::size_t at) { to[at] = element; });
}

// d = a b + c. An f16 accumulator is rounded only once here, after the sum over k.
template <int M, int N, int K, class T, class LayoutOfA, class LayoutOfB, class To, class From>
void mma_sync(fragment<accumulator, M, N, K, To>& d,
              const fragment<matrix_a, M, N, K, T, LayoutOfA>& a,
              const fragment<matrix_b, M, N, K, T, LayoutOfB>& b,
              const fragment<accumulator, M, N, K, From>& c, Location where = Location::here()) {
  using Traits = detail::Element<T>;
  using Sum = typename kg::host::SumOf<typename Traits::Format>::Type;
  static_assert(std::is_same_v<Sum, int> == std::is_same_v<To, int> &&
                    std::is_same_v<To, int> == std::is_same_v<From, int>,
                "integers are added up in int, and nothing else is");
  constexpr bool kTurned = M == 8;
  using OfA = detail::Layout<matrix_a, M, N, T>;
  using OfB = detail::Layout<matrix_b, M, N, T>;
  using First = std::conditional_t<kTurned, OfB, OfA>;
  using Second = std::conditional_t<kTurned, OfA, OfB>;
  unsigned of_a[OfA::kTiles][OfA::kRegisters], of_b[OfB::kTiles][OfB::kRegisters];
  static_assert(sizeof of_a == sizeof a.x && sizeof of_b == sizeof b.x);
  std::memcpy(of_a, a.x, sizeof of_a);
  std::memcpy(of_b, b.x, sizeof of_b);
  const unsigned* const first = kTurned ? of_b[0] : of_a[0];
  const unsigned* const second = kTurned ? of_a[0] : of_b[0];
  for (int down = 0; down < First::kTiles; ++down)
    for (int across = 0; across < Second::kTiles; ++across) {
      const int at = 4 * (down * Second::kTiles + across);
      Sum sum[4];
      for (int i = 0; i < 4; ++i) sum[i] = static_cast<Sum>(c.x[at + i]);
      kg::host::multiply_matrices<typename Traits::Format, Traits::kDepth>(
          sum, first + down * First::kRegisters, second + across * Second::kRegisters,
          "wmma::mma_sync", where);
      for (int i = 0; i < 4; ++i) d.x[at + i] = static_cast<To>(sum[i]);
    }
}

template <class LayoutOfA, class LayoutOfB>
void mma_sync(fragment<accumulator, 8, 8, 4, double>& d,
              const fragment<matrix_a, 8, 8, 4, double, LayoutOfA>& a,
              const fragment<matrix_b, 8, 8, 4, double, LayoutOfB>& b,
              const fragment<accumulator, 8, 8, 4, double>& c, Location where = Location::here()) {
  const unsigned lane =
      kg::host::running_block("wmma::mma_sync", where).lane(); // its row of a, its columns of b
  const unsigned row = lane / 4, column = lane % 4 * 2;
  const auto of = [where](double mine, unsigned source) {
    return kg::host::exchange(~0u, mine, source, "wmma::mma_sync", where);
  };
  double sum[2] = {c.x[0], c.x[1]};
  for (unsigned k = 0; k < 4; ++k) {
    const double factor = of(a.x[0], 4 * row + k);
    for (unsigned i = 0; i < 2; ++i)
      sum[i] = std::fma(factor, of(b.x[0], 4 * (column + i) + k), sum[i]);
  }
  d.x[0] = sum[0];
  d.x[1] = sum[1];
}

__device__ inline float __float_to_tf32(float value) {
  return std::bit_cast<float>(kg::ptx::to_tf32(value));
}

} // namespace nvcuda::wmma
