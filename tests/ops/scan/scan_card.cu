// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running sums and maxima of arrays, or of their segments. Maxima, and sums of i32, which wrap
// around, are right or wrong.
#include "scan/scan.h"

#include "tests/contract/card.h"
#include "tests/ops/scan/samples.h"
#include "tests/oracle/oracle_scan.h"
#include "vendor/scan.h"

namespace kg::card {
namespace {

using scan_samples::each_form;

scan::Op op_of(const Shape& shape) { return scan::kOps[shape.word({"sum", "max"})]; }
scan::Kind kind_of(const Shape& shape) {
  return shape.word({"inclusive", "exclusive"}) == 0 ? scan::Kind::inclusive
                                                     : scan::Kind::exclusive;
}
bool is_segmented(const Problem& problem) { return problem.inputs.size() > 1; }

Problem problem(Dtype dtype, const Shape& shape) {
  const std::int64_t n = shape.number("n");
  const bool segmented = shape.has("segments");
  const scan::Op op = op_of(shape);
  kind_of(shape);
  Problem result{
      dtype, shape.text(), {}, {}, scan::work(dtype, n, segmented), static_cast<double>(n)};
  result.inputs = {{"x", dtype, {n}}};
  if (segmented) {
    result.inputs.push_back({"heads", Dtype::i8, {n}});
    result.inputs.back().element = [](std::int64_t i) {
      return std::uint64_t{scan_samples::begins_segment(i)};
    };
  }
  result.outputs = {{"y", dtype, {n}, true, {"x"}}};
  if (op == scan::Op::max)
    result.draw = [](const Problem& p, Inputs& inputs) {
      inputs.try_emplace("x",
                         values(p.dtype, scan_samples::rising(p.dtype, p.inputs[0].extents[0])));
    };
  return result;
}

// As dispatch, of i32, too.
template <class Function>
auto dispatch_numbers(Dtype dtype, Function function) {
  if (dtype == Dtype::i32) return function.template operator()<std::int32_t>();
  return dispatch(dtype, function);
}

scan::Problem problem_of(const Problem& problem, std::int64_t n) {
  const Shape shape = Shape::parse(problem.shape);
  return {op_of(shape), kind_of(shape), n, is_segmented(problem)};
}

struct Run {
  scan::Variant operator()(const Call& call, scan::Variant variant, Stream& stream) const {
    return dispatch_numbers(call.problem().dtype, [&]<class T>() {
      const std::int64_t n = call.extent("y", 0);
      const std::size_t bytes = n < 0 ? 0 : scan::workspace_bytes<T>(n, variant);
      const auto* heads = is_segmented(call.problem()) ? call.in<std::int8_t>("heads") : nullptr;
      return scan::run(problem_of(call.problem(), n), call.in<T>("x"), heads, call.out<T>("y"),
                       bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
    });
  }
};

vendor::ScanProblem vendor_problem(const Problem& problem) {
  const scan::Problem p = problem_of(problem, problem.outputs[0].extents[0]);
  return {p.op, p.kind, problem.dtype, p.n, is_segmented(problem)};
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::ScanProblem p = vendor_problem(call.problem());
  vendor::scan(vendor, p, call.address("x"),
               p.segmented ? static_cast<const std::int8_t*>(call.address("heads")) : nullptr,
               call.address("y"), stream);
}

// Of a library nobody knows the order: at the worst it adds one after the other.
std::int64_t chain(const Problem& problem, std::string_view variant) {
  const std::int64_t n = problem.outputs[0].extents[0];
  if (variant.empty()) return n;
  return dispatch_numbers(problem.dtype, [&]<class T>() {
    return scan::chain<T>(n, enumerator_of(scan::kVariants, variant));
  });
}

template <class X, class Head>
Reference reference(const Problem& problem, std::int64_t first, std::int64_t count, X x,
                    Head head) {
  const scan::Problem p = problem_of(problem, count);
  const test::ScanOracle oracle =
      test::scan_oracle(p.op, p.kind, problem.dtype, first, count, x, head);
  if (problem.dtype == Dtype::i32) return {oracle.value, {}};
  if (p.op == scan::Op::max)
    return {oracle.value, [size = oracle.value.size()](std::string_view) {
              return std::vector<double>(size, 0.0);
            }};
  return {oracle.value, [problem, oracle](std::string_view variant) {
            return test::scan_sum_tolerances(problem.dtype, oracle, chain(problem, variant));
          }};
}

References references(const Problem& problem, const Inputs& inputs) {
  const std::vector<double>& x = inputs.at("x").values;
  const std::vector<double>* heads = is_segmented(problem) ? &inputs.at("heads").values : nullptr;
  return {{"y", reference(
                    problem, 0, std::ssize(x),
                    [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; },
                    [&](std::int64_t i) {
                      return heads != nullptr && (*heads)[static_cast<std::size_t>(i)] != 0;
                    })}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  const Elements x = values("x");
  if (!is_segmented(problem))
    return reference(problem, first, count, x, [](std::int64_t) { return false; });
  const Elements heads = values("heads");
  return reference(problem, first, count, x, [&](std::int64_t i) { return heads(i) != 0; });
}

// A single tile needs no look-back, and no words for it.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  const std::int64_t n = problem.output_size();
  if (n == 0) return {};
  const std::string op = problem_of(problem, n).op == scan::Op::sum ? "Sum" : "Max";
  const std::vector<std::string> scan = {"scan::" + std::string(variant) + "<",
                                         is_segmented(problem) ? "Segmented<" : "Whole<", op};
  const bool one = n <= 4096;
  if (variant == "naive" || one) return {scan};
  return {{"clear_words"}, scan};
}

// Around packs, a warp's rows and tiles.
std::vector<std::string> sizes(Dtype dtype) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype)), tile = 4096;
  std::vector<std::string> shapes;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, pack - 1, pack + 1, 32 * pack - 1,
                               32 * pack, 128 * pack + 1, tile - 1, tile, tile + 1, 2 * tile - 1})
    for (const bool segmented : {false, true}) {
      shapes.push_back(scan_samples::shape_of(scan::Op::sum, scan::Kind::inclusive, segmented, n));
      shapes.push_back(scan_samples::shape_of(scan::Op::sum, scan::Kind::exclusive, segmented, n));
    }
  return shapes;
}

} // namespace

