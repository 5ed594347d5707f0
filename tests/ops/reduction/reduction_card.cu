// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over one axis. Extrema, and sums of i32, which wrap around, must be exact.
#include "ops/reduction/reduction.h"

#include <algorithm>
#include <cmath>

#include "libraries/reduction.h"
#include "tests/contract/card.h"
#include "tests/ops/reduction/reductions.h"
#include "tests/ops/reduction/samples.h"
#include "tests/oracle/slice_hint.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_rows.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  const Reduction parameters = reduction_grammar().parse(shape);
  const Extents extents = extents_of(parameters.of);
  const auto [outer, axis, inner] = extents;
  Problem result{dtype, shape.text(), reduction::work(dtype, extents),
                 static_cast<double>(count_of(extents))};
  result.inputs = {x_of(dtype, extents)};
  result.outputs = {{"out", dtype, {outer, inner}}};
  result.parameters = parameters;
  result.calling = {std::string(name(parameters.op)),
                    {{"outer", {outer}}, {"axis", {axis}}, {"inner", {inner}}}};
  return result;
}

constexpr auto kRun = [](const Call& call, reduction::Variant variant, Stream& stream) {
  return dispatch_numbers(call.problem().dtype, [&]<class T>() {
    const View<const T, 3> x = view_of_x<T>(call);
    const std::size_t bytes = is_valid(x) ? reduction::workspace_bytes(x, variant) : 0;
    return reduction::run(op_of(call.problem()), x, call.out<T>("out"),
                          bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
  });
};

std::int64_t chain(std::string_view variant, const Problem& problem) {
  return dispatch_numbers(problem.dtype, [&]<class T>() {
    return reduction::chain(reduction::packed(static_cast<const T*>(nullptr), extents_of(problem)),
                            enumerator_of(reduction::kVariants, variant));
  });
}

vendor::ReductionProblem vendor_problem(const Problem& problem) {
  const auto [outer, axis, inner] = extents_of(problem);
  return {op_of(problem), problem.dtype, outer, axis, inner};
}

// The expected result, and the quantities that determine its tolerance.
struct Sums {
  std::vector<double> value, norm2, mean_abs;
};

// For i32, modulo 2^32.
std::vector<double> wrapped_sums(const std::vector<double>& slices, std::int64_t axis) {
  std::vector<double> sums;
  for (auto at = slices.begin(); at != slices.end(); at += axis) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < axis; ++i)
      sum += static_cast<std::uint32_t>(static_cast<std::int64_t>(at[i]));
    sums.push_back(static_cast<std::int32_t>(sum));
  }
  return sums;
}

// A library's order is unknown; the worst case is sequential.
std::vector<double> bounds(Op op, Dtype dtype, const Sums& sums, std::int64_t axis,
                           std::int64_t longest) {
  const std::int64_t chains = std::max<std::int64_t>(axis / longest, 1);
  std::vector<double> result(sums.value.size(), 0.0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double value = sums.value[i];
    if (!std::isfinite(value)) continue; // must be exact
    const double sum_abs = sums.mean_abs[i] * static_cast<double>(axis);
    double computed =
        op == Op::sum
            ? test::sum_f32_tolerance(value, sums.norm2[i], sum_abs, axis, chains)
            : test::mean_f32_tolerance(value, sums.norm2[i], sums.mean_abs[i], axis, chains);
    if (op == Op::sum && std::fabs(value) > 0.999 * sum_abs) // terms of one sign
      computed = test::sum_f32_positive_tolerance(longest, sum_abs);
    result[i] = test::stored_tolerance(dtype, value, computed);
  }
  return result;
}

// Sums or means, and the tolerance of each variant.
Reference bounded(const Problem& problem, const Sums& sums) {
  const std::int64_t axis = extents_of(problem)[1];
  Reference result{sums.value, [=](std::string_view variant) {
                     const std::int64_t longest = variant.empty() ? axis : chain(variant, problem);
                     return bounds(op_of(problem), problem.dtype, sums, axis,
                                   std::max<std::int64_t>(longest, 1));
                   }};
  // Libraries are as accurate as tiled's chains; a single sum is only one random sample.
  if (sums.value.size() > 1)
    for (const double bound : result.tolerance("tiled")) result.unit.push_back(bound / 6);
  return result;
}

// For results whose elements are contiguous in one row each.
Reference reference(const Problem& problem, const std::vector<double>& slices,
                    std::int64_t results) {
  const Op op = op_of(problem);
  const std::int64_t axis = extents_of(problem)[1];
  if (problem.dtype == Dtype::i32)
    return {axis == 0 ? std::vector<double>(static_cast<std::size_t>(results))
                      : wrapped_sums(slices, axis),
            {}};
  if (op == Op::max || op == Op::min) {
    const auto oracle = op == Op::max ? test::row_maxima_oracle : test::row_minima_oracle;
    const auto size = static_cast<std::size_t>(results);
    return {oracle(slices, results, axis).value, // zeros of either sign
            [size](std::string_view) { return std::vector<double>(size, 0.0); }};
  }
  const test::MeanOracle mean = test::row_means_oracle(slices, results, axis);
  return bounded(problem,
                 {op == Op::mean ? mean.value : test::row_sums_oracle(slices, results, axis).value,
                  mean.norm2, mean.mean_abs});
}

