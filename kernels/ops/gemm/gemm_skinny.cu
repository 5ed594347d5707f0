// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant skinny, for a C of at most 8 columns or rows, including matrix-vector products. The
// tall operand, which has C's long side, is read once, 16 bytes at a time, straight into registers.
// The thin operand stays in the caches. A wider C is computed 8 columns, or rows, at a time.
//
// If the tall operand is contiguous along k, a warp takes 4 of its lines; lanes accumulate the
// products with all 8 lines of the thin operand in registers, then across lanes. If it is
// contiguous along m or n, a thread takes one vector and 4 of 128 steps of k at a time. The sums of
// 32 threads are added in a fixed order. In both cases a block shares slices of the thin operand in
// shared memory, as floats, contiguous along k. Slices are double-buffered with one barrier each,
// and loads of the tall operand are issued before a slice is copied.
//
// Bytes: the tall operand once; the thin one, from the caches, once per 32 lines (or per 128 bytes
// of a line). Flops: 2 m n k, 16 per element of the tall operand. Expected on an H200, not
// measured: 80 to 90 % of copy bandwidth from 32 MiB on; 60 to 70 % with 8 columns of 16-bit
// elements, limited by issue slots. Why not mma: a tile of 128 columns for 8 is 15/16 padding, and
// n = 4096 gives only 32 blocks.
#include "ops/gemm/finish.h"
#include "ops/gemm/variants.h"

#include "primitives/row.h"
#include "primitives/warp.h"
#include "runtime/launch.h"

#include <algorithm>

namespace kg::gemm {

inline constexpr int kSkinnyThreads = 256;
inline constexpr int kSkinnyWarps = kSkinnyThreads / kLanes;
inline constexpr int kLines = 4; // of the tall operand, per warp
// Vectors of each line in a slice, per lane; for 8 elements, more would exceed the registers.
template <int Count>
inline constexpr int kPacks = Count == 8 ? 1 : 2;
inline constexpr int kAcross = 8; // neighbouring threads in a line along m or n
inline constexpr int kLayers = kSkinnyThreads / kAcross;
inline constexpr int kLoads = 4; // steps of k per thread and slice, along m or n

// The operands by shape. C, or its transpose, is outer x inner.
template <class T>
struct Sides {
  const T* tall;
  std::int64_t leading; // elements between its lines
  std::int64_t tall_stride;
  const T* thin;
  std::int64_t step_k, step_inner;
  std::int64_t thin_stride;
  std::int64_t outer, inner;
  bool tall_is_a;
  unsigned outer_blocks = 1, inner_blocks = 1;
};

// The first element of the block's part of C.
struct Corner {
  std::int64_t product, outer, inner;
};
template <int kOuter, int kInner, class T>
__device__ __forceinline__ Corner corner(const Sides<T>& s) {
  const unsigned line = blockIdx.x / s.outer_blocks;
  return {line / s.inner_blocks, std::int64_t{blockIdx.x % s.outer_blocks} * kOuter,
          std::int64_t{line % s.inner_blocks} * kInner};
}

template <class T>
__device__ __forceinline__ void finish_one(const BasicProblem<T>& p, const Sides<T>& s,
                                           std::int64_t product, std::int64_t outer,
                                           std::int64_t inner, float sum) {
  if (outer >= s.outer || inner >= s.inner) return;
  finish<1>(p, product, s.tall_is_a ? outer : inner, s.tall_is_a ? inner : outer, Floats<1>{{sum}});
}

// Vector number `pack` of a line of the tall operand, unconverted, which takes half the registers
// of its floats. Elements past the end of the line are 0.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> load_raw(const T* line, std::int64_t pack,
                                                   std::int64_t elements) {
  const std::int64_t first = pack * Count;
  if (first + Count <= elements) return *reinterpret_cast<const Pack<T, Count>*>(line + first);
  Pack<T, Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    result.element[e] = first + e < elements ? line[first + e] : from_float<T>(0);
  return result;
}

template <class T, int Count>
__device__ __forceinline__ Floats<Count> floats_of(const Pack<T, Count>& pack) {
  Floats<Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) result.value[e] = to_float(pack.element[e]);
  return result;
}

