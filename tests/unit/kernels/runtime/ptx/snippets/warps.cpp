// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Parallel Synchronization and Communication Instructions": what the lanes of a warp, and
// the threads of a block, learn of each other. A block of the table is one warp.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kg::test::snippets {
namespace {

using u32 = std::uint32_t;

// shfl, by the ISA's pseudocode: the lane that this one reads, and whether it is one of its
// segment.
struct Source {
  unsigned lane;
  bool inside;
};
Source source_of(const std::string& mode, unsigned lane, u32 b, u32 c) {
  const unsigned value = b & 0x1f, clamp = c & 0x1f, segment = c >> 8 & 0x1f;
  const unsigned last = (lane & segment) | (clamp & ~segment & 0x1f);
  const unsigned first = lane & segment;
  int from = 0;
  bool inside = false;
  if (mode == "up") {
    from = static_cast<int>(lane) - static_cast<int>(value);
    inside = from >= static_cast<int>(last);
  } else if (mode == "down") {
    from = static_cast<int>(lane + value);
    inside = from <= static_cast<int>(last);
  } else if (mode == "bfly") {
    from = static_cast<int>(lane ^ value);
    inside = from <= static_cast<int>(last);
  } else {
    from = static_cast<int>(first | (value & ~segment & 0x1f));
    inside = from <= static_cast<int>(last);
  }
  return {inside ? static_cast<unsigned>(from) : lane, inside};
}

void add_shuffles(Table& table) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    const std::string form = "shfl.sync." + mode + ".b32";
    table.push_back(of_warp(form, {"u32", "u32", "u32"}, {"u32", "pred"},
                            form + " %o0|%o1, %i0, %i1, %i2, -1;",
                            [=](const auto& in, unsigned lane, std::size_t k) -> Word {
                              const Source from = source_of(mode, lane, in(lane, 1), in(lane, 2));
                              return k == 0 ? in(from.lane, 0) : Word{from.inside};
                            }));
    table.back().operand = [](std::size_t, std::size_t i, std::uint64_t random) -> Word {
      constexpr u32 kClamps[] = {31, 0, 0x1f, 0x181f, 0x1c1f, 0x101f, 0x1800, 0x1c00, 0x1e01};
      return i == 0 ? random : i == 1 ? random % 40 : kClamps[random % std::size(kClamps)];
    };
  }
}

void add_votes(Table& table) {
  const auto vote = [&](const std::string& mode, const std::string& type, auto made) {
    const std::string form = "vote.sync." + mode + "." + type;
    table.push_back(of_warp(form, {"u32"}, {type == "pred" ? "pred" : "u32"},
                            "setp.ne.s32 %p0, %i0, 0; " + form + " %o0, %p0, -1;",
                            [=](const auto& in, unsigned, std::size_t) -> Word {
                              u32 votes = 0;
                              for (unsigned i = 0; i < kLanes; ++i)
                                votes |= static_cast<u32>(in(i, 0) != 0) << i;
                              return made(votes);
                            }));
    // Warps of which all, none or some agree.
    table.back().operand = [](std::size_t lane, std::size_t, std::uint64_t random) -> Word {
      const std::size_t kind = lane / kLanes % 3;
      return kind == 0 ? 0 : kind == 1 ? 5 : random % 2;
    };
  };
  vote("ballot", "b32", [](u32 votes) { return votes; });
  vote("any", "pred", [](u32 votes) { return votes != 0; });
  vote("all", "pred", [](u32 votes) { return votes == ~0u; });
  vote("uni", "pred", [](u32 votes) { return votes == ~0u || votes == 0; });

  for (const std::string width : {"b32", "b64"}) {
    const std::string form = "match.any.sync." + width;
    table.push_back(of_warp(form, {width == "b32" ? "u32" : "u64"}, {"u32"},
                            form + " %o0, %i0, -1;",
                            [](const auto& in, unsigned lane, std::size_t) -> Word {
                              u32 equal = 0;
                              for (unsigned i = 0; i < kLanes; ++i)
                                equal |= static_cast<u32>(in(i, 0) == in(lane, 0)) << i;
                              return equal;
                            }));
    table.back().operand = [](std::size_t, std::size_t, std::uint64_t random) -> Word {
      return random % 5;
    };
  }
  table.push_back(of_warp("activemask.b32", {"u32"}, {"u32"}, "activemask.b32 %o0;",
                          [](const auto&, unsigned, std::size_t) -> Word { return ~0u; }));
}

