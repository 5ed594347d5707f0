// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposing matrices, with and without gaps between rows.
#include "ops/transpose/transpose.h"

#include "libraries/transpose.h"
#include "tests/contract/card.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"

namespace kg::card {
namespace {

// The shape of x.
std::string shape_of(std::int64_t rows, std::int64_t cols) {
  return "rows" + std::to_string(rows) + "_cols" + std::to_string(cols);
}

Problem problem(Dtype dtype, const Shape& shape) {
  const auto [rows, cols] = rows_grammar().parse(shape);
  Problem result{dtype, shape.text(), transpose::work(dtype, rows, cols), 0};
  result.inputs = {{"x", dtype, {rows, cols}}};
  result.outputs = {{"y", dtype, {cols, rows}}};
  result.gaps = true;
  return result;
}

constexpr auto kRun = [](const Call& call, transpose::Variant variant, Stream& stream) {
  return transpose::run(call.rows_in("x"), call.rows_out("y"), size_of(call.problem().dtype),
                        variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::transpose(vendor, call.problem().dtype, call.address("x"), call.extent("x", 0),
                    call.extent("x", 1), call.leading("x"), call.address("y"), call.leading("y"),
                    stream);
}

// Around a tile of 32 by 32 and the 8 rows that its block takes at once.
std::vector<std::string> sizes(Dtype) {
  std::vector<std::string> shapes = {shape_of(1, 4099), shape_of(4099, 1), shape_of(1025, 257),
                                     shape_of(300, 1000)};
  for (const std::int64_t rows : {1, 2, 7, 8, 9, 31, 32, 33, 64, 97})
    for (const std::int64_t cols : {1, 3, 8, 31, 32, 33, 63, 65, 251})
      shapes.push_back(shape_of(rows, cols));
  return shapes;
}

} // namespace

Card transpose_card() {
  Card card(rows_grammar());
  only_moves(card, [](const Problem& problem, std::string_view, const Bits&) -> SourceOfElement {
    return [&x = problem.inputs[0].extents](std::int64_t i) {
      return Source{"x", i % x[0] * x[1] + i / x[0]};
    };
  });
  card.problem = problem;
  run_by(card, transpose::kVariants, kRun);
  card.vendors = {[](const Problem& p) { return names(vendor::transpose_table, p.dtype); },
                  run_vendor};
  card.vendors.on_host = always({"onednn", "thrust"});
  card.usual = these({shape_of(200, 333), shape_of(65, 64), shape_of(131, 70)});
  card.sizes = sizes;
  card.pitches = [](Dtype dtype) {
    const std::int64_t pack = elements_per_pack(dtype);
    std::vector<std::string> shapes;
    for (const std::int64_t cols : {pack - 1, 9 * pack, 9 * pack + 1, 9 * pack + pack / 2})
      shapes.push_back(shape_of(8 * pack, cols)), shapes.push_back(shape_of(cols, 8 * pack));
    return shapes;
  };
  card.misaligned = these({shape_of(33, 47), shape_of(70, 64), shape_of(5, 129), shape_of(1, 40)});
  card.refuses_overlap = false;
  card.empty = {shape_of(0, 5), shape_of(5, 0), shape_of(0, 0)};
  card.kernel_name = as_the_variant("transpose");
  card.timed_on_host = {{"rows256_cols256", true}, {"rows300_cols500"}, {"rows4096_cols16"}};
  // A small one, and at least 256 MiB.
  card.timed_on_gpu = {{"rows1024_cols1024"},
                       {"rows8192_cols8192", true},
                       {"rows16384_cols16384"},
                       {"rows10007_cols9973"},
                       {"rows2097152_cols64"}};
  return card;
}

} // namespace kg::card