// A slice of the thin operand in shared memory: kInner lines of kDepth along k, in vectors of
// Count. For vectors of 8, all second halves follow all first halves, so that neighbouring lanes
// read neighbouring 16 bytes. Lines are 4 or 20 floats modulo 32 apart, and halves 16, so that
// stores along either dimension have few bank conflicts.
template <int Depth, int Count, int kInner>
struct ThinSlice {
  static constexpr int kDepth = Depth;
  static constexpr int kQuad = Count < 4 ? Count : 4;
  static constexpr int kHalf = Count == 8 ? kDepth / 2 + 16 : 0;
  static constexpr int kPitch = kDepth + (Count == 8 ? 16 : 0) + 4;
  static constexpr int kFloats = kInner * kPitch;

  __device__ static constexpr int place(int inner, int k) {
    return inner * kPitch + k % Count / kQuad * kHalf + k / Count * kQuad + k % kQuad;
  }

  // Copies the slice starting at (k, 0), of which `depth` steps and `columns` lines exist; the rest
  // is filled with 0.
  template <class T>
  __device__ __forceinline__ static void copy(const T* from, const Sides<T>& s, std::int64_t depth,
                                              std::int64_t columns, float* slice) {
    const bool along_k = s.step_k == 1;
    for (int i = static_cast<int>(threadIdx.x); i < kInner * kDepth; i += kSkinnyThreads) {
      const int k = along_k ? i % kDepth : i / kInner;
      const int inner = along_k ? i / kDepth : i % kInner;
      const bool exists = k < depth && inner < columns;
      slice[place(inner, k)] = exists ? to_float(from[k * s.step_k + inner * s.step_inner]) : 0.0f;
    }
  }

  __device__ __forceinline__ static Floats<Count> load(const float* slice, int inner, int pack) {
    Floats<Count> result;
    KG_UNROLL
    for (int e = 0; e < Count; e += kQuad) {
      const float* const from = slice + place(inner, pack * Count + e);
      if constexpr (kQuad == 4) {
        const float4 quad = *reinterpret_cast<const float4*>(from);
        result.value[e + 0] = quad.x;
        result.value[e + 1] = quad.y;
        result.value[e + 2] = quad.z;
        result.value[e + 3] = quad.w;
      } else {
        result.value[e] = *from;
      }
    }
    return result;
  }
};

template <int Count, int kInner>
using LinesSlice = ThinSlice<kPacks<Count> * kLanes * Count, Count, kInner>;

// For a tall operand contiguous along k.
template <class T, int Count, int kInner>
__global__ void __launch_bounds__(kSkinnyThreads, 2) skinny_lines(BasicProblem<T> p, Sides<T> s) {
  using Slice = LinesSlice<Count, kInner>;
  const Corner at = corner<kLines * kSkinnyWarps, kInner>(s);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t first = at.outer + static_cast<int>(threadIdx.x) / kLanes * kLines;
  const T* line[kLines]; // past the end: the last line again
  KG_UNROLL
  for (int i = 0; i < kLines; ++i) {
    const std::int64_t outer = first + i < s.outer ? first + i : s.outer - 1;
    line[i] = s.tall + at.product * s.tall_stride + outer * s.leading;
  }
  const T* const thin = s.thin + at.product * s.thin_stride + at.inner * s.step_inner;

  float sum[kLines][kInner] = {};
  int buffer = 0;
  for (std::int64_t k = 0; k < p.k; k += Slice::kDepth) {
    Pack<T, Count> tall[kPacks<Count>][kLines];
    KG_UNROLL
    for (int pack = 0; pack < kPacks<Count>; ++pack) {
      KG_UNROLL
      for (int i = 0; i < kLines; ++i)
        tall[pack][i] = load_raw<T, Count>(line[i], k / Count + pack * kLanes + lane, p.k);
    }
    float* const slice = dynamic_shared<float>() + buffer * Slice::kFloats;
    Slice::copy(thin + k * s.step_k, s, p.k - k, s.inner - at.inner, slice);
    __syncthreads();
    KG_UNROLL
    for (int pack = 0; pack < kPacks<Count>; ++pack) {
      Floats<Count> own[kLines];
      KG_UNROLL
      for (int i = 0; i < kLines; ++i) own[i] = floats_of(tall[pack][i]);
      KG_UNROLL
      for (int inner = 0; inner < kInner; ++inner) {
        const Floats<Count> factor = Slice::load(slice, inner, pack * kLanes + lane);
        KG_UNROLL
        for (int i = 0; i < kLines; ++i) {
          KG_UNROLL
          for (int e = 0; e < Count; ++e)
            sum[i][inner] = fmaf(own[i].value[e], factor.value[e], sum[i][inner]);
        }
      }
    }
    buffer = 1 - buffer;
  }

  static_assert(kLines * kInner <= kLanes, "a lane finishes one element");
  float own = 0;
  KG_UNROLL
  for (int i = 0; i < kLines; ++i) {
    KG_UNROLL
    for (int inner = 0; inner < kInner; ++inner) {
      const float total = warp_sum(sum[i][inner]);
      if (lane == i * kInner + inner) own = total;
    }
  }
  if (lane < kLines * kInner)
    finish_one(p, s, at.product, first + lane / kInner, at.inner + lane % kInner, own);
}

