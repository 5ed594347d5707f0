// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Comparison and Selection Instructions", "Half Precision Comparison Instructions".
#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <cmath>

namespace kg::test::snippets {
namespace {

// How two values are to each other; of floats perhaps not at all.
enum class Order { less, equal, greater, none };

template <class T>
Order order_of(T a, T b) {
  return a < b ? Order::less : a == b ? Order::equal : a > b ? Order::greater : Order::none;
}
Order order_of(F16 a, F16 b) { return order_of(value_of(a.bits, kHalf), value_of(b.bits, kHalf)); }
Order order_of(BF16 a, BF16 b) {
  return order_of(value_of(a.bits, kBrain), value_of(b.bits, kBrain));
}

// A comparison as the orders for which it holds.
struct Comparison {
  const char* name;
  bool less, equal, greater, none;

  bool holds(Order order) const {
    switch (order) {
    case Order::less: return less;
    case Order::equal: return equal;
    case Order::greater: return greater;
    case Order::none: break;
    }
    return none;
  }
};
constexpr Comparison kOrdered[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},
    {"lt", true, false, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ge", false, true, true, false}};
constexpr Comparison kUnsigned[] = {{"lo", true, false, false, false},
                                    {"ls", true, true, false, false},
                                    {"hi", false, false, true, false},
                                    {"hs", false, true, true, false}};
constexpr Comparison kOfFloats[] = {
    {"equ", false, true, false, true}, {"neu", true, false, true, true},
    {"ltu", true, false, false, true}, {"leu", true, true, false, true},
    {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};

template <class T>
void add_setp(Table& table, const Comparison& how, const std::string& type, int target = 80) {
  const std::string form = std::string("setp.") + how.name + "." + type;
  table.push_back(snippet(form, [=](T a, T b) { return how.holds(order_of(a, b)); }));
  table.back().target = target;
}

// With a third operand, joined to it; the second result is the negation, joined likewise.
template <class T>
void add_joined(Table& table, const Comparison& how, const std::string& type) {
  const auto add = [&](const std::string& with, auto join) {
    const std::string form = std::string("setp.") + how.name + "." + with + "." + type;
    table.push_back(snippet(
        form,
        [=](T a, T b, bool c) {
          const bool holds = how.holds(order_of(a, b));
          return std::pair(join(holds, c), join(!holds, c));
        },
        form + " %o0|%o1, %i0, %i1, %i2;"));
  };
  add("and", [](bool a, bool b) { return a && b; });
  add("or", [](bool a, bool b) { return a || b; });
  add("xor", [](bool a, bool b) { return a != b; });
}

template <class Half>
void add_set(Table& table, const std::string& type, Half one) {
  const auto add = [&](const Comparison& how, const std::string& to, auto function) {
    table.push_back(snippet(std::string("set.") + how.name + "." + to, function));
    // Only f16 is compared by the oldest of our targets.
    table.back().target = type == "f16" ? 80 : 90;
  };
  const auto each = [&](const Comparison& how) {
    const auto chosen = [=](Half a, Half b) { return how.holds(order_of(a, b)) ? one : Half{0}; };
    add(how, type + "." + type, chosen);
    add(how, type + "x2." + type + "x2", [=](Pair<Half> a, Pair<Half> b) {
      return Pair<Half>{chosen(a.low, b.low), chosen(a.high, b.high)};
    });
    add(how, "u32." + type, [=](Half a, Half b) { return how.holds(order_of(a, b)) ? ~0u : 0u; });
    add(how, "u32." + type + "x2", [=](Pair<Half> a, Pair<Half> b) {
      return (how.holds(order_of(a.low, b.low)) ? 0xffffu : 0u) |
             (how.holds(order_of(a.high, b.high)) ? 0xffff0000u : 0u);
    });
  };
  for (const Comparison& how :
       {kOrdered[0], kOrdered[2], kOrdered[4], kOrdered[5], kOfFloats[1], kOfFloats[7]})
    each(how);
}

} // namespace

void add_comparisons(Table& table) {
  for (const Comparison& how : kOrdered) {
    for_types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
              std::uint64_t>(
        [&]<class T>(T, const std::string& type) { add_setp<T>(table, how, type); });
    for_types<float, double, F16>(
        [&]<class T>(T, const std::string& type) { add_setp<T>(table, how, type); });
    add_setp<BF16>(table, how, "bf16", 90);
  }
  for (const Comparison& how : {kOrdered[0], kOrdered[1]})
    for_types<std::uint16_t, std::uint32_t, std::uint64_t>(
        [&]<class T>(T, const std::string& type) {
          add_setp<T>(table, how, "b" + type.substr(1));
        });
  for (const Comparison& how : kUnsigned)
    for_types<std::uint32_t, std::uint64_t>(
        [&]<class T>(T, const std::string& type) { add_setp<T>(table, how, type); });
  for (const Comparison& how : kOfFloats) {
    add_setp<float>(table, how, "f32");
    add_setp<double>(table, how, "f64");
  }
  for (const Comparison& how : {kOrdered[0], kOrdered[1], kOrdered[2], kOrdered[4]})
    for_types<std::int32_t, std::uint32_t, float>(
        [&]<class T>(T, const std::string& type) { add_joined<T>(table, how, type); });
  add_set(table, "f16", F16{0x3c00});
  add_set(table, "bf16", BF16{0x3f80});
  for (const Comparison& how : {kOrdered[0], kOrdered[2], kOrdered[4], kOfFloats[1]}) {
    const std::string form = std::string("set.") + how.name;
    table.push_back(snippet(form + ".f32.f32", [=](float a, float b) {
      return how.holds(order_of(a, b)) ? 1.f : 0.f;
    }));
    table.push_back(snippet(
        form + ".u32.f32", [=](float a, float b) { return how.holds(order_of(a, b)) ? ~0u : 0u; }));
  }

  const auto select = [&]<class T>(T, const std::string& type) {
    table.push_back(snippet("selp." + type, [](T a, T b, bool which) { return which ? a : b; }));
    table.back().canonical_nan = true; // it moves bits
  };
  for_types<std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t,
            float, double>(select);
  select(std::uint16_t{}, "b16");
  select(std::uint32_t{}, "b32");
  select(std::uint64_t{}, "b64");
}

} // namespace kg::test::snippets
