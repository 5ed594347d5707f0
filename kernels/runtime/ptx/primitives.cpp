// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The emulator's functions for code translated from PTX.
#include "runtime/device.h"
#include "runtime/host/async_copy.h"
#include "runtime/host/bfloat16.h"
#include "runtime/host/block.h"
#include "runtime/host/block_group.h"
#include "runtime/host/cpu_rounding.h"
#include "runtime/host/elect.h"
#include "runtime/host/float_rounding.h"
#include "runtime/host/half.h"
#include "runtime/host/matrix.h"
#include "runtime/host/mbarrier.h"
#include "runtime/host/undefined_values.h"
#include "runtime/host/warp.h"
#include "runtime/ptx/prelude.h"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <functional>
#include <pthread.h>
#include <string_view>

namespace kg::ptx_run {
namespace {

using host::running_block;

Location here(Where where) { return {where.file, where.line}; }

host::Rounding rounding(Round round) { return static_cast<host::Rounding>(round); }

// Calls f(mode) with a mode that is a compile-time constant.
template <class Function>
auto with_mode(Round round, Function f) {
  using host::Rounding;
  switch (rounding(round)) {
  case Rounding::zero: return f(std::integral_constant<Rounding, Rounding::zero>{});
  case Rounding::down: return f(std::integral_constant<Rounding, Rounding::down>{});
  case Rounding::up: return f(std::integral_constant<Rounding, Rounding::up>{});
  case Rounding::nearest: break;
  }
  return f(std::integral_constant<Rounding, Rounding::nearest>{});
}

// The stack of the OS thread that runs the block's first thread.
struct Stack {
  u64 begin = 0, bytes = 0;
};
const Stack& own_stack() {
  static thread_local const Stack stack = [] {
    Stack result;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return result;
    void* begin = nullptr;
    std::size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0)
      result = {reinterpret_cast<u64>(begin), bytes};
    pthread_attr_destroy(&attributes);
    return result;
  }();
  return stack;
}

} // namespace

static_assert(static_cast<int>(host::Rounding::zero) == zero &&
              static_cast<int>(host::Rounding::down) == down &&
              static_cast<int>(host::Rounding::up) == up);

void keep_primitives() {
  // Defined in other files.
  static u32 (*volatile const kept)(const char*, const u8*) = &print;
  static f32 (*volatile const kept_off)(f32, int) = &off_by_ulps;
  static InCluster (*volatile const kept_cluster)() = &in_cluster;
  static void (*volatile const kept_bulk)(Covered) = &proxy_fence;
  static void (*volatile const kept_wgmma)(Where) = &wgmma_fence;
  static u8* (*volatile const kept_lines)(const char*) = &reached_lines;
  static_cast<void>(kept);
  static_cast<void>(kept_off);
  static_cast<void>(kept_cluster);
  static_cast<void>(kept_bulk);
  static_cast<void>(kept_wgmma);
  static_cast<void>(kept_lines);
}

u8* shared_base() { return running_block("a kernel", Location::here()).shared_memory(); }
u32 lane() { return host::current_block->lane(); }
u32 warp() { return host::current_block->thread_rank() / host::kWarpSize; }

void barrier(Where where) { host::current_block->barrier("bar.sync", here(where)); }
void named_barrier(u32 id, u32 threads, bool wait, Where where) {
  host::current_block->named_barrier(id, threads, wait, here(where));
}
u32 barrier_vote(char kind, bool predicate, Where where) {
  const auto votes = host::current_block->vote(predicate, "bar.red", here(where));
  return kind == 'c' ? votes.count : kind == 'a' ? votes.all : votes.any;
}
u32 named_barrier_vote(char kind, u32 id, u32 threads, bool predicate, Where where) {
  const u32 trues = host::current_block->named_barrier(id, threads, true, here(where), predicate);
  return kind == 'c' ? trues : kind == 'a' ? trues == threads : trues != 0;
}
void warp_barrier(u32 mask, Where where) {
  host::current_block->collective(mask, nullptr, &host::resolve_nothing, "bar.warp.sync",
                                  here(where));
}
u64 grid_workspace() {
  host::BlockGroup* const grid = host::current_block->groups().grid;
  return grid ? reinterpret_cast<u64>(grid->workspace()) : 0;
}
void fence(bool block_scope) { host::fence(block_scope); }
void yield(const char* name, Where where) { host::current_block->yield(name, here(where)); }
void poll(Where where) { host::poll(here(where)); }
void lost_call(const char* why, Where where) { host::current_block->trap(why, here(where)); }
void trap(Where where) { host::current_block->trap("__trap() was called", here(where)); }