// A warp's sums in shared memory: kInner lines along m or n, 4 or 12 floats modulo 32 apart. In a
// line of 64 the second half is shifted by 4 floats, so that vectors of 8 begin in different banks.
template <int Count, int kInner>
struct WarpSums {
  static constexpr int kOuter = kAcross * Count;
  static constexpr int kPitch = kOuter + 4;
  static constexpr int kFloats = kInner * kPitch;

  __device__ static constexpr int place(int inner, int outer) {
    return inner * kPitch + outer + outer / 32 * 4;
  }
};

template <int kInner>
using PacksSlice = ThinSlice<kLayers * kLoads, 1, kInner>;

// For a tall operand contiguous along m or n.
template <class T, int Count, int kInner>
__global__ void __launch_bounds__(kSkinnyThreads, 2) skinny_packs(BasicProblem<T> p, Sides<T> s) {
  using Slice = PacksSlice<kInner>;
  using Sums = WarpSums<Count, kInner>;
  const Corner at = corner<Sums::kOuter, kInner>(s);
  const int thread = static_cast<int>(threadIdx.x);
  const int layer = thread / kAcross;
  const std::int64_t pack = at.outer / Count + thread % kAcross;
  const T* const lines = s.tall + at.product * s.tall_stride + layer * kLoads * s.leading;
  const T* const thin = s.thin + at.product * s.thin_stride + at.inner * s.step_inner;

  float sum[kInner][Count] = {};
  int buffer = 0;
  for (std::int64_t k = 0; k < p.k; k += Slice::kDepth) {
    Pack<T, Count> tall[kLoads];
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) {
      const std::int64_t exist = k + layer * kLoads + l < p.k ? s.outer : 0; // of the line
      tall[l] = load_raw<T, Count>(lines + (k + l) * s.leading, pack, exist);
    }
    float* const slice = dynamic_shared<float>() + buffer * Slice::kFloats;
    Slice::copy(thin + k * s.step_k, s, p.k - k, s.inner - at.inner, slice);
    __syncthreads();
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) {
      const Floats<Count> own = floats_of(tall[l]);
      KG_UNROLL
      for (int inner = 0; inner < kInner; ++inner) {
        const float factor = Slice::load(slice, inner, layer * kLoads + l).value[0];
        KG_UNROLL
        for (int e = 0; e < Count; ++e) sum[inner][e] = fmaf(own.value[e], factor, sum[inner][e]);
      }
    }
    buffer = 1 - buffer;
  }

  __syncthreads(); // sums reuse the memory of the slices
  float* const of_warps = dynamic_shared<float>();
  const int lane = thread % kLanes;
  KG_UNROLL
  for (int i = 0; i < kInner; ++i) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      float total = sum[i][e];
      KG_UNROLL
      for (int step = kAcross; step < kLanes; step *= 2)
        total += __shfl_xor_sync(kAllLanes, total, step);
      if (lane < kAcross)
        of_warps[thread / kLanes * Sums::kFloats + Sums::place(i, lane * Count + e)] = total;
    }
  }
  __syncthreads();
  // Neighbouring threads write neighbouring elements of C.
  for (int i = thread; i < kInner * Sums::kOuter; i += kSkinnyThreads) {
    const int inner = s.tall_is_a ? i % kInner : i / Sums::kOuter;
    const int outer = s.tall_is_a ? i / kInner : i % Sums::kOuter;
    float total = 0;
    for (int warp = 0; warp < kSkinnyWarps; ++warp)
      total += of_warps[warp * Sums::kFloats + Sums::place(inner, outer)];
    finish_one(p, s, at.product, at.outer + outer, at.inner + inner, total);
  }
}

