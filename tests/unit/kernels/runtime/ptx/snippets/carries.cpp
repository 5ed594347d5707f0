// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Extended-precision integer arithmetic: sums, differences and products with carry and borrow.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <type_traits>

namespace kg::test::snippets {
namespace {

__extension__ typedef unsigned __int128 Unsigned128;

template <class T>
using WordAndCarry = std::pair<T, T>; // the word, and the carry behind it

// The low word of a sum of at most 2^(2 bits) and its carry; or of a difference.
template <class T>
WordAndCarry<T> parts(Unsigned128 value) {
  using U = std::make_unsigned_t<T>;
  return {static_cast<T>(static_cast<U>(value)), static_cast<T>(value >> (8 * sizeof(T)) & 1)};
}

template <class T>
void add_type(Table& table, const std::string& t) {
  using U = std::make_unsigned_t<T>;
  const std::string r = sizeof(T) == 4 ? "%r0" : "%d0";
  const std::string carry = " addc." + t + " %o1, 0, 0;", borrow = " subc." + t + " %o1, 0, 0;";
  // A carry or a borrow if the last operand is not zero.
  const std::string ones = sizeof(T) == 4 ? "0xffffffff" : "0xffffffffffffffff";
  const std::string carries = "add.cc." + t + " " + r + ", %i2, " + ones + "; ";
  const std::string borrows = "sub.cc." + t + " " + r + ", 0, %i2; ";
  const auto high = [](T a, T b) {
    if constexpr (std::is_signed_v<T>) {
      __extension__ typedef __int128 Signed128;
      return static_cast<U>(static_cast<Signed128>(a) * b >> (8 * sizeof(T)));
    } else {
      return static_cast<U>(static_cast<Unsigned128>(a) * b >> (8 * sizeof(T)));
    }
  };
  const auto sum = [](T a, T b, bool in) {
    return parts<T>(Unsigned128{static_cast<U>(a)} + static_cast<U>(b) + in);
  };
  // A borrow turns up as ones above the word, and subc takes it from zero.
  const auto difference = [](T a, T b, bool in) {
    const Unsigned128 value = Unsigned128{static_cast<U>(a)} - static_cast<U>(b) - in;
    return WordAndCarry<T>{static_cast<T>(static_cast<U>(value)),
                           static_cast<T>(value >> 127 != 0 ? -1 : 0)};
  };
  const auto add = [&](const std::string& form, auto function, const std::string& body) {
    table.push_back(snippet(form + "." + t, function, body));
  };
  add(
      "add.cc", [=](T a, T b) { return sum(a, b, false); },
      "add.cc." + t + " %o0, %i0, %i1;" + carry);
  add(
      "sub.cc", [=](T a, T b) { return difference(a, b, false); },
      "sub.cc." + t + " %o0, %i0, %i1;" + borrow);
  add(
      "addc.cc", [=](T a, T b, T in) { return sum(a, b, in != 0); },
      carries + "addc.cc." + t + " %o0, %i0, %i1;" + carry);
  add(
      "subc.cc", [=](T a, T b, T in) { return difference(a, b, in != 0); },
      borrows + "subc.cc." + t + " %o0, %i0, %i1;" + borrow);
  add(
      "addc", [=](T a, T b, T in) { return sum(a, b, in != 0).first; },
      carries + "addc." + t + " %o0, %i0, %i1;");
  add(
      "subc", [=](T a, T b, T in) { return difference(a, b, in != 0).first; },
      borrows + "subc." + t + " %o0, %i0, %i1;");
  const auto low = [](T a, T b) {
    return static_cast<U>(Unsigned128{static_cast<U>(a)} * static_cast<U>(b));
  };
  const auto product = [&](const std::string& half, auto of) {
    add(
        "mad." + half + ".cc",
        [=](T a, T b, T c) { return sum(static_cast<T>(of(a, b)), c, false); },
        "mad." + half + ".cc." + t + " %o0, %i0, %i1, %i2;" + carry);
    add(
        "madc." + half + ".cc",
        [=](T a, T b, T c) { return sum(static_cast<T>(of(a, b)), c, c != 0); },
        carries + "madc." + half + ".cc." + t + " %o0, %i0, %i1, %i2;" + carry);
    add(
        "madc." + half,
        [=](T a, T b, T c) { return sum(static_cast<T>(of(a, b)), c, c != 0).first; },
        carries + "madc." + half + "." + t + " %o0, %i0, %i1, %i2;");
  };
  product("lo", low);
  product("hi", high);
}

} // namespace

void add_carries(Table& table) {
  add_type<std::int32_t>(table, "s32");
  add_type<std::uint32_t>(table, "u32");
  add_type<std::int64_t>(table, "s64");
  add_type<std::uint64_t>(table, "u64");
}

} // namespace kg::test::snippets