void assertion_failed(const char* condition, const char* file, u32 line, Where where) {
  const std::string text =
      "assertion `" + std::string(condition) + "` failed at " + file + ":" + std::to_string(line);
  host::current_block->trap(text.c_str(), here(where));
}

u32 exchange(u32 mask, u32 value, u32 source, Where where) {
  return host::exchange(mask, value, source, "shfl.sync", here(where));
}
// A value and its origin, exchanged together.
u32 exchange_both(u32 mask, u32 value, u32* origin, u32 source, Where where) {
  const u64 both = host::exchange(mask, static_cast<u64>(*origin) << 32 | value, source,
                                  "shfl.sync", here(where));
  const bool none = both == ~u64{0}; // from a lane that takes no part
  *origin = none ? host::undefined_values->shuffled(source, "shfl.sync", here(where))
                 : static_cast<u32>(both >> 32);
  return static_cast<u32>(both);
}
void read_only(const void* from, u32 bytes, Where where) {
  host::note_read_only(from, bytes, here(where));
}
u32 loaded_origin(const void* from, u32 bytes) {
  return host::undefined_values->loaded(from, bytes);
}
void origin_stored(const void* to, u32 bytes, u32 origin) {
  host::undefined_values->stored(to, bytes, origin, __builtin_return_address(0));
}
void undefined_used(u32 origin, const char* how) {
  host::undefined_values->used(origin, how, __builtin_return_address(0));
}
u32 ballot(u32 mask, bool predicate, Where where) {
  return host::ballot(mask, predicate, "vote.sync", here(where));
}
u32 active_lanes(Where where) { return host::current_block->converge(here(where)); }
u32 match_any(u32 mask, u64 value, Where where) {
  return host::match(mask, value, "match.any.sync", here(where));
}
u32 reduce(const char* what, bool is_signed, u32 mask, u32 value, Where where) {
  const std::string_view name = what;
  const Location place = here(where);
  const auto of = [&]<class Combine>(Combine) {
    if (is_signed)
      return static_cast<u32>(
          host::reduce<Combine>(mask, static_cast<s32>(value), "redux.sync", place));
    return host::reduce<Combine>(mask, value, "redux.sync", place);
  };
  if (name == "add") return of(host::Plus{});
  if (name == "min") return of(host::Minimum{});
  if (name == "max") return of(host::Maximum{});
  if (name == "and") return of(host::BitAnd{});
  if (name == "or") return of(host::BitOr{});
  return of(host::BitXor{});
}

void distribute(u32* fragment, const void* row, u32 matrices, bool transposed, Where where) {
  host::distribute_matrices(fragment, *static_cast<const host::MatrixRow*>(row), matrices,
                            transposed, "ldmatrix", here(where));
}
void collect(void* row, const u32* fragment, u32 matrices, bool transposed, Where where) {
  *static_cast<host::MatrixRow*>(row) =
      host::collect_matrices(fragment, matrices, transposed, "stmatrix", here(where));
}
void misaligned_row(Where where) {
  host::misaligned_matrix_row("ldmatrix or stmatrix", here(where));
}
u32 elected_lane(u32 mask, Where where) {
  return host::elected_lane(mask, "elect.sync", here(where));
}
void mma_f16_k8(float* sum, const u32* a, const u32* b, Where where) {
  host::multiply_matrices<host::Binary16, 8>(sum, a, b, "mma.m16n8k8.f16", here(where));
}
void mma_f16_k16(float* sum, const u32* a, const u32* b, Where where) {
  host::multiply_matrices<host::Binary16, 16>(sum, a, b, "mma.m16n8k16.f16", here(where));
}
void mma_bf16_k16(float* sum, const u32* a, const u32* b, Where where) {
  host::multiply_matrices<host::Bfloat16, 16>(sum, a, b, "mma.m16n8k16.bf16", here(where));
}
void mma_tf32_k8(float* sum, const u32* a, const u32* b, Where where) {
  host::multiply_matrices<host::Tf32, 8>(sum, a, b, "mma.m16n8k8.tf32", here(where));
}
void mma_s8_k32(s32* sum, const u32* a, const u32* b, Where where) {
  host::multiply_matrices<host::Bytes<signed char>, 32>(sum, a, b, "mma.m16n8k32.s8", here(where));
}

