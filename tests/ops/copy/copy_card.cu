// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copying matrices: one long row, rows with gaps, and rows with different alignments.
#include "ops/copy/copy.h"

#include "libraries/copy.h"
#include "tests/contract/card.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"

namespace kg::card {
namespace {

std::string shape_of(std::int64_t rows, std::int64_t cols, std::int64_t gap = 0) {
  return "rows" + std::to_string(rows) + "_cols" + std::to_string(cols) + "_ld" +
         std::to_string(cols + gap);
}

// x has row stride `ld`, y is packed.
struct Rows {
  Size size;
  std::int64_t ld;
};
ShapeGrammar<Rows> grammar() {
  return ShapeGrammar<Rows>().nested(rows_grammar(), &Rows::size).number("ld", &Rows::ld);
}

Problem problem(Dtype dtype, const Shape& shape) {
  const auto [size, ld] = grammar().parse(shape);
  const auto [rows, cols] = size;
  if (ld < cols)
    throw Error("rows of " + std::to_string(cols) +
                " elements are at least as far apart; write ld" + std::to_string(cols) +
                " or more");
  Problem result{dtype, shape.text(), copy::work(dtype, rows, cols), 0};
  result.inputs = {{"x", dtype, {rows, cols}}};
  result.inputs[0].gap = ld - cols;
  result.outputs = {{"y", dtype, {rows, cols}}};
  result.gaps = true;
  result.calling = {"", {{"rows", {rows}}, {"cols", {cols}}}};
  return result;
}

constexpr auto kRun = [](const Call& call, copy::Variant variant, Stream& stream) {
  return copy::run(call.rows_in("x"), call.rows_out("y"), size_of(call.problem().dtype), variant,
                   stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::copy(vendor, call.problem().dtype, call.address("x"), call.extent("y", 0),
               call.extent("y", 1), call.leading("x"), call.address("y"), call.leading("y"),
               stream);
}

// Shifted loads if any row of x has another alignment than its row of y.
std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  if (variant == "naive") return {"copy::naive<"};
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  const Place x = place_of(layout, "x"), y = place_of(layout, "y");
  const std::int64_t x_gap = x.gap + problem.inputs[0].gap;
  const bool one_row = problem.outputs[0].extents[0] == 1 || (x_gap == 0 && y.gap == 0);
  const bool together =
      (x.offset - y.offset) % pack == 0 && (one_row || (x_gap - y.gap) % pack == 0);
  return {together ? "copy::vectorized<false" : "copy::vectorized<true"};
}

// Around a pack, a warp, a block, and the tile of a block that is 8, 64 and 256 threads wide.
std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes;
  for (const std::int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257})
    shapes.push_back(shape_of(1, n));
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t packs : {32, 256, 1024, 2048})
    for (const std::int64_t more : {-1, 0, 1}) shapes.push_back(shape_of(1, packs * pack + more));
  shapes.push_back(shape_of(40, 8 * pack, 8 * pack));
  return shapes;
}

} // namespace

Card copy_card() {
  Card card(grammar());
  only_moves(card, [](const Problem&, std::string_view, const Bits&) -> SourceOfElement {
    return [](std::int64_t i) { return Source{"x", i}; };
  });
  card.problem = problem;
  run_by(card, copy::kVariants, kRun);
  card.vendors = {
      [](const Problem& p) { return names(vendor::copy_table, p.dtype, p.inputs[0].gap == 0); },
      run_vendor};
  card.vendors.on_host = always({"memcpy", "onednn", "thrust"});
  // Every bit pattern of the types with few.
  card.exact_samples = [](Dtype dtype) {
    const std::int64_t patterns = size_of(dtype) == 1 ? 1 << 8 : 1 << 16;
    return std::vector<Sample>{{"all patterns", shape_of(1, patterns)}};
  };
  card.usual = these({shape_of(1, 4099), shape_of(65, 64), shape_of(31, 70, 3)});
  card.sizes = sizes;
  card.pitches = [](Dtype dtype) {
    std::vector<std::string> shapes;
    for (const std::int64_t cols : lengths_off_packs(dtype)) shapes.push_back(shape_of(3, cols));
    return shapes;
  };
  card.misaligned = [](Dtype dtype) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype));
    return std::vector<std::string>{shape_of(2, 1),
                                    shape_of(3, 17),
                                    shape_of(33, 7),
                                    shape_of(65, 40),
                                    shape_of(9, 1031),
                                    shape_of(7, 50 * pack + 2),
                                    shape_of(1, 1100 * pack + 5)};
  };
  card.refuses_overlap = false;
  card.empty = {"rows0_cols5_ld5", "rows5_cols0_ld0", "rows0_cols0_ld0"};
  card.kernel_name = kernel_name;
  card.timed_on_host = {
      {"rows1_cols262144_ld262144", true}, {"rows256_cols512_ld544"}, {"rows64_cols1000_ld1003"}};
  // At most 1 MiB, and at least 512 MiB.
  card.timed_on_gpu = {{"rows1_cols131072_ld131072"},
                       {"rows1_cols268435456_ld268435456", true},
                       {"rows16384_cols65536_ld65536"},
                       {"rows65536_cols4096_ld4160"},
                       {"rows65536_cols4095_ld4099"}};
  return card;
}

} // namespace kg::card
