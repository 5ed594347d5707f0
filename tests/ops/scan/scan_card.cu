// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running sums and maxima of arrays, or of their segments. Maxima, and sums of i32, which wrap
// around, must be exact. Segments are given by heads, as in sum_inclusive_segments_n5, or by
// offsets, as in sum_inclusive_n5_offsets2.
#include "ops/scan/scan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "libraries/scan.h"
#include "runtime/hopper_device.h"
#include "tests/contract/card.h"
#include "tests/contract/segments.h"
#include "tests/ops/scan/samples.h"
#include "tests/oracle/oracle_scan.h"

namespace kg::card {
namespace {

using scan_samples::each_form, scan_samples::Form, scan_samples::grammar;

const Form& form_of(const Problem& problem) { return problem.parameters.as<Form>(); }
bool has_offsets(const Problem& problem) { return form_of(problem).offsets > 0; }

Problem problem(Dtype dtype, const Shape& shape) {
  const Form form = grammar().parse(shape);
  const auto& [op, kind, heads, n, count] = form;
  if (heads && count > 0) throw Error("segments begin at heads or at offsets; remove one");
  Problem result{dtype, shape.text(), scan::work(dtype, n, heads, count), static_cast<double>(n)};
  result.parameters = form;
  result.inputs = {{"x", dtype, {n}}};
  if (count > 0) result.inputs.push_back(offsets_of_segments(n, count));
  if (heads) {
    result.inputs.push_back({"heads", Dtype::i8, {n}});
    result.inputs.back().period = kUsualPeriod;
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

// Like dispatch, but with i32.
template <class Function>
auto dispatch_numbers(Dtype dtype, Function function) {
  if (dtype == Dtype::i32) return function.template operator()<std::int32_t>();
  return dispatch(dtype, function);
}

scan::Problem problem_of(const Problem& problem, std::int64_t n) {
  const Form& form = form_of(problem);
  return {form.op, form.kind, n, form.heads};
}

constexpr auto kRun = [](const Call& call, scan::Variant variant, Stream& stream) {
  return dispatch_numbers(call.problem().dtype, [&]<class T>() {
    const std::int64_t n = call.extent("y", 0);
    const scan::Problem problem = problem_of(call.problem(), n);
    std::optional<HopperDevice> device;
    if (variant == scan::Variant::pipelined) device.emplace();
    const auto workspace = [&](std::size_t (*bytes_of)(std::int64_t, scan::Variant)) {
      const std::size_t bytes = n < 0 ? 0 : bytes_of(n, variant);
      return bytes > 0 ? call.workspace(bytes) : nullptr;
    };
    if (has_offsets(call.problem()))
      return scan::run_segments(problem, call.in<T>("x"),
                                {call.in<std::int32_t>("offsets"), call.extent("offsets", 0) - 1},
                                call.out<T>("y"), workspace(scan::segments_workspace_bytes<T>),
                                variant, stream);
    const auto* heads = problem.segmented ? call.in<std::int8_t>("heads") : nullptr;
    return scan::run(problem, call.in<T>("x"), heads, call.out<T>("y"),
                     workspace(scan::workspace_bytes<T>), variant, stream);
  });
};

vendor::ScanProblem vendor_problem(const Problem& problem) {
  const scan::Problem p = problem_of(problem, problem.outputs[0].extents[0]);
  return {p.op, p.kind, problem.dtype, p.n, p.segmented};
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::ScanProblem p = vendor_problem(call.problem());
  vendor::scan(vendor, p, call.address("x"),
               p.segmented ? static_cast<const std::int8_t*>(call.address("heads")) : nullptr,
               call.address("y"), stream);
}

// A library's order is unknown; the worst case is sequential.
std::int64_t chain(const Problem& problem, std::string_view variant) {
  const std::int64_t n = problem.outputs[0].extents[0];
  if (variant.empty()) return n;
  return dispatch_numbers(problem.dtype, [&]<class T>() {
    return scan::chain<T>(n, enumerator_of(scan::kVariants, variant));
  });
}

template <class Head>
Reference reference(const Problem& problem, std::int64_t first, std::int64_t count,
                    const Elements& x, Head head) {
  const scan::Problem p = problem_of(problem, count);
  const test::ScanOracle oracle = test::scan_oracle(p.op, p.kind, problem.dtype, first, count, x,
                                                    problem.inputs.size() > 1, head, x.period);
  if (problem.dtype == Dtype::i32) return {oracle.value, {}};
  if (p.op == scan::Op::max)
    return {oracle.value, [size = oracle.value.size()](std::string_view) {
              return std::vector<double>(size, 0.0);
            }};
  return {oracle.value, [problem, oracle](std::string_view variant) {
            return test::scan_sum_tolerances(problem.dtype, oracle, chain(problem, variant));
          }};
}

// True if a segment starts at element i; after empty segments, another one starts there too.
std::function<bool(std::int64_t)> heads_of(const Problem& problem, const Values& values) {
  if (form_of(problem).heads)
    return [heads = values("heads")](std::int64_t i) { return heads(i) != 0; };
  if (!has_offsets(problem)) return [](std::int64_t) { return false; };
  const Elements offsets = values("offsets");
  std::vector<std::int64_t> begins; // ascending
  for (std::int64_t s = 0; s + 1 < problem.inputs[1].size(); ++s)
    begins.push_back(static_cast<std::int64_t>(offsets(s)));
  return [begins = std::move(begins)](std::int64_t i) {
    return std::binary_search(begins.begin(), begins.end(), i);
  };
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  return reference(problem, first, count, values("x"), heads_of(problem, values));
}

References references(const Problem& problem, const Inputs& inputs) {
  const auto values = [&](std::string_view name) -> Elements {
    const std::vector<double>& of = inputs.at(std::string(name)).values;
    return [&of](std::int64_t i) { return of[static_cast<std::size_t>(i)]; };
  };
  return {{"y", elements(problem, "y", 0, problem.output_size(), values)}};
}

bool is_segmented(const Problem& problem) { return problem.inputs.size() > 1; }

// Elements of a tile: pipelined's have 18 KiB.
std::int64_t tile_of(std::string_view variant, Dtype dtype) {
  return variant == "pipelined" ? 18 * 1024 / static_cast<std::int64_t>(size_of(dtype)) : 4096;
}

// A single tile needs neither look-back nor memory for it. pipelined leaves arrays that are not
// aligned to look_back.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout& layout) {
  const std::int64_t n = problem.output_size();
  if (n == 0) return {};
  const auto is_aligned = [&](const Tensor& tensor) {
    const auto bytes = static_cast<std::int64_t>(size_of(tensor.dtype));
    return place_of(layout, tensor.name).offset * bytes % 16 == 0;
  };
  if (variant == "pipelined" &&
      (is_segmented(problem) || !is_aligned(problem.inputs[0]) || !is_aligned(problem.outputs[0])))
    variant = "look_back";
  const std::string op = problem_of(problem, n).op == scan::Op::sum ? "Sum" : "Max";
  const std::vector<std::string> scan = {"scan::" + std::string(variant) + "<",
                                         is_segmented(problem) ? "Segmented<" : "Whole<", op};
  std::vector<std::vector<std::string>> names;
  if (has_offsets(problem)) names.insert(names.end(), {{"clear_words"}, {"scan::mark_heads"}});
  if (variant != "naive" && n > tile_of(variant, problem.dtype)) names.push_back({"clear_words"});
  names.push_back(scan);
  return names;
}

// Around packs, a warp's rows and tiles.
std::vector<std::string> sizes(Dtype dtype) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype)), tile = 4096;
  const std::int64_t longer = tile_of("pipelined", dtype);
  std::vector<std::string> shapes;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, pack - 1, pack + 1, 32 * pack - 1,
                               32 * pack, 128 * pack + 1, tile - 1, tile, tile + 1, 2 * tile - 1,
                               longer - 1, longer, longer + 1, 2 * longer - pack, 3 * longer + 2})
    for (const bool segmented : {false, true}) {
      shapes.push_back(scan_samples::shape_of(scan::Op::sum, scan::Kind::inclusive, segmented, n));
      shapes.push_back(scan_samples::shape_of(scan::Op::sum, scan::Kind::exclusive, segmented, n));
    }
  shapes.insert(shapes.end(), {"sum_inclusive_n1_offsets2", "max_exclusive_n300_offsets1",
                               "sum_inclusive_n300_offsets301", "sum_inclusive_n5000_offsets700"});
  return shapes;
}

} // namespace