void copy_async(void* to, const void* from, u32 bytes, u32 source_bytes, Where where) {
  host::async_copy(to, from, bytes, source_bytes, "cp.async", here(where));
}
void arrive_async(u64* barrier, bool counted, Where where) {
  host::async_arrive(barrier, counted, "cp.async.mbarrier.arrive", here(where));
}
void commit_async(Where where) { host::async_commit("cp.async.commit_group", here(where)); }
void wait_async(u32 pending, Where where) {
  host::async_wait_group(pending, "cp.async.wait_group", here(where));
}
void wait_all_async(Where where) { host::async_wait_all("cp.async.wait_all", here(where)); }

void mbarrier_init(u64* barrier, u32 count, Where where) {
  host::mbarrier_init(barrier, count, here(where));
}
void mbarrier_inval(u64* barrier, Where where) { host::mbarrier_inval(barrier, here(where)); }
u64 mbarrier_arrive(u64* barrier, u32 count, u32 bytes, Where where) {
  return host::mbarrier_arrive(barrier, count, bytes, here(where));
}
// Only the last arrival can end the phase.
u64 mbarrier_arrive_drop(u64* barrier, u32 count, Where where) {
  u64 state = 0;
  for (u32 i = 0; i < count; ++i) state = host::mbarrier_arrive_drop(barrier, here(where));
  return state;
}
void mbarrier_expect(u64* barrier, u32 bytes, Where where) {
  host::mbarrier_expect_tx(barrier, bytes, here(where));
}
void mbarrier_complete(u64* barrier, u32 bytes, Where where) {
  host::mbarrier_complete_tx(barrier, bytes, here(where));
}
bool mbarrier_ended(u64* barrier, u32 parity, Where where) {
  return host::mbarrier_test(barrier, parity, here(where));
}
u32 mbarrier_parity(u64 state) { return host::mbarrier_parity(state); }

bool is_shared(u64 address) {
  host::Block& block = *host::current_block;
  return address - reinterpret_cast<u64>(block.shared_memory()) < block.launch().shared_bytes;
}
bool is_local(u64 address) {
  return address - own_stack().begin < own_stack().bytes ||
         host::current_block->owns_stack(address);
}

