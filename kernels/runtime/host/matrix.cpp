// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/matrix.h"

#include "runtime/host/bfloat16.h"
#include "runtime/host/fidelity.h"
#include "runtime/host/half.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <type_traits>

namespace kg::host {
namespace {

// One lane's call, and the result of the warp's collective.
struct Call {
  Location where;
  unsigned lanes = 0; // participating lanes
  Location elsewhere; // another lane's call site; no line if all agree
};

// Whether all lanes participate, from one call site.
template <class Operands>
bool complete(void* const* payload, unsigned lanes) {
  const auto call = [&](unsigned lane) -> Call& { return *static_cast<Operands*>(payload[lane]); };
  const unsigned first = static_cast<unsigned>(std::countr_zero(lanes));
  bool same = true;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    Call& mine = call(static_cast<unsigned>(std::countr_zero(rest)));
    mine.lanes = lanes;
    if (same_place(mine.where, call(first).where)) continue;
    same = false;
    call(first).elsewhere = mine.where;
    mine.elsewhere = call(first).where;
  }
  return same && lanes == ~0u;
}

template <class Operands>
void execute(Operands& operands, Resolve resolve, const char* name, Location where) {
  Block& block = running_block(name, where);
  operands.where = where;
  block.collective(~0u, &operands, resolve, name, where);
  const Call& call = operands;
  if (call.elsewhere.line != 0) {
    block.trap(fmt::format("{} here, while other lanes of the warp call it at {}:{}; all 32 must "
                           "execute the same instruction",
                           name, call.elsewhere.file, call.elsewhere.line),
               where);
  }
  if (call.lanes != ~0u) {
    block.trap(fmt::format("{} by {} lanes of the warp; all 32 must execute it", name,
                           std::popcount(call.lanes)),
               where);
  }
}

struct Load : Call {
  MatrixRow row;
  unsigned matrices;
  unsigned* fragment;
};

template <bool kTransposed>
void resolve_load(void* const* payload, unsigned lanes) {
  if (!complete<Load>(payload, lanes)) return;
  unsigned short element[32][8]; // by the lane that supplied the row
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    std::memcpy(element[lane], &static_cast<Load*>(payload[lane])->row, sizeof element[lane]);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const Load& mine = *static_cast<Load*>(payload[lane]);
    const unsigned line = lane / 4;
    const unsigned within = lane % 4 * 2;
    for (unsigned i = 0; i < mine.matrices; ++i) {
      const auto at = [&](unsigned k) -> unsigned {
        return kTransposed ? element[8 * i + within + k][line] : element[8 * i + line][within + k];
      };
      mine.fragment[i] = at(0) | at(1) << 16;
    }
  }
}

struct Store : Call {
  const unsigned* fragment;
  unsigned matrices;
  MatrixRow row{};
};

template <bool kTransposed>
void resolve_store(void* const* payload, unsigned lanes) {
  if (!complete<Store>(payload, lanes)) return;
  const auto element = [&](unsigned matrix, unsigned line, unsigned within) {
    const Store& holder = *static_cast<Store*>(payload[4 * line + within / 2]);
    return static_cast<unsigned short>(holder.fragment[matrix] >> (within % 2 * 16));
  };
  const unsigned matrices = static_cast<Store*>(payload[0])->matrices;
  for (unsigned lane = 0; lane < 8 * matrices; ++lane) {
    unsigned short row[8];
    for (unsigned k = 0; k < 8; ++k)
      row[k] = kTransposed ? element(lane / 8, k, lane % 8) : element(lane / 8, lane % 8, k);
    std::memcpy(&static_cast<Store*>(payload[lane])->row, row, sizeof row);
  }
}

template <class Format>
using Sum = typename SumOf<Format>::Type;

template <class Format>
struct Product : Call {
  const unsigned* a;
  const unsigned* b;
  Sum<Format>* sum;
};

template <class Format>
constexpr int kPerRegister = 4 / static_cast<int>(sizeof(typename Format::Raw));

template <class Format>
Sum<Format> element(unsigned word, int i) {
  if constexpr (std::is_same_v<Sum<Format>, int>)
    return static_cast<typename Format::Raw>(word >> 8 * i);
  else if constexpr (kPerRegister<Format> == 1)
    return Format::to_float(word);
  else
    return Format::to_float(static_cast<unsigned short>(word >> 16 * i));
}

float sum_of(float sum, float a, float b) { return sum + a * b; }
int sum_of(int sum, int a, int b) {
  return static_cast<int>(static_cast<unsigned>(sum) + static_cast<unsigned>(a * b));
}
// f32 arithmetic on a GPU produces a single NaN value (runtime/ptx/prelude.h).
float with_one_nan(float value) {
  return value == value ? value : std::bit_cast<float>(0x7fffffffu);
}
int with_one_nan(int value) { return value; }