void add_reductions(Table& table) {
  const auto reduce = [&](const std::string& what, const std::string& type, auto join) {
    const std::string form = "redux.sync." + what + "." + type;
    table.push_back(of_warp(form, {"u32"}, {"u32"}, form + " %o0, %i0, -1;",
                            [=](const auto& in, unsigned, std::size_t) -> Word {
                              u32 result = in(0, 0);
                              for (unsigned i = 1; i < kLanes; ++i) result = join(result, in(i, 0));
                              return result;
                            }));
  };
  const auto as_signed = [](auto f) {
    return [=](u32 a, u32 b) {
      return static_cast<u32>(f(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
    };
  };
  const auto sum = [](u32 a, u32 b) { return a + b; };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  reduce("add", "u32", sum);
  reduce("add", "s32", sum);
  reduce("min", "u32", least);
  reduce("max", "u32", most);
  reduce("min", "s32", as_signed(least));
  reduce("max", "s32", as_signed(most));
  reduce("and", "b32", [](u32 a, u32 b) { return a & b; });
  reduce("or", "b32", [](u32 a, u32 b) { return a | b; });
  reduce("xor", "b32", [](u32 a, u32 b) { return a ^ b; });
}

// Each lane stores a word, and behind the barrier reads the one of the lane opposite.
void add_barriers(Table& table) {
  const auto exchange = [&](const std::string& form, const std::string& barrier) {
    table.push_back(of_warp(
        form, {"u32"}, {"u32"},
        "mov.u32 %r1, tile; shl.b32 %r2, %lane, 2; add.s32 %r3, %r1, %r2; "
        "st.shared.b32 [%r3], %i0; " +
            barrier +
            " xor.b32 %r2, %r2, 124; add.s32 %r3, %r1, %r2; "
            "ld.shared.b32 %o0, [%r3];",
        [](const auto& in, unsigned lane, std::size_t) -> Word { return in(31 - lane, 0); }));
    table.back().shared_bytes = 4 * kLanes;
  };
  exchange("bar.sync", "bar.sync 0;");
  exchange("barrier.sync", "barrier.sync 3, 32;");
  exchange("bar.warp.sync", "bar.warp.sync -1;");
  for (const std::string scope : {"cta", "gl", "sys"})
    exchange("membar." + scope, "membar." + scope + "; bar.sync 0;");
  for (const std::string order : {"sc", "acq_rel"})
    for (const std::string scope : {"cta", "gpu", "sys"})
      exchange("fence." + order + "." + scope, "fence." + order + "." + scope + "; bar.sync 0;");
  const auto vote = [&](const std::string& what, const std::string& type, auto made) {
    const std::string form = "bar.red." + what + "." + type;
    table.push_back(
        of_warp(form, {"u32"}, {type == "pred" ? "pred" : "u32"},
                "and.b32 %r1, %i0, 1; setp.ne.s32 %p0, %r1, 0; " + form + " %o0, 0, %p0;",
                [=](const auto& in, unsigned, std::size_t) -> Word {
                  u32 count = 0;
                  for (unsigned i = 0; i < kLanes; ++i) count += in(i, 0) & 1;
                  return made(count);
                }));
  };
  vote("popc", "u32", [](u32 count) { return count; });
  vote("and", "pred", [](u32 count) { return count == kLanes; });
  vote("or", "pred", [](u32 count) { return count != 0; });
}

} // namespace

void add_warps(Table& table) {
  add_shuffles(table);
  add_votes(table);
  add_reductions(table);
  add_barriers(table);
}

} // namespace kg::test::snippets
