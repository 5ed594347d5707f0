// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gathering rows of a table by a 32-bit or 64-bit index: each row once, in a scattered order, or
// `count` random rows.
#include "ops/gather/gather.h"

#include <bit>

#include "libraries/gather.h"
#include "primitives/row_move.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/random.h"

namespace kg::card {
namespace {

// A permutation of 0 ... rows - 1; rows is a power of two, at least 4. Each step is a permutation:
// the product with an odd number modulo a power of two, and an XOR with the shifted word.
std::int64_t scattered(std::int64_t i, std::int64_t rows) {
  const auto last = static_cast<std::uint64_t>(rows - 1);
  const int half = std::bit_width(last) / 2;
  auto place = static_cast<std::uint64_t>(i);
  for (const std::uint64_t factor : {0x9E3779B97F4A7C15u, 0xD1B54A32D192ED03u}) {
    place = place * factor & last;
    place ^= place >> half;
  }
  return static_cast<std::int64_t>(place);
}

// Random rows, including the last, the first, and some twice.
std::int64_t picked(std::int64_t i, std::int64_t rows) {
  constexpr std::uint64_t kStream = 1 << 11;
  if (i < 2) return i == 0 ? rows - 1 : 0;
  return test::Random(test::seed(), kStream).integer(static_cast<std::uint64_t>(i), 0, rows - 1);
}

struct Lookups {
  Dtype index; // no 64-bit integer element type: stored as the bits of f64
  std::int64_t outer, rows, inner, count; // -1: each row once
};
ShapeGrammar<Lookups> grammar() {
  return ShapeGrammar<Lookups>()
      .one_of(&Lookups::index, {{"i32", Dtype::i32}, {"i64", Dtype::f64}})
      .number("outer", &Lookups::outer)
      .number("rows", &Lookups::rows)
      .number("inner", &Lookups::inner)
      .number("count", &Lookups::count, -1);
}

bool is_wide(const Problem& problem) { return size_of(problem.inputs[1].dtype) == 8; }

Problem problem(Dtype dtype, const Shape& shape) {
  const auto lookups = grammar().parse(shape);
  const Dtype index = lookups.index;
  const std::int64_t rows = lookups.rows;
  const bool all = lookups.count < 0;
  require(!all || (rows >= 4 && std::has_single_bit(static_cast<std::uint64_t>(rows))),
          "gather: rows is " + std::to_string(rows) +
              "; without count<number> it must be a power of two from 4");
  const gather::Problem p{lookups.outer, rows, lookups.inner, all ? rows : lookups.count};
  Problem result{dtype, shape.text(), gather::work(dtype, p, size_of(index)), 0};
  result.inputs = {{"table", dtype, {p.outer, rows, p.inner}}, {"index", index, {p.count}}};
  result.unread = static_cast<double>(p.outer * (rows - p.count) * p.inner) *
                  static_cast<double>(size_of(dtype));
  if (index == Dtype::f64) result.inputs[1].c_type = "int64_t";
  result.inputs[1].element = [rows, all](std::int64_t i) {
    return static_cast<std::uint64_t>(all ? scattered(i, rows) : picked(i, rows));
  };
  result.outputs = {{"y", dtype, {p.outer, p.count, p.inner}}};
  result.calling = {
      index == Dtype::i32 ? "i32" : "i64",
      {{"outer", {p.outer}}, {"rows", {rows}}, {"inner", {p.inner}}, {"count", {p.count}}}};
  return result;
}

gather::Problem extents(const Call& call) {
  return {call.extent("y", 0), call.extent("table", 1), call.extent("y", 2), call.extent("y", 1)};
}

constexpr auto kRun = [](const Call& call, gather::Variant variant, Stream& stream) {
  void* const index = call.address("index");
  return gather::run(
      call.address("table"),
      is_wide(call.problem()) ? gather::Indices(static_cast<const std::int64_t*>(index))
                              : gather::Indices(static_cast<const std::int32_t*>(index)),
      call.address("y"), extents(call), size_of(call.problem().dtype), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Problem& problem = call.problem();
  const gather::Problem p = extents(call);
  vendor::gather(vendor, problem.dtype, call.address("table"), call.address("index"),
                 size_of(problem.inputs[1].dtype), call.address("y"),
                 {p.outer, p.extent, p.inner, p.count}, stream);
}

SourceOfElement sources(const Problem& problem, std::string_view, const Bits& bits) {
  const std::int64_t rows = problem.inputs[0].extents[1];
  const std::int64_t inner = problem.outputs[0].extents[2], count = problem.outputs[0].extents[1];
  return [=, &bits](std::int64_t i) -> Source {
    const std::int64_t row = i / inner;
    const auto from = static_cast<std::int64_t>(bits("index", row % count)); // none is negative
    return {"table", (row / count * rows + from) * inner + i % inner};
  };
}

// The kernel that must run, and its word size.
std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  if (variant == "naive") return {"gather::naive<"};
  const auto bytes = static_cast<std::int64_t>(size_of(problem.dtype));
  const std::int64_t row = problem.outputs[0].extents[2] * bytes;
  std::int64_t word = 16;
  while ((row | place_of(layout, "table").offset * bytes | place_of(layout, "y").offset * bytes) %
         word)
    word /= 2;
  if (word < 8 && row >= gather::kLongRow) return {"gather::shifted_rows<unsigned "};
  switch (word) {
  case 1: return {"gather::words<unsigned char>"};
  case 2: return {"gather::words<unsigned short>"};
  case 4: return {"gather::words<unsigned int>"};
  case 8: return {"gather::words<unsigned long>"};
  }
  return {"gather::words<kg::Pack<unsigned int, 4>"};
}

std::string shape_of(std::int64_t outer, std::int64_t rows, std::int64_t inner,
                     std::int64_t count) {
  return "outer" + std::to_string(outer) + "_rows" + std::to_string(rows) + "_inner" +
         std::to_string(inner) + "_count" + std::to_string(count);
}

// Both index types.
std::vector<std::string> shapes(const std::vector<std::string>& each) {
  return in_each_form({"i32", "i64"}, each);
}

// Rows for every word size, and around the length from which they use shifted loads; around a
// block's tile of single elements and of packs.
std::vector<std::string> sizes(Dtype dtype) {
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t shifted = gather::kLongRow / bytes, pack = 16 / bytes;
  std::vector<std::string> each = {shape_of(1, 1, 1, 1), shape_of(1, 3, 1, 1)};
  for (const std::int64_t inner :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}, std::int64_t{8},
        std::int64_t{16}, shifted - 1, shifted, shifted + 1, shifted + 2, 2 * shifted + 3}) {
    each.push_back(shape_of(1, 7, inner, 5));
    each.push_back(shape_of(3, 4, inner, 9));
  }
  for (const std::int64_t inner : {std::int64_t{1}, pack})
    for (const std::int64_t count : {255, 256, 257, 1023, 1024, 1025})
      each.push_back(shape_of(1, 300, inner, count));
  return shapes(each);
}

} // namespace