// Fragments as in the PTX ISA. A register holds 1, 2 or 4 elements adjacent in k; a step is the
// part of k that the 4 lanes of a row hold in one register. Lane 4 r + c holds: of A, per step, one
// register of row r and one of row r + 8; of B, per step, one register of column r; of the sum,
// elements 2 c and 2 c + 1 of row r, then of row r + 8.
template <class Format, int kDepth>
void resolve_product(void* const* payload, unsigned lanes) {
  if (!complete<Product<Format>>(payload, lanes)) return;
  constexpr int kStep = 4 * kPerRegister<Format>;
  Sum<Format> a[16][kDepth];
  Sum<Format> b[kDepth][8];
  Sum<Format> sum[16][8];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const auto& mine = *static_cast<Product<Format>*>(payload[lane]);
    const unsigned line = lane / 4;
    for (int step = 0; step < kDepth / kStep; ++step) {
      for (int i = 0; i < kPerRegister<Format>; ++i) {
        const int k = step * kStep + static_cast<int>(lane % 4) * kPerRegister<Format> + i;
        a[line][k] = element<Format>(mine.a[2 * step], i);
        a[line + 8][k] = element<Format>(mine.a[2 * step + 1], i);
        b[k][line] = element<Format>(mine.b[step], i);
      }
    }
    for (unsigned i = 0; i < 4; ++i) sum[line + i / 2 * 8][lane % 4 * 2 + i % 2] = mine.sum[i];
  }
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < kDepth; ++k)
      for (int column = 0; column < 8; ++column)
        sum[row][column] = sum_of(sum[row][column], a[row][k], b[k][column]);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const auto& mine = *static_cast<Product<Format>*>(payload[lane]);
    for (unsigned i = 0; i < 4; ++i)
      mine.sum[i] = with_one_nan(sum[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
  }
}

struct Whole : Call {
  const void* first;
  std::size_t row_bytes;
  bool alike = true;
};

void resolve_whole(void* const* payload, unsigned lanes) {
  if (!complete<Whole>(payload, lanes)) return;
  const Whole& first = *static_cast<Whole*>(payload[0]);
  for (unsigned lane = 1; lane < kWarpSize; ++lane) {
    Whole& mine = *static_cast<Whole*>(payload[lane]);
    mine.alike = mine.first == first.first && mine.row_bytes == first.row_bytes;
  }
}

} // namespace

void misaligned_matrix_row(const char* name, Location where) {
  running_block(name, where)
      .trap(fmt::format("{}: the address of a row is not aligned to {} bytes", name,
                        sizeof(MatrixRow)),
            where);
}

void distribute_matrices(unsigned* fragment, const MatrixRow& row, unsigned matrices,
                         bool transposed, const char* name, Location where) {
  Load load{{}, row, matrices, fragment};
  execute(load, transposed ? &resolve_load<true> : &resolve_load<false>, name, where);
}

MatrixRow collect_matrices(const unsigned* fragment, unsigned matrices, bool transposed,
                           const char* name, Location where) {
  Store store{{}, fragment, matrices};
  execute(store, transposed ? &resolve_store<true> : &resolve_store<false>, name, where);
  return store.row;
}

float Tf32::to_float(unsigned bits) { return std::bit_cast<float>(bits & ~0x1fffu); }

unsigned lane_of_matrix(const void* first, std::size_t element_bytes, std::size_t row_bytes,
                        const char* name, Location where) {
  Whole whole{{}, first, row_bytes};
  execute(whole, &resolve_whole, name, where);
  Block& block = running_block(name, where);
  if (!whole.alike)
    block.trap(fmt::format("{}: not all lanes of the warp name the same matrix", name), where);
  constexpr std::size_t kRow = 16;
  const std::size_t alignment = element_bytes == 1 ? 16 : 32;
  if (reinterpret_cast<std::uintptr_t>(first) % alignment != 0)
    block.trap(
        fmt::format("{}: the address of the matrix is not aligned to {} bytes", name, alignment),
        where);
  if (row_bytes % kRow != 0)
    block.trap(fmt::format("{}: rows lie {} bytes apart, which is not a multiple of {}", name,
                           row_bytes, kRow),
               where);
  return block.lane();
}

template <class Format, int kDepth>
void multiply_matrices(Sum<Format>* sum, const unsigned* a, const unsigned* b, const char* name,
                       Location where) {
  if constexpr (std::is_same_v<Sum<Format>, float>) note_inexact(inexact("mma"));
  Product<Format> product{{}, a, b, sum};
  execute(product, &resolve_product<Format, kDepth>, name, where);
}

template void multiply_matrices<Binary16, 16>(float*, const unsigned*, const unsigned*, const char*,
                                              Location);
template void multiply_matrices<Bfloat16, 16>(float*, const unsigned*, const unsigned*, const char*,
                                              Location);
template void multiply_matrices<Binary16, 8>(float*, const unsigned*, const unsigned*, const char*,
                                             Location);
template void multiply_matrices<Tf32, 8>(float*, const unsigned*, const unsigned*, const char*,
                                         Location);
template void multiply_matrices<Bytes<signed char>, 16>(int*, const unsigned*, const unsigned*,
                                                        const char*, Location);
template void multiply_matrices<Bytes<signed char>, 32>(int*, const unsigned*, const unsigned*,
                                                        const char*, Location);
template void multiply_matrices<Bytes<unsigned char>, 16>(int*, const unsigned*, const unsigned*,
                                                          const char*, Location);

} // namespace kg::host