// The only result of a timed problem: its many elements repeat periodically.
Reference reference_of_all(const Problem& problem, const Elements& x) {
  const Op op = op_of(problem);
  const std::int64_t axis = extents_of(problem)[1];
  double sum = 0, sum_abs = 0, squares = 0, least = kInfinity, most = -kInfinity;
  std::uint32_t wrapped = 0;
  x.each(axis, [&](double value, std::int64_t times) {
    const auto n = static_cast<double>(times);
    sum += n * value;
    sum_abs += n * std::fabs(value);
    squares += n * value * value;
    least = std::min(least, value);
    most = std::max(most, value);
    if (problem.dtype == Dtype::i32)
      wrapped += static_cast<std::uint32_t>(times) *
                 static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  });
  if (problem.dtype == Dtype::i32)
    return {{static_cast<double>(static_cast<std::int32_t>(wrapped))}, {}};
  if (op == Op::max || op == Op::min)
    return {{op == Op::max ? most : least},
            [](std::string_view) { return std::vector<double>{0.0}; }};
  const auto n = static_cast<double>(axis);
  return bounded(problem, {{op == Op::mean ? sum / n : sum}, {std::sqrt(squares)}, {sum_abs / n}});
}

References references(const Problem& problem, const Inputs& inputs) {
  const Extents extents = extents_of(problem);
  return {
      {"out", reference(problem, slices_of(inputs.at("x").values, extents), results_of(extents))}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  if (results_of(extents_of(problem)) == 1 && extents_of(problem)[1] > 0)
    return reference_of_all(problem, values("x"));
  return reference(problem, slices_of(problem, first, count, values), count);
}

// Which part of the axis the wrong sums miss.
std::string hint(const Problem& problem, const Inputs& inputs, const test::Comparison& found) {
  const Extents extents = extents_of(problem);
  if (op_of(problem) != Op::sum || found.first.empty()) return "";
  const std::vector<double> slices = slices_of(inputs.find("x")->second.values, extents);
  std::vector<test::WrongSum> wrong;
  for (const test::Mismatch& mismatch : found.first) {
    const auto first = slices.begin() + mismatch.index * extents[1];
    wrong.push_back(
        {{first, first + extents[1]}, mismatch.expected, mismatch.actual, mismatch.tolerance});
  }
  const std::string slice = test::slice_hint(wrong);
  return slice.empty() ? "" : "along the axis, " + slice;
}

// For sums of floats; extrema have one correct value.
std::function<Dependence(const Problem&)> dependence(std::string_view variant) {
  return [is_naive = variant == "naive"](const Problem& problem) -> Dependence {
    if (!is_sum(op_of(problem)) || is_integer(problem.dtype)) return {};
    if (!is_naive) return {"threads and blocks for a result follow how many results there are", ""};
    const bool single = extents_of(problem.parameters.as<Reduction>().of)[2] == 1;
    return {single ? "one result alone is added up by a block, several by a thread each" : "", ""};
  };
}

} // namespace

Card reduction_card() {
  Card card(reduction_grammar());
  card.problem = problem;
  run_by(card, reduction::kVariants, kRun);
  for (Variant& each : card.variants) {
    each.dependence = dependence(each.name);
    each.accurate = each.name != "naive";
    each.supports = [](const Problem& p) { return reduction::supports(op_of(p), p.dtype); };
    each.sequence = [name = each.name](const Problem& p) -> std::int64_t {
      return name == "naive" ? chain(name, p) : 1;
    };
  }
  card.vendors = {
      [](const Problem& p) { return names(vendor::reduction_table, vendor_problem(p)); },
      [](std::string_view vendor, const Call& call, Stream& stream) {
        vendor::reduction(vendor, vendor_problem(call.problem()), call.address("x"),
                          call.address("out"), stream);
      }};
  card.vendors.note = thrust_note;
  card.vendors.zero = test::SignedZero::ignored;
  card.vendors.on_host = always({"onednn", "thrust"});
  card.references = references;
  card.elements = elements;
  card.hint = hint;
  card.exact_samples = reduction_samples::exact_samples;
  card.random_samples = reduction_samples::random_samples;
  card.special_samples = reduction_samples::special_samples;
  card.usual = reduction_samples::usual;
  card.batches = reduction_samples::batches;
  card.sizes = reduction_samples::sizes;
  card.misaligned = these({"tensor_o5_a1030_i1", "tensor_o3_a66_i40"});
  card.refuses_overlap = false;
  card.vacuous_outputs = [](const Problem& p) { // extrema may be equal, one term is exact
    const Reduction& reduction = p.parameters.as<Reduction>();
    const bool vacuous = !is_sum(reduction.op) || extents_of(reduction.of)[1] < 2;
    return vacuous ? std::vector<std::string>{"out"} : std::vector<std::string>();
  };
  card.empty = {"tensor_o0_a7_i1", "tensor_o7_a0_i1", "tensor_o1_a0_i7", "tensor_o1_a0_i1",
                "tensor_o2_a5_i0"};
  card.launches = {};                 // one or two
  card.bound = [](const Problem& p) { // on the executor a warp's shuffles cost more than its loads
    return extents_of(p)[2] > 1 ? kg::Bound::memory : kg::Bound::sync;
  };
  card.timed_on_host = {{"all_r1024_c512", true}, {"rows_r512_c1024"},
                        {"columns_r1024_c512"},   {"mean_rows_r512_c1024"},
                        {"max_all_r1024_c512"},   {"min_columns_r1024_c512"}};
  // 1 GiB of f32 at 2^28 elements.
  card.timed_on_gpu = {{"all_r1_c65536"},          {"all_r16384_c16384", true},
                       {"rows_r16384_c16384"},     {"rows_r1048576_c256"},
                       {"columns_r16384_c16384"},  {"columns_r1048576_c256"},
                       {"tensor_o4096_a256_i256"}, {"mean_rows_r16384_c16384"},
                       {"max_rows_r1048576_c256"}, {"min_tensor_o4096_a256_i256"}};
  return card;
}

} // namespace kg::card
