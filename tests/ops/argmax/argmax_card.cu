// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The index of the largest element, which must be exact (tests/ops/reduction/shapes.h defines the
// shapes).
#include "ops/argmax/argmax.h"

#include "libraries/argmax.h"
#include "tests/contract/card.h"
#include "tests/ops/argmax/samples.h"
#include "tests/ops/reduction/shapes.h"
#include "tests/oracle/oracle_rows.h"

namespace kg::card {
namespace {

constexpr std::int64_t kWarpMaxCols = 2048; // of rows that a warp takes; longer ones take a block

Problem problem(Dtype dtype, const Shape& shape) {
  const Extents extents = extents_of(reduced_grammar().parse(shape));
  const auto [outer, axis, inner] = extents;
  Problem result{dtype, shape.text(), argmax::work(dtype, extents),
                 static_cast<double>(count_of(extents))};
  result.inputs = {x_of(dtype, extents)};
  result.outputs = {{"out", Dtype::i32, {outer, inner}}};
  result.calling = {"", {{"outer", {outer}}, {"axis", {axis}}, {"inner", {inner}}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, argmax::Variant variant, Stream& stream) {
  const View<const T, 3> x = view_of_x<T>(call);
  const std::size_t bytes = is_valid(x) ? argmax::workspace_bytes(x, variant) : 0;
  return argmax::run(x, call.out<std::int32_t>("out"), bytes > 0 ? call.workspace(bytes) : nullptr,
                     variant, stream);
};

// A block uses 256 threads for a single result.
std::int64_t sequence(const Problem& problem) {
  const Extents extents = extents_of(problem);
  return results_of(extents) == 1 ? extents[1] / 256 : extents[1];
}

vendor::ArgmaxProblem vendor_problem(const Problem& problem) {
  const auto [outer, axis, inner] = extents_of(problem);
  return {problem.dtype, outer, axis, inner};
}

Reference reference(const std::vector<double>& slices, std::int64_t results, std::int64_t axis) {
  Reference result;
  if (results == 0) return result;
  for (const std::int64_t index : test::row_maxima_oracle(slices, results, axis).index)
    result.value.push_back(static_cast<double>(index));
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  const Extents extents = extents_of(problem);
  return {{"out",
           reference(slices_of(inputs.at("x").values, extents), results_of(extents), extents[1])}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  const auto [outer, axis, inner] = extents_of(problem);
  const Elements x = values("x");
  if (inner > 1 || x.period == 0 || axis <= x.period)
    return reference(slices_of(problem, first, count, values), count, axis);
  std::vector<double> periods; // a slice's first maximum is in its first period
  for (std::int64_t result = first; result < first + count; ++result)
    for (std::int64_t a = 0; a < x.period; ++a) periods.push_back(x(result * axis + a));
  return reference(periods, count, x.period);
}

// Like reduction's, with argmax's keys; a second launch reduces the keys of the first one.
std::vector<std::vector<std::string>> kernels(std::string_view name, const Problem& problem,
                                              const Layout&) {
  if (problem.output_size() == 0) return {};
  const Extents extents = extents_of(problem);
  const auto variant = enumerator_of(argmax::kVariants, name);
  const std::size_t bytes = dispatch(problem.dtype, [&]<class T>() {
    return argmax::workspace_bytes(reduction::packed(static_cast<const T*>(nullptr), extents),
                                   variant);
  });
  const std::string first = variant == argmax::Variant::naive
                                ? results_of(extents) > 1 ? "naive<" : "naive_block<"
                            : extents[2] > 1             ? "column_tiles<"
                            : extents[1] <= kWarpMaxCols ? "warp_rows<"
                                                         : "block_rows<";
  std::vector<std::vector<std::string>> names = {
      {"reduction::" + first + "kg::argmax::LargestFirst"}};
  if (bytes > 0) names.push_back({"reduction::naive", "<kg::argmax::LargestFirst"});
  return names;
}

} // namespace

Card argmax_card() {
  Card card(reduced_grammar());
  card.problem = problem;
  run_by(card, argmax::kVariants, kRun);
  for (Variant& each : card.variants)
    if (each.name == "naive") each.sequence = sequence;
  card.vendors = {[](const Problem& p) { return names(vendor::argmax_table, vendor_problem(p)); },
                  [](std::string_view vendor, const Call& call, Stream& stream) {
                    vendor::argmax(vendor, vendor_problem(call.problem()), call.address("x"),
                                   static_cast<std::int32_t*>(call.address("out")), stream);
                  }};
  card.vendors.note = thrust_note;
  card.vendors.on_host = always({"thrust"});
  card.references = references;
  card.elements = elements;
  card.exact = true;
  card.exact_samples = argmax_samples::exact_samples;
  card.random_samples = argmax_samples::random_samples;
  card.special_samples = argmax_samples::special_samples;
  card.usual = [](Dtype) {
    return argmax_samples::shapes_of(
        {{33, 200, 1}, {1, 9000, 1}, {1, 33, 200}, {2, 130, 24}, {3, 130, 7}});
  };
  card.sizes = argmax_samples::sizes;
  card.vacuous_outputs = [](const Problem&) { return std::vector<std::string>{"out"}; };
  card.misaligned = [](Dtype) { return argmax_samples::shapes_of({{5, 1030, 1}, {3, 66, 40}}); };
  card.refuses_overlap = false;
  card.empty = argmax_samples::shapes_of({{0, 7, 1}, {2, 5, 0}});
  card.kernels = kernels;
  card.bound = [](const Problem& p) { // on the executor a warp's shuffles cost more than its loads
    return extents_of(p)[2] > 1 ? kg::Bound::memory : kg::Bound::sync;
  };
  card.timed_on_host = {{"all_r512_c512", true}, {"rows_r256_c1024"}, {"columns_r512_c512"}};
  // 1 GiB of f32 at 2^28 elements.
  card.timed_on_gpu = {{"all_r1_c65536"},
                       {"all_r16384_c16384", true},
                       {"rows_r16384_c16384"},
                       {"columns_r16384_c16384"}};
  return card;
}

} // namespace kg::card
