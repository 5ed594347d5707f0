// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The only header that code translated from PTX (emit.h) includes. It is compiled at a kernel's
// first launch, so it uses no header of the standard library. The PTX ISA describes each
// instruction under its name.
#pragma once

#include "runtime/host/looks.h"
#include "runtime/host/vector_types.h"
#include "runtime/ptx/bulk.h"
#include "runtime/ptx/heap.h"
#include "runtime/ptx/integers.h"
#include "runtime/ptx/texture.h"
#include "runtime/ptx/wgmma.h"
#include "runtime/ptx/where.h"

#if !defined(__clang__) || __clang_major__ >= 15
#define KG_PTX_FLOAT16 1
#endif

// CUDA's built-in variables (runtime/host/block.h).
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;

namespace kg::ptx_run {

enum Round { nearest, zero, down, up };

// --- Provided by the emulator (primitives.cpp)

void keep_primitives(); // calling it links the other primitives as well

u8* shared_base();
u8* variable(const char* module, const char* name); // variables.h
u32 lane();
u32 warp();
void barrier(Where where);
void named_barrier(u32 id, u32 threads, bool wait, Where where);
u32 barrier_vote(char kind, bool predicate, Where where); // 'c' count, 'a' and, 'o' or
u32 named_barrier_vote(char kind, u32 id, u32 threads, bool predicate, Where where);
void warp_barrier(u32 mask, Where where);
// Workspace in which the blocks of a cooperative grid synchronize; 0 for other grids. CUDA's driver
// passes it in two environment registers (cooperative_groups/details/driver_abi.h of the toolkit).
u64 grid_workspace();
void fence(bool block_scope);
void yield(const char* name, Where where);
void poll(Where where);
[[noreturn]] void trap(Where where);
[[noreturn]] void lost_call(const char* why, Where where); // a call through a pointer
[[noreturn]] void assertion_failed(const char* condition, const char* file, u32 line, Where where);
u32 print(const char* format, const u8* arguments); // print.cpp
// An approximation as a GPU might return it (isa_latitude.h): within some ulps, or within an error.
f32 off_by_ulps(f32 value, int ulps);
f32 off_by(f32 value, f64 relative, f64 absolute);
u32 exchange(u32 mask, u32 value, u32 source, Where where);
u32 exchange_both(u32 mask, u32 value, u32* origin, u32 source, Where where);
// Undefined values (runtime/host/undefined_values.h, emit_undefined.cpp)
u32 loaded_origin(const void* from, u32 bytes);
void read_only(const void* from, u32 bytes, Where where); // before ld.global.nc
void origin_stored(const void* to, u32 bytes, u32 origin);
void undefined_used(u32 origin, const char* how);
u8* reached_lines(const char* kernel); // lines.h
u32 ballot(u32 mask, bool predicate, Where where);
u32 active_lanes(Where where);
u32 match_any(u32 mask, u64 value, Where where);
u32 reduce(const char* what, bool is_signed, u32 mask, u32 value, Where where); // redux.sync
void distribute(u32* fragment, const void* row, u32 matrices, bool transposed, Where where);
[[noreturn]] void misaligned_row(Where where);
void collect(void* row, const u32* fragment, u32 matrices, bool transposed, Where where);
u32 elected_lane(u32 mask, Where where);
void mma_f16_k8(float* sum, const u32* a, const u32* b, Where where);
void mma_f16_k16(float* sum, const u32* a, const u32* b, Where where);
void mma_bf16_k16(float* sum, const u32* a, const u32* b, Where where);
void mma_tf32_k8(float* sum, const u32* a, const u32* b, Where where);
void mma_s8_k32(s32* sum, const u32* a, const u32* b, Where where);
void copy_async(void* to, const void* from, u32 bytes, u32 source_bytes, Where where);
void arrive_async(u64* barrier, bool counted, Where where);
void commit_async(Where where);
void wait_async(u32 pending, Where where);
void wait_all_async(Where where);
void mbarrier_init(u64* barrier, u32 count, Where where);
void mbarrier_inval(u64* barrier, Where where);
u64 mbarrier_arrive(u64* barrier, u32 count, u32 bytes, Where where);
u64 mbarrier_arrive_drop(u64* barrier, u32 count, Where where);
void mbarrier_expect(u64* barrier, u32 bytes, Where where);
void mbarrier_complete(u64* barrier, u32 bytes, Where where);
bool mbarrier_ended(u64* barrier, u32 parity, Where where);
u32 mbarrier_parity(u64 state);

// Clusters (cluster.cpp). A window address is an offset into this block's shared memory, or into
// another block's: then the bits above the low 24 hold that block's rank + 1.
struct InCluster {
  u32 index[3], extent[3]; // block index and cluster size, in blocks
  u32 rank, size;
};
InCluster in_cluster();
void cluster_arrive(bool relaxed, Where where);
void cluster_wait(Where where);
u8* cluster_memory(u64 in_window, Where where);      // the memory at a window address
u64 to_window(u64 address);                          // from a generic address
u64 mapped(u64 address, u32 rank, Where where);      // the same location in the block of this rank
u64 mapped_in_window(u64 at, u32 rank, Where where); // the same for window addresses
u32 rank_of(u64 in_window);
bool is_in_cluster(u64 address); // whether a generic address is in the window

bool is_shared(u64 address); // for a generic address
bool is_local(u64 address);
u64 clock_ns();
u32 multiprocessors();
u32 multiprocessor(); // where this block would run: its number in the grid, modulo their count

// --- Rare arithmetic, and arithmetic that a CPU rounds differently

f32 sum_directed(f32 a, f32 b, Round round);
f32 product_directed(f32 a, f32 b, Round round);
f32 fma_directed(f32 a, f32 b, f32 c, Round round);
f32 quotient_directed(f32 a, f32 b, Round round);
f32 root_directed(f32 value, Round round);
f64 sum_directed(f64 a, f64 b, Round round);
f64 quotient_directed(f64 a, f64 b, Round round);
f64 root_directed(f64 value, Round round);
f64 product_directed(f64 a, f64 b, Round round);
f64 fma_directed(f64 a, f64 b, f64 c, Round round);
f32 narrow_directed(f64 value, Round round);
bool is_below_normal(f32 a, f32 b, f32 c); // a * b + c, rounded to 24 bits
f32 from_int_directed(s64 value, Round round);
f32 from_unsigned_directed(u64 value, Round round);
u16 half_of(f32 value, Round round);
u16 half_of_double(f64 value, Round round);
u16 half_fma(f32 a, f32 b, f32 c); // rounded once
u16 bf16_fma(f32 a, f32 b, f32 c);
u16 bf16_of(f32 value, Round round);
f32 float_of_half(u16 bits);
u32 e4m3_of(f32 value); // saturating
u32 e5m2_of(f32 value);
u32 halves_of_e4m3(u16 both);
u32 tf32_of(f32 value); // .rna: to nearest, ties away from zero
f32 log2_accurate(f32 value);
f32 sin_accurate(f32 value);
f32 cos_accurate(f32 value);
f32 tanh_accurate(f32 value);
f32 exp2_accurate(f32 value);

// The origin of `a and b` or `a or b`, where one operand alone may decide the result.
inline u32 decided(u32 origin_a, bool a_decides, u32 origin_b, bool b_decides) {
  if ((origin_a == 0 && a_decides) || (origin_b == 0 && b_decides)) return 0;
  return origin_a ? origin_a : origin_b;
}

// --- Bits

inline f32 as_f32(u32 bits) { return __builtin_bit_cast(f32, bits); }
inline u32 bits_of(f32 value) { return __builtin_bit_cast(u32, value); }
inline f64 as_f64(u64 bits) { return __builtin_bit_cast(f64, bits); }
inline u64 bits_of(f64 value) { return __builtin_bit_cast(u64, value); }

// The one NaN that f32 arithmetic returns on a GPU, 0x7fffffff, for any NaN operand (CUDA
// Programming Guide 1.1, A.2; the PTX ISA leaves it open). f64 arithmetic keeps the payload, as on
// a CPU.
inline f32 quiet_nan() { return as_f32(0x7fffffffu); }
inline f32 canonical(f32 value) { return value == value ? value : quiet_nan(); }
inline f64 canonical(f64 value) { return value; }

// Conversions from and to f16 return the canonical NaN (runtime/host/half.h).
inline f32 half_to_f32(u16 bits) {
#if KG_PTX_FLOAT16
  if ((bits & 0x7fff) > 0x7c00) return quiet_nan();
  return static_cast<f32>(__builtin_bit_cast(_Float16, bits));
#else
  return float_of_half(bits);
#endif
}
inline u16 f32_to_half(f32 value) {
#if KG_PTX_FLOAT16
  if (value != value) return 0x7fff;
  return __builtin_bit_cast(u16, static_cast<_Float16>(value));
#else
  return half_of(value, nearest);
#endif
}
inline f32 bf16_to_f32(u16 bits) { return as_f32(static_cast<u32>(bits) << 16); }

// --- Memory. Each access is a single one of full width, as on hardware. The returned reference
// lets the translated code make the access, so checkers and counters see it at the code's own line.

template <class T>
struct Accessed {
  using Type [[gnu::may_alias]] = T;
};
template <class T>
[[gnu::always_inline]] inline typename Accessed<T>::Type& memory(void* address) {
  return *static_cast<typename Accessed<T>::Type*>(address);
}
template <class T>
[[gnu::always_inline]] inline const typename Accessed<T>::Type& memory(const void* address) {
  return *static_cast<const typename Accessed<T>::Type*>(address);
}

// Called after a load on which a thread may spin, and after an atomic update (host/look.h).
template <class T>
KG_NOT_INSTRUMENTED inline T looked(T found, const void* address, Where where) {
  unsigned long long value = 0;
  __builtin_memcpy(&value, &found, sizeof found);
  if (host::looks.in_vain(address, value)) [[unlikely]]
    poll(where);
  asm volatile("" : : : "memory"); // a loop must load again
  return found;
}
template <class T>
KG_NOT_INSTRUMENTED inline void updated(T before, T after, const void* address, Where where) {
  if (before != after)
    ++host::looks.changes;
  else
    looked(before, address, where);
}
KG_NOT_INSTRUMENTED inline void mark_line(u8* line) { *line = 1; }
KG_NOT_INSTRUMENTED inline void changed() { ++host::looks.changes; }

typedef u16 v2u16 __attribute__((vector_size(4), may_alias));
typedef u16 v4u16 __attribute__((vector_size(8), may_alias));
typedef u8 v2u8 __attribute__((vector_size(2), may_alias));
typedef u8 v4u8 __attribute__((vector_size(4), may_alias));
typedef u32 v2u32 __attribute__((vector_size(8), may_alias));
typedef u32 v4u32 __attribute__((vector_size(16), may_alias));
typedef u64 v2u64 __attribute__((vector_size(16), may_alias));
typedef v2u8 v2u8u __attribute__((aligned(1)));
typedef v4u8 v4u8u __attribute__((aligned(1)));
typedef v2u16 v2u16u __attribute__((aligned(1)));
typedef v4u16 v4u16u __attribute__((aligned(1)));
typedef v2u32 v2u32u __attribute__((aligned(1)));
typedef v4u32 v4u32u __attribute__((aligned(1)));
typedef v2u64 v2u64u __attribute__((aligned(1)));

// The new bits that an atomic update computes from the old ones (PTX ISA, "atom").
template <class T, class Word>
inline Word update_add(Word before, T by) {
  const T sum = static_cast<T>(__builtin_bit_cast(T, before) + by);
  if constexpr (__is_same(T, f32)) return __builtin_bit_cast(Word, canonical(sum));
  return __builtin_bit_cast(Word, sum);
}
template <class T, class Word>
inline Word update_min(Word before, T by) {
  return by < static_cast<T>(before) ? static_cast<Word>(by) : before;
}
template <class T, class Word>
inline Word update_max(Word before, T by) {
  return static_cast<T>(before) < by ? static_cast<Word>(by) : before;
}
template <class T, class Word>
inline Word update_and(Word before, T by) {
  return before & by;
}
template <class T, class Word>
inline Word update_or(Word before, T by) {
  return before | by;
}
template <class T, class Word>
inline Word update_xor(Word before, T by) {
  return before ^ by;
}
template <class T, class Word>
inline Word update_inc(Word before, T limit) {
  return before >= limit ? 0 : before + 1;
}
template <class T, class Word>
inline Word update_dec(Word before, T limit) {
  return before == 0 || before > limit ? limit : before - 1;
}
u16 half_sum(u16 a, u16 b);
u16 bf16_sum(u16 a, u16 b);
inline u16 add_f16(u16 before, u16 by) { return half_sum(before, by); }
inline u16 add_bf16(u16 before, u16 by) { return bf16_sum(before, by); }
inline u32 add_f16x2(u32 before, u32 by) {
  return half_sum(static_cast<u16>(before), static_cast<u16>(by)) |
         static_cast<u32>(half_sum(static_cast<u16>(before >> 16), static_cast<u16>(by >> 16)))
             << 16;
}
inline u32 add_bf16x2(u32 before, u32 by) {
  return bf16_sum(static_cast<u16>(before), static_cast<u16>(by)) |
         static_cast<u32>(bf16_sum(static_cast<u16>(before >> 16), static_cast<u16>(by >> 16)))
             << 16;
}

// --- Floats

// Flushes a subnormal number to zero, and keeps its sign.
inline f32 flush(f32 value) {
  return (bits_of(value) & 0x7f800000u) == 0 ? as_f32(bits_of(value) & 0x80000000u) : value;
}
// `value` is a * b + c as the nearest float. The PTX ISA does not say whether rounding precedes the
// test for subnormals. On an H200, a result is subnormal if rounding to 24 bits with unbounded
// exponent gives less than 2^-126. 2^-126 is flushed if only the subnormal format rounds up to it.
inline f32 flush_rounded(f32 value, f32 a, f32 b, f32 c) {
  const bool may_be_less = __builtin_fabsf(value) == 0x1p-126f;
  return may_be_less && is_below_normal(a, b, c) ? __builtin_copysignf(0.f, value) : flush(value);
}
// atom.add.f32 on global memory (PTX ISA, "atom").
inline u32 add_flushed(u32 before, f32 by) {
  return bits_of(canonical(flush(flush(as_f32(before)) + flush(by))));
}
inline f32 saturate(f32 value) { return value > 0 ? (value < 1 ? value : 1.f) : 0.f; } // NaN: 0
// The operand that is not NaN, or the canonical NaN if both are; -0 is less than +0.
template <class T>
inline T least(T a, T b) {
  if (a != a) return b != b ? static_cast<T>(quiet_nan()) : b;
  if (b != b) return a;
  if (a == b) return __builtin_signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
inline T greatest(T a, T b) {
  if (a != a) return b != b ? static_cast<T>(quiet_nan()) : b;
  if (b != b) return a;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return a < b ? b : a;
}
// .relu: a negative value becomes +0; a NaN stays NaN.
template <class T>
inline T without_negative(T value) {
  return value > 0 || value != value ? value : T{0};
}
// div.approx: for a divisor above 2^126, the reciprocal would be subnormal and is zero.
inline f32 quotient_approx(f32 a, f32 b) {
  const f32 size = __builtin_fabsf(b);
  if (size > 0x1p126f && size <= 0x1.fffffep127f)
    return !__builtin_isfinite(a) ? quiet_nan()
                                  : __builtin_copysignf(0.f, a) * (b < 0 ? -1.f : 1.f);
  return a / b;
}

// A float as an integer: rounded, and saturated at the type's limits (PTX ISA, "cvt"). A NaN gives
// 0, or only the top bit if the integer or the float has 64 bits.
template <class Int, class Float>
inline Int to_int(Float value, Round round) {
  constexpr bool is_signed = static_cast<Int>(-1) < 0;
  constexpr int bits = 8 * sizeof(Int);
  constexpr Int most =
      is_signed ? static_cast<Int>(~(u64{1} << (bits - 1))) : static_cast<Int>(~u64{0});
  constexpr Int least_value = is_signed ? static_cast<Int>(u64{1} << (bits - 1)) : Int{0};
  if (value != value)
    return sizeof(Int) == 8 || sizeof(Float) == 8 ? static_cast<Int>(u64{1} << (bits - 1)) : Int{0};
  const f64 wide = value;
  const f64 rounded = round == nearest ? __builtin_nearbyint(wide)
                      : round == zero  ? __builtin_trunc(wide)
                      : round == down  ? __builtin_floor(wide)
                                       : __builtin_ceil(wide);
  const f64 end = is_signed ? 0x1p0 * (u64{1} << (bits - 1)) : 2.0 * (u64{1} << (bits - 1));
  if (rounded >= end) return most;
  if (rounded < static_cast<f64>(least_value)) return least_value;
  return static_cast<Int>(rounded);
}
// An integer as another type, saturated.
template <class To, class From>
inline To saturate_int(From value) {
  constexpr bool is_signed = static_cast<To>(-1) < 0;
  constexpr int bits = 8 * sizeof(To);
  const s128 most = is_signed ? (s128{1} << (bits - 1)) - 1 : (s128{1} << bits) - 1;
  const s128 lowest = is_signed ? -(s128{1} << (bits - 1)) : s128{0};
  const s128 wide = value;
  return static_cast<To>(wide > most ? most : wide < lowest ? lowest : wide);
}

// --- Warps

enum class Shuffle { up, down, butterfly, index };
// shfl.sync: `clamp` holds the segment mask above its low eight bits.
inline u32 shuffle(Shuffle mode, u32 value, u32 by, u32 clamp, u32 mask, bool* in_range,
                   Where where, u32* origin = nullptr) {
  const u32 self = lane();
  const u32 segment = clamp >> 8 & 31;
  const u32 last = (self & segment) | (clamp & 31 & ~segment);
  by &= 31;
  u32 source = 0;
  bool inside = false;
  if (mode == Shuffle::up) {
    source = self - by;
    inside = static_cast<s32>(source) >= static_cast<s32>(last);
  } else {
    source = mode == Shuffle::down        ? self + by
             : mode == Shuffle::butterfly ? self ^ by
                                          : (self & segment) | (by & ~segment);
    inside = source <= last;
  }
  if (in_range) *in_range = inside;
  if (!inside) source = self;
  return origin ? exchange_both(mask, value, origin, source, where)
                : exchange(mask, value, source, where);
}

// vote.uni: `votes` are the votes of the lanes in `mask`.
inline bool all_alike(u32 mask, u32 votes) { return votes == 0 || votes == mask; }

// ldmatrix, stmatrix: whether this lane supplies a row's address. The kernel accesses the row.
inline bool names_row(const void* row, u32 matrices, Where where) {
  if (lane() >= 8 * matrices) return false;
  if (reinterpret_cast<u64>(row) % 16 != 0) misaligned_row(where);
  return true;
}

[[gnu::always_inline, gnu::artificial]] inline u32 load_channel(const void* from, u32 bytes) {
  return bytes == 1 ? memory<u8>(from) : bytes == 2 ? memory<u16>(from) : memory<u32>(from);
}

} // namespace kg::ptx_run