Card scan_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = {"sum", "max"};
  run_by(card, scan::kVariants, kRun);
  card.resolved = [](const Problem& p) {
    return dispatch_numbers(p.dtype, [&]<class T>() {
      scan::Problem problem = problem_of(p, p.output_size());
      problem.segmented = is_segmented(p);
      return name(scan::resolved<T>(problem, scan::Variant::automatic));
    });
  };
  for (Variant& each : card.variants) {
    if (each.name == "naive")
      each.sequence = [](const Problem& p) { return p.output_size() / 256; };
    if (each.name != "pipelined") continue;
    each.supports = [](const Problem&) {
      const HopperDevice device;
      return scan::supports(scan::Variant::pipelined);
    };
    // look_back represents it on the executor. Segments would run look_back's kernel twice.
    each.tried = each.listed = [](const Problem& p) { return !is_segmented(p); };
    each.timed = [](const Problem&) { return backend == Backend::cuda; };
  }
  card.vendors = {[](const Problem& p) {
                    return has_offsets(p) ? std::vector<std::string_view>()
                                          : names(vendor::scan_table, vendor_problem(p));
                  },
                  run_vendor};
  card.vendors.zero = test::SignedZero::ignored;
  card.vendors.on_host = [](const Problem& p) {
    return has_offsets(p) ? std::set<std::string_view>() : std::set<std::string_view>{"thrust"};
  };
  card.references = references;
  card.elements = elements;
  card.exact_samples = scan_samples::exact_samples;
  card.special_samples = scan_samples::special_samples;
  card.usual = [](Dtype) { return each_form({kOdd}); };
  card.no_batches = "an element needs those before it";
  card.sizes = sizes;
  card.misaligned = these(
      {"sum_inclusive_n4133", "sum_exclusive_segments_n4133", "sum_inclusive_n4133_offsets40"});
  card.empty = {"sum_inclusive_n0", "max_exclusive_n0", "max_exclusive_segments_n0",
                "sum_inclusive_n0_offsets3"};
  // A maximum may stay the same, and the first sum of an exclusive scan is 0.
  card.vacuous_outputs = [](const Problem& p) {
    const Form& form = form_of(p);
    return form.op == scan::Op::max || form.n == 1 ? std::vector<std::string>{"y"}
                                                   : std::vector<std::string>();
  };
  card.kernels = kernels;
  card.bound_on_host =
      kg::Bound::sync; // on the executor a warp's shuffles cost more than its loads
  card.timed_on_host = {
      {"sum_inclusive_n16384", true}, {"max_exclusive_n40000"}, {"max_exclusive_segments_n16384"}};
  // 1 GiB of traffic in f32 at 2^27.
  card.timed_on_gpu = {{"sum_inclusive_n65536"},
                       {"sum_inclusive_n134217728", true},
                       {"sum_exclusive_n134217728"},
                       {"max_inclusive_n134217728"},
                       {"sum_inclusive_segments_n134217728"},
                       {"sum_inclusive_n134217728_offsets100000"}};
  return card;
}

} // namespace kg::card