Card scan_card() {
  Card card;
  card.problem = problem;
  card.forms = {"sum", "max"};
  card.variants = variants_of(scan::kVariants, Run{});
  for (Variant& each : card.variants)
    if (each.name == "naive")
      each.sequence = [](const Problem& p) { return p.output_size() / 256; };
  card.resolved = [](const Problem&) { return name(scan::resolved(scan::Variant::automatic)); };
  card.run_automatic = automatic_of(scan::Variant::automatic, Run{});
  card.vendors = {[](const Problem& p) { return vendor::scan_variants(vendor_problem(p)); },
                  run_vendor};
  card.vendors.zero = test::SignedZero::ignored;
  card.vendors.on_host = always({"thrust"});
  card.references = references;
  card.elements = elements;
  card.exact_samples = scan_samples::exact_samples;
  card.random_samples = [](Dtype) { return std::vector<Sample>(); };
  card.special_samples = scan_samples::special_samples;
  card.usual = [](Dtype) { return each_form({kOdd}); };
  card.sizes = sizes;
  card.misaligned = [](Dtype) {
    return std::vector<std::string>{"sum_inclusive_n4133", "sum_exclusive_segments_n4133"};
  };
  card.empty = {"sum_inclusive_n0", "max_exclusive_segments_n0"};
  // A maximum may stay the same, and the first sum of an exclusive scan is 0.
  card.vacuous_outputs = [](const std::string& shape) {
    return shape.starts_with("max") || shape.ends_with("_n1") ? std::vector<std::string>{"y"}
                                                              : std::vector<std::string>();
  };
  card.kernels = kernels;
  card.kind_on_host = kg::Kind::sync; // on the executor a warp's shuffles cost more than its loads
  card.timed_on_host = {{"sum_inclusive_n16384", true}, {"max_exclusive_segments_n16384"}};
  // 1 GiB of traffic of f32 at 2^27.
  card.timed_on_gpu = {{"sum_inclusive_n65536"},
                       {"sum_inclusive_n134217728", true},
                       {"sum_exclusive_n134217728"},
                       {"max_inclusive_n134217728"},
                       {"sum_inclusive_segments_n134217728"}};
  return card;
}

} // namespace kg::card