Card gather_card() {
  Card card(grammar());
  only_moves(card, sources);
  card.problem = problem;
  card.forms = {"i32", "i64"};
  run_by(card, gather::kVariants, kRun);
  card.vendors = {[](const Problem& p) { return names(vendor::gather_table, p.dtype); },
                  run_vendor};
  card.vendors.on_host = always({"thrust"});
  // Every bit pattern of the types with few.
  card.exact_samples = [](Dtype dtype) {
    const std::string patterns = std::to_string(size_of(dtype) == 1 ? 1 << 8 : 1 << 16);
    std::vector<Sample> samples;
    for (const std::string& shape : shapes({"outer1_rows" + patterns + "_inner1"}))
      samples.push_back({"all patterns", shape});
    return samples;
  };
  card.usual = [](Dtype) {
    return shapes({shape_of(1, 600, 1, 500), shape_of(3, 40, 33, 50), shape_of(2, 30, 41, 35)});
  };
  card.sizes = sizes;
  card.misaligned = [](Dtype dtype) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype));
    return shapes(
        {shape_of(2, 5, pack, 6), shape_of(2, 5, 9 * pack, 6), shape_of(2, 5, 9 * pack + 1, 6)});
  };
  card.empty = shapes(
      {shape_of(0, 3, 2, 2), shape_of(1, 3, 0, 2), shape_of(1, 3, 2, 0), shape_of(1, 0, 2, 0)});
  card.kernel_name = kernel_name;
  card.timed_on_host = {{"i32_outer1_rows1024_inner128", true},
                        {"i64_outer2_rows64_inner513"},
                        {"i32_outer1_rows16384_inner1"}};
  // A small one, and at least 256 MiB of traffic.
  card.timed_on_gpu = {{"i32_outer1_rows1024_inner128"},
                       {"i32_outer1_rows1048576_inner256", true},
                       {"i64_outer4_rows65536_inner1025"},
                       {"i64_outer1_rows67108864_inner1"}};
  return card;
}

} // namespace kg::card