namespace {

template <class T>
Sides<T> sides_of(const BasicProblem<T>& p) {
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  if (p.m >= p.n)
    return {.tall = p.a,
            .leading = p.lda,
            .tall_stride = p.stride_a,
            .thin = p.b,
            .step_k = transpose_b ? 1 : p.ldb,
            .step_inner = transpose_b ? p.ldb : 1,
            .thin_stride = p.stride_b,
            .outer = p.m,
            .inner = p.n,
            .tall_is_a = true};
  return {.tall = p.b,
          .leading = p.ldb,
          .tall_stride = p.stride_b,
          .thin = p.a,
          .step_k = transpose_a ? p.lda : 1,
          .step_inner = transpose_a ? 1 : p.lda,
          .thin_stride = p.stride_a,
          .outer = p.n,
          .inner = p.m,
          .tall_is_a = false};
}

template <class T, int Count, int kInner>
void launch_skinny(const BasicProblem<T>& p, Sides<T> s, bool along_k, Stream& stream) {
  using Sums = WarpSums<Count, kInner>;
  const std::int64_t outer = along_k ? kLines * kSkinnyWarps : Sums::kOuter;
  const std::int64_t outer_blocks = (s.outer + outer - 1) / outer;
  const std::int64_t inner_blocks = (s.inner + kInner - 1) / kInner;
  const unsigned blocks = count_blocks(outer_blocks, inner_blocks, p.batch);
  s.outer_blocks = static_cast<unsigned>(outer_blocks);
  s.inner_blocks = static_cast<unsigned>(inner_blocks);
  const int floats = along_k
                         ? 2 * LinesSlice<Count, kInner>::kFloats
                         : std::max(2 * PacksSlice<kInner>::kFloats, kSkinnyWarps * Sums::kFloats);
  launch(along_k ? skinny_lines<T, Count, kInner> : skinny_packs<T, Count, kInner>,
         {.grid = dim3(blocks),
          .block = dim3(kSkinnyThreads),
          .shared_bytes = static_cast<std::size_t>(floats) * sizeof(float),
          .stream = &stream},
         p, s);
}

template <class T, int Count>
void launch_skinny(const BasicProblem<T>& p, const Sides<T>& s, bool along_k, Stream& stream) {
  if (s.inner == 1)
    launch_skinny<T, Count, 1>(p, s, along_k, stream);
  else
    launch_skinny<T, Count, kSkinnySide>(p, s, along_k, stream);
}

} // namespace

template <class T>
void run_skinny(const BasicProblem<T>& p, Stream& stream) {
  const Sides<T> s = sides_of(p);
  const bool along_k =
      s.tall_is_a ? p.transpose_a == Transpose::no : p.transpose_b == Transpose::yes;
  if (rows_are_aligned(s.tall, s.leading, s.tall_stride))
    launch_skinny<T, kPackElements<T>>(p, s, along_k, stream);
  else
    launch_skinny<T, 1>(p, s, along_k, stream);
}

template void run_skinny(const BasicProblem<float>&, Stream&);
template void run_skinny(const BasicProblem<f16>&, Stream&);
template void run_skinny(const BasicProblem<bf16>&, Stream&);

} // namespace kg::gemm