u64 clock_ns() {
  return static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

u32 multiprocessors() { return static_cast<u32>(device_properties().sm_count); }
u32 multiprocessor() {
  const u64 number = blockIdx.x + u64{gridDim.x} * (blockIdx.y + u64{gridDim.y} * blockIdx.z);
  return static_cast<u32>(number % multiprocessors());
}

f32 narrow_directed(f64 value, Round round) {
  return with_mode(round, [&](auto mode) { return host::narrow<mode.value>(value); });
}
f32 sum_directed(f32 a, f32 b, Round round) {
  return with_mode(round, [&](auto mode) { return host::rounded_sum<mode.value>(a, b); });
}
f32 product_directed(f32 a, f32 b, Round round) {
  return narrow_directed(static_cast<f64>(a) * b, round); // exact as a double
}
f32 fma_directed(f32 a, f32 b, f32 c, Round round) {
  return with_mode(
      round, [&](auto mode) { return host::rounded_sum<mode.value>(static_cast<f64>(a) * b, c); });
}
int cpu_mode(Round round) {
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  return kModes[round];
}
f64 sum_directed(f64 a, f64 b, Round round) {
  return host::rounded(cpu_mode(round), std::plus<>(), a, b);
}
f64 product_directed(f64 a, f64 b, Round round) {
  return host::rounded(cpu_mode(round), std::multiplies<>(), a, b);
}
f32 quotient_directed(f32 a, f32 b, Round round) {
  return host::rounded(cpu_mode(round), std::divides<>(), a, b);
}
f64 quotient_directed(f64 a, f64 b, Round round) {
  return host::rounded(cpu_mode(round), std::divides<>(), a, b);
}
f32 root_directed(f32 value, Round round) {
  return host::rounded(
      cpu_mode(round), [](f32 x) { return std::sqrt(x); }, value);
}
f64 root_directed(f64 value, Round round) {
  return host::rounded(
      cpu_mode(round), [](f64 x) { return std::sqrt(x); }, value);
}
f64 fma_directed(f64 a, f64 b, f64 c, Round round) {
  return host::rounded(
      cpu_mode(round), [](f64 x, f64 y, f64 z) { return std::fma(x, y, z); }, a, b, c);
}
// True below the midpoint of 2^-126 and the preceding 24-bit number. The midpoint rounds to 2^-126,
// which is even. A sum rounded to odd is on the same side of the midpoint as the exact sum.
bool is_below_normal(f32 a, f32 b, f32 c) {
  return std::fabs(host::sum_to_odd(static_cast<f64>(a) * b, c)) < 0x1.ffffffp-127;
}
f32 from_int_directed(s64 value, Round round) {
  return narrow_directed(host::integer_to_odd(value), round);
}
f32 from_unsigned_directed(u64 value, Round round) {
  return narrow_directed(host::integer_to_odd(value), round);
}
u16 half_of(f32 value, Round round) {
  return with_mode(round, [&](auto mode) { return host::Binary16::from_float<mode.value>(value); });
}
// The PTX ISA ("cvt") does not say how a NaN converts. On an H200 the result kept the sign, and was
// not the canonical NaN that an f32 gives. The upper bits of the payload, which were 0 there, are
// kept, as by x86's cvtsd2ss.
u16 half_of_double(f64 value, Round round) {
  const f32 odd = host::narrow_to_odd(value);
  const u32 bits = bits_of(odd);
  if (odd != odd) return static_cast<u16>((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff));
  return half_of(odd, round);
}
u16 half_fma(f32 a, f32 b, f32 c) {
  return half_of(host::narrow_to_odd(host::sum_to_odd(static_cast<f64>(a) * b, c)), nearest);
}
u16 bf16_fma(f32 a, f32 b, f32 c) {
  return bf16_of(host::narrow_to_odd(host::sum_to_odd(static_cast<f64>(a) * b, c)), nearest);
}
u16 half_sum(u16 a, u16 b) { return half_fma(float_of_half(a), 1, float_of_half(b)); }
u16 bf16_sum(u16 a, u16 b) { return bf16_fma(bf16_to_f32(a), 1, bf16_to_f32(b)); }
u16 bf16_of(f32 value, Round round) {
  return with_mode(round, [&](auto mode) { return host::Bfloat16::from_float<mode.value>(value); });
}
f32 float_of_half(u16 bits) { return host::Binary16::to_float(bits); }
namespace {

// Rounds to nearest even with `fraction` bits of fraction, and saturates at `largest`. Every NaN
// becomes 0x7f (PTX ISA, "cvt", .satfinite). The last place of a number below 2^(1 - bias) has the
// same value as that of 2^(1 - bias).
u32 eight_bits_of(f32 value, int fraction, int bias, u32 largest) {
  if (value != value) return 0x7f;
  const u32 sign = bits_of(value) >> 24 & 0x80;
  if (std::isinf(value)) return sign | largest;
  const int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  const f64 places =
      std::nearbyint(std::ldexp(static_cast<f64>(std::fabs(value)), fraction - exponent));
  // A carry increments the exponent.
  const f64 number = std::ldexp(exponent + bias - 1, fraction) + places;
  return sign | (number > largest ? largest : static_cast<u32>(number));
}

// Exact: 3 bits of fraction and a bias of 7 (OCP 8-bit Floating Point Specification 1.0). A NaN
// becomes the canonical NaN.
u32 half_of_e4m3(u32 bits) {
  const int exponent = static_cast<int>(bits >> 3 & 0xf), fraction = static_cast<int>(bits & 7);
  if (exponent == 15 && fraction == 7) return 0x7fff;
  const f64 magnitude =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (bits & 0x80) << 8 | half_of_double(magnitude, nearest);
}

} // namespace

u32 halves_of_e4m3(u16 both) { return half_of_e4m3(both >> 8) << 16 | half_of_e4m3(both & 0xff); }
u32 e4m3_of(f32 value) { return eight_bits_of(value, 3, 7, 0x7e); }
u32 e5m2_of(f32 value) { return eight_bits_of(value, 2, 15, 0x7b); }
// The PTX ISA does not say how a NaN converts. An H200 cut off the low bits, so a NaN without other
// bits becomes infinity.
u32 tf32_of(f32 value) {
  const u32 bits = bits_of(value);
  return (value == value ? bits + 0x1000u : bits) & ~0x1fffu;
}
f32 log2_accurate(f32 value) { return std::log2(value); }
f32 sin_accurate(f32 value) { return std::sin(value); }
f32 cos_accurate(f32 value) { return std::cos(value); }
f32 tanh_accurate(f32 value) { return std::tanh(value); }
f32 exp2_accurate(f32 value) { return std::exp2(value); }

} // namespace kg::ptx_run
