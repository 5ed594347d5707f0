// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Logic and Shift Instructions", and the integer instructions that move bits. Results are
// put together bit by bit, as the ISA's pseudocode does.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>

namespace kg::test::snippets {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
constexpr u32 kWidth = 8 * sizeof(T);

template <class T>
bool bit(T value, u64 at) {
  return at < kWidth<T> && (static_cast<u64>(value) >> at & 1) != 0;
}
// The value whose i-th bit is f(i).
template <class T, class Function>
T bits(const Function& f) {
  u64 value = 0;
  for (u32 i = 0; i < kWidth<T>; ++i) value |= static_cast<u64>(static_cast<bool>(f(i))) << i;
  return static_cast<T>(value);
}

void add_logic(Table& table) {
  for_types<bool, u16, u32, u64>([&]<class T>(T, const std::string& name) {
    const std::string t = name == "pred" ? name : "b" + name.substr(1);
    table.push_back(snippet("and." + t, [](T a, T b) { return static_cast<T>(a & b); }));
    table.push_back(snippet("or." + t, [](T a, T b) { return static_cast<T>(a | b); }));
    table.push_back(snippet("xor." + t, [](T a, T b) { return static_cast<T>(a ^ b); }));
    table.push_back(
        snippet("not." + t, [](T a) { return bits<T>([&](u32 i) { return !bit(a, i); }); }));
    if (name == "pred") {
      table.back() = snippet("not.pred", [](bool a) { return !a; });
      return;
    }
    table.push_back(snippet("cnot." + t, [](T a) { return static_cast<T>(a == 0 ? 1 : 0); }));
  });
  // Three tables: exclusive or; majority; one that is not symmetric.
  constexpr std::array<u32, 3> kTables = {0x96, 0xe8, 0xca};
  std::string body;
  for (std::size_t i = 0; i < kTables.size(); ++i)
    body +=
        "lop3.b32 %o" + std::to_string(i) + ", %i0, %i1, %i2, " + std::to_string(kTables[i]) + "; ";
  table.push_back(snippet(
      "lop3.b32",
      [=](u32 a, u32 b, u32 c) {
        std::array<u32, kTables.size()> results{};
        for (std::size_t k = 0; k < results.size(); ++k)
          results[k] = bits<u32>([&](u32 i) { // the table is what the function makes of f0, cc, aa
            return kTables[k] >> (4 * bit(a, i) + 2 * bit(b, i) + bit(c, i)) & 1;
          });
        return results;
      },
      body));
}

void add_shifts(Table& table) {
  for_types<u16, u32, u64>([&]<class T>(T, const std::string& name) {
    const std::string width = name.substr(1);
    const auto left = [](T a, u32 by) {
      return bits<T>([&](u32 i) { return i >= by && bit(a, i - by); });
    };
    const auto right = [](T a, u32 by) {
      return bits<T>([&](u32 i) { return by < kWidth<T> && bit(a, i + by); });
    };
    const auto arithmetic = [](T a, u32 by) {
      return bits<T>(
          [&](u32 i) { return bit(a, std::min(i + std::min(by, kWidth<T>), kWidth<T> - 1)); });
    };
    table.push_back(snippet("shl.b" + width, left));
    table.push_back(snippet("shr.b" + width, right));
    table.push_back(snippet("shr.u" + width, right));
    table.push_back(snippet("shr.s" + width, arithmetic));
  });
  // shf: 32 of the 64 bits of b:a.
  const auto funnel = [](u32 a, u32 b, u32 from) {
    const u64 both = u64{b} << 32 | a;
    return bits<u32>([&](u32 i) { return bit(both, i + from); });
  };
  const auto add = [&](const std::string& form, auto function) {
    table.push_back(snippet(form, function));
  };
  add("shf.l.wrap.b32", [=](u32 a, u32 b, u32 by) { return funnel(a, b, 32 - by % 32); });
  add("shf.r.wrap.b32", [=](u32 a, u32 b, u32 by) { return funnel(a, b, by % 32); });
  add("shf.l.clamp.b32",
      [=](u32 a, u32 b, u32 by) { return funnel(a, b, 32 - std::min(by, 32u)); });
  add("shf.r.clamp.b32", [=](u32 a, u32 b, u32 by) { return funnel(a, b, std::min(by, 32u)); });
}

// The place and the length of a field (PTX ISA, "bfe", "bfi"): "restricted to" 0 to 255, and eight
// bits of them are taken. Those of 32 bits do so on an H200. Those of 64 bits, which have no
// instruction of the machine, take the whole words there, and the table follows: of bfe.u64,
// bfe.s64 and bfi.b64, 2,839 and 2,913 of 18,592 and 5,631 of 31,008 results differed, which is how
// many these two rules tell apart. A program should not rely on either.
template <class T>
u64 of_field(u32 word) {
  return kWidth<T> == 32 ? word & 255 : word;
}

void add_fields(Table& table) {
  for_types<u32, u64>([&]<class T>(T, const std::string& name) {
    const std::string width = name.substr(1);
    table.push_back(snippet("bfe.u" + width, [](T a, u32 b, u32 c) {
      const u64 place = of_field<T>(b), length = of_field<T>(c);
      return bits<T>([&](u32 i) { return i < length && bit(a, place + i); });
    }));
    table.push_back(snippet("bfe.s" + width, [](T a, u32 b, u32 c) {
      const u64 place = of_field<T>(b), length = of_field<T>(c);
      if (length == 0) return T{0};
      const bool sign = bit(a, std::min<u64>(place + length - 1, kWidth<T> - 1));
      return bits<T>(
          [&](u32 i) { return i < length && place + i < kWidth<T> ? bit(a, place + i) : sign; });
    }));
    table.push_back(snippet("bfi.b" + width, [](T a, T b, u32 c, u32 d) {
      const u64 place = of_field<T>(c), length = of_field<T>(d);
      return bits<T>(
          [&](u32 i) { return i >= place && i < place + length ? bit(a, i - place) : bit(b, i); });
    }));
    // From the top: zeros, and the place of the first bit that is no sign.
    const auto zeros = [](T a) {
      u32 count = 0;
      while (count < kWidth<T> && !bit(a, kWidth<T> - 1 - count)) ++count;
      return count;
    };
    const auto of_sign = [](T a) { return bit(a, kWidth<T> - 1) ? static_cast<T>(~a) : a; };
    const auto find = [=](T a) { return a == 0 ? ~0u : kWidth<T> - 1 - zeros(a); };
    const auto amount = [=](T a) { return a == 0 ? ~0u : zeros(a); };
    table.push_back(snippet("clz.b" + width, zeros));
    table.push_back(snippet("bfind.u" + width, find));
    table.push_back(snippet("bfind.shiftamt.u" + width, amount));
    table.push_back(snippet("bfind.s" + width, [=](T a) { return find(of_sign(a)); }));
    table.push_back(snippet("bfind.shiftamt.s" + width, [=](T a) { return amount(of_sign(a)); }));
    table.push_back(snippet("popc.b" + width, [](T a) {
      u32 count = 0;
      for (u32 i = 0; i < kWidth<T>; ++i) count += bit(a, i);
      return count;
    }));
    table.push_back(snippet("brev.b" + width, [](T a) {
      return bits<T>([&](u32 i) { return bit(a, kWidth<T> - 1 - i); });
    }));
  });
  // Ones from bit `place` on; .wrap takes five bits of both.
  const auto ones = [](u32 place, u64 length) {
    return bits<u32>([&](u32 i) { return i >= place && i < place + length; });
  };
  table.push_back(snippet("bmsk.clamp.b32", [=](u32 a, u32 b) { return ones(a, b); }));
  table.push_back(snippet("bmsk.wrap.b32", [=](u32 a, u32 b) { return ones(a % 32, b % 32); }));
  // Each nibble of the selector names one of the eight bytes of b:a, or with its top bit its sign.
  table.push_back(snippet("prmt.b32", [](u32 a, u32 b, u32 selector) {
    return bits<u32>([&](u32 i) {
      const u32 nibble = selector >> i / 8 * 4 & 15;
      const u32 at = nibble % 8 * 8 + (nibble >= 8 ? 7 : i % 8);
      return bit(at < 32 ? a : b, at % 32);
    });
  }));
}

} // namespace

void add_bits(Table& table) {
  add_logic(table);
  add_shifts(table);
  add_fields(table);
}

} // namespace kg::test::snippets
