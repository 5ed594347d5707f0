// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "atom", "red", "cp.reduce.async.bulk". Each lane updates a word of its own, twice, so
// that what it finds is known; that updates of one word by many are not lost is for
// tests/unit/kernels/runtime/ptx_memory_test.cpp.
#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>
#include <cmath>

namespace kg::test::snippets {
namespace {

// f(old, operand): the new value, by a bulk reduction of 16 bytes. Those behind the element are 0.
template <class T, class Function>
void add_bulk(Table& table, const std::string& rest, const Function& f) {
  const std::string b = "b" + std::to_string(8 * sizeof(T));
  const std::string form = "cp.reduce.async.bulk.global.shared::cta.bulk_group." + rest;
  table.push_back(snippet(
      form,
      [=](T old, T by) {
        return std::array<T, 2>{f(old, by), old};
      },
      "mov.u32 %r1, tile; shl.b32 %r2, %lane, 4; add.s32 %r1, %r1, %r2; mov.u64 %d0, 0; "
      "st.shared.b64 [%r1], %d0; st.shared.b64 [%r1+8], %d0; st.global.b64 [%out], %d0; "
      "st.global.b64 [%out+8], %d0; st.shared." +
          b + " [%r1], %i1; st.global." + b + " [%out], %i0; fence.proxy.async; " + form +
          " [%out], [%r1], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; mov." + b +
          " %o1, %i0; ld.global." + b + " %o0, [%out];"));
  table.back().shared_bytes = 16 * kLanes;
  table.back().target = 90;
}

// f(old, operand): the new value. By atom also what was found; by red only the new value.
template <class T, class Function>
void add(Table& table, const std::string& rest, const std::string& type, const Function& f,
         bool global = true, bool in_shared = true) {
  const std::string b = "b" + std::to_string(8 * sizeof(T));
  const auto add_one = [&](const std::string& family, const std::string& space) {
    const std::string form = family + space + "." + rest + "." + type;
    const bool shared = space == ".shared";
    const std::string place = shared ? "mov.u64 %d0, tile; mul.wide.u32 %d1, %lane, 8; "
                                       "add.s64 %d0, %d0, %d1; "
                                     : "mov.b64 %d0, %out; ";
    const std::string at = shared ? ".shared." : ".global.";
    const std::string found = family == "atom" ? "%o1, " : "";
    const std::string body = place + "st" + at + b + " [%d0], %i0; " +
                             (family == "red" ? "mov." + b + " %o1, %i0; " : "") + form + " " +
                             found + "[%d0], %i1; ld" + at + b + " %o0, [%d0];";
    table.push_back(snippet(
        form,
        [=](T old, T by) {
          return std::array<T, 2>{f(old, by), old};
        },
        body));
    table.back().shared_bytes = shared ? 8 * kLanes : 0;
  };
  if (in_shared) add_one("atom", ".shared");
  if (global) add_one("atom", ".global");
  if (global) add_one("red", ".global");
  if (global && !type.ends_with("x2")) add_bulk<T>(table, rest + "." + type, f);
}

template <class T>
void add_compare(Table& table, const std::string& type) {
  const std::string form = "atom.global.cas.b" + type.substr(1);
  const std::string b = "b" + type.substr(1);
  table.push_back(snippet(
      form,
      [](T old, T expected, T next) {
        return std::array<T, 4>{old == expected ? next : old, old, next, old};
      },
      "st.global." + b + " [%out], %i0; " + form + " %o1, [%out], %i1, %i2; ld.global." + b +
          " %o0, [%out]; st.global." + b + " [%out], %i0; " + form +
          " %o3, [%out], %i0, %i2; ld.global." + b + " %o2, [%out];"));
}

} // namespace

void add_updates(Table& table) {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  for_types<u32, u64>([&]<class T>(T, const std::string& type) {
    const std::string b = "b" + type.substr(1);
    add<T>(table, "add", type, [](T old, T by) { return static_cast<T>(old + by); });
    add<T>(table, "and", b, [](T old, T by) { return static_cast<T>(old & by); });
    add<T>(table, "or", b, [](T old, T by) { return static_cast<T>(old | by); });
    add<T>(table, "xor", b, [](T old, T by) { return static_cast<T>(old ^ by); });
    add_compare<T>(table, type);
    table.push_back(snippet(
        "atom.global.exch." + b,
        [](T old, T by) {
          return std::array<T, 2>{by, old};
        },
        "st.global." + b + " [%out], %i0; atom.global.exch." + b + " %o1, [%out], %i1; ld.global." +
            b + " %o0, [%out];"));
  });
  for_types<u32, std::int32_t, u64, std::int64_t>([&]<class T>(T, const std::string& type) {
    add<T>(table, "min", type, [](T old, T by) { return std::min(old, by); });
    add<T>(table, "max", type, [](T old, T by) { return std::max(old, by); });
  });
  add<std::int32_t>(table, "add", "s32", [](std::int32_t old, std::int32_t by) {
    return static_cast<std::int32_t>(static_cast<u32>(old) + static_cast<u32>(by));
  });
  // Counting up and down within [0, limit].
  add<u32>(table, "inc", "u32", [](u32 old, u32 limit) { return old >= limit ? 0 : old + 1; });
  add<u32>(table, "dec", "u32",
           [](u32 old, u32 limit) { return old == 0 || old > limit ? limit : old - 1; });
  // "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero,
  // whereas on shared memory it does not."
  const auto flushed = [](float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.f, value) : value;
  };
  const auto sum = [](float a, float b) { return static_cast<float>(fused(a, 1, b, kSingle)); };
  const auto flushed_sum = [=](float a, float b) { return flushed(sum(flushed(a), flushed(b))); };
  add<float>(table, "add", "f32", sum, false, true);
  add<float>(table, "add", "f32", flushed_sum, true, false);
  const auto half_sum = [](F16 a, F16 b) {
    return F16{bits_of(fused(value_of(a.bits, kHalf), 1, value_of(b.bits, kHalf), kHalf), kHalf)};
  };
  add<F16>(table, "add.noftz", "f16", half_sum);
  add<Pair<F16>>(table, "add.noftz", "f16x2", [=](Pair<F16> a, Pair<F16> b) {
    return Pair<F16>{half_sum(a.low, b.low), half_sum(a.high, b.high)};
  });
  add_bulk<BF16>(table, "add.noftz.bf16", [](BF16 a, BF16 b) {
    return BF16{
        bits_of(fused(value_of(a.bits, kBrain), 1, value_of(b.bits, kBrain), kBrain), kBrain)};
  });
  add<double>(table, "add", "f64", [](double a, double b) { return a + b; });
}

} // namespace kg::test::snippets
