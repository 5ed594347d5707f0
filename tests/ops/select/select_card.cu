// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Flagged elements, and the first of each run of equal elements. Results must be exact; the data
// determine their number.
#include "ops/select/select.h"

#include "libraries/select.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/ops/select/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card {
namespace {

bool is_flagged(const Problem& problem) { return problem.inputs.size() > 1; }

select::Problem call_of(Dtype dtype, std::int64_t n, bool flagged) {
  return {flagged ? select::Wanted::flagged : select::Wanted::runs, n, size_of(dtype)};
}

struct Selected {
  bool flagged;
  std::int64_t n;
};
ShapeGrammar<Selected> grammar() {
  return ShapeGrammar<Selected>()
      .one_of(&Selected::flagged, {{"flagged", true}, {"unique", false}})
      .number("n", &Selected::n);
}

Problem problem(Dtype dtype, const Shape& shape) {
  const auto [flagged, n] = grammar().parse(shape);
  const std::int64_t kept = select_samples::kept_of(n);
  Problem result{dtype, shape.text(), select::work(call_of(dtype, n, flagged), kept), 0};
  result.inputs = {{"x", dtype, {n}}};
  if (flagged) {
    result.inputs.push_back({"flags", Dtype::i8, {n}});
    result.inputs[1].element = [](std::int64_t i) { // any nonzero byte counts
      return std::uint64_t{select_samples::is_kept(i)} << i % 7;
    };
    result.inputs[1].period = select_samples::kPeriod;
    result.patterns = true;
  } else {
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * size_of(dtype));
    result.inputs[0].element = [all](std::int64_t i) { // the number of its run
      return static_cast<std::uint64_t>(select_samples::kept_of(i + 1)) & all;
    };
    result.inputs[0].period = select_samples::kPeriod; // a run ends there
  }
  result.outputs = {{"count", Dtype::i32, {1}}, {"y", dtype, {n}}};
  result.outputs[0].derived = true; // its extent is not an argument
  result.outputs[1].counted_by = "count";
  result.unwritten = static_cast<double>(n - kept) * static_cast<double>(size_of(dtype));
  return result;
}

constexpr auto kRun = [](const Call& call, select::Variant variant, Stream& stream) {
  const bool flagged = is_flagged(call.problem());
  const select::Problem p = call_of(call.problem().dtype, call.extent("y", 0), flagged);
  const std::size_t bytes = p.n < 0 ? 0 : select::workspace_bytes(p, variant);
  return select::run(p, call.address("x"), flagged ? call.in<std::int8_t>("flags") : nullptr,
                     call.address("y"), call.out<std::int32_t>("count"),
                     bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
};

vendor::SelectProblem vendor_problem(const Problem& problem) {
  return {problem.dtype, problem.inputs[0].extents[0], is_flagged(problem)};
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const vendor::SelectProblem p = vendor_problem(call.problem());
  vendor::select(vendor, p, call.address("x"),
                 p.flagged ? static_cast<const std::int8_t*>(call.address("flags")) : nullptr,
                 call.address("y"), static_cast<std::int32_t*>(call.address("count")), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const test::Observed& x = inputs.at("x");
  const auto bits_of = [&](std::size_t i) {
    return x.bits.empty() ? test::encode(x.dtype, x.values[i]) : x.bits[i];
  };
  const std::vector<double>* flags = is_flagged(problem) ? &inputs.at("flags").values : nullptr;
  Reference y;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const bool keep = flags != nullptr ? (*flags)[i] != 0 : i == 0 || bits_of(i) != bits_of(i - 1);
    if (!keep) continue;
    y.bits.push_back(bits_of(i));
    y.value.push_back(test::decode(x.dtype, y.bits.back()));
  }
  const auto count = static_cast<double>(y.value.size());
  return {{"count", {{count}, {}}}, {"y", std::move(y)}};
}

// For timing, with the problem's data.
Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                   std::int64_t count, const Values& values) {
  if (output == "count")
    return {{static_cast<double>(select_samples::kept_of(problem.inputs[0].extents[0]))}, {}};
  const Elements x = values("x");
  Reference result;
  for (std::int64_t i = first; i < first + count; ++i)
    result.value.push_back(x(select_samples::place_of_kept(i)));
  return result;
}

std::int64_t tile_of(Dtype dtype) { return 16384 / static_cast<std::int64_t>(size_of(dtype)); }

// A single tile needs neither look-back nor memory for it.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  std::vector<std::string> select = {"select::" + std::string(variant) + "<"};
  if (variant == "naive") return {select};
  select.push_back(is_flagged(problem) ? "true>" : "false>");
  if (problem.inputs[0].size() <= tile_of(problem.dtype)) return {select};
  return {{"clear_words"}, select};
}

std::vector<std::string> shapes(const std::vector<std::int64_t>& lengths) {
  std::vector<std::string> each;
  for (const std::int64_t n : lengths) each.push_back("n" + std::to_string(n));
  return in_each_form({"flagged", "unique"}, each);
}

// All kept, none, one at either end, every third, and runs; for unique all elements equal, and no
// two adjacent ones equal.
std::vector<Sample> exact_samples(Dtype dtype) {
  const std::int64_t n = 2 * tile_of(dtype) + 77;
  const auto size = static_cast<std::size_t>(n);
  const std::vector<double> none(size, 0.0), all(size, 1.0);
  std::vector<double> first = none, last = none, third = none, stretches = none, alternating = none;
  first.front() = last.back() = -128;
  for (std::size_t i = 0; i < size; ++i) {
    third[i] = i % 3 == 2 ? 127 : 0;
    stretches[i] = i / 700 % 2 == 0 ? 1 : 0;
    alternating[i] = static_cast<double>(i % 2);
  }
  std::vector<Sample> samples;
  for (const std::vector<double>& flags : {none, all, first, last, third, stretches}) {
    samples.push_back(
        {"flags", "flagged_n" + std::to_string(n), {{"flags", values(Dtype::i8, flags)}}});
    samples.back().may_be_vacuous = true;
  }
  for (const std::vector<double>& x : {none, first, last, stretches, alternating}) {
    samples.push_back({"runs", "unique_n" + std::to_string(n), {{"x", values(dtype, x)}}});
    samples.back().may_be_vacuous = true;
  }
  return samples;
}

// Runs of each special number next to each other one: zeros of opposite signs differ, and NaN are
// equal only with equal payloads.
std::vector<Sample> special_samples(Dtype dtype) {
  if (is_integer(dtype)) return {};
  std::vector<std::uint64_t> x;
  for (const test::SpecialValue& a : test::special_values(dtype))
    for (const test::SpecialValue& b : test::special_values(dtype))
      x.insert(x.end(), {a.bits, a.bits, b.bits, b.bits, b.bits});
  std::vector<Sample> samples;
  for (const std::string& shape : shapes({std::ssize(x)}))
    samples.push_back({"special", shape, {{"x", bits(dtype, x)}}});
  return samples;
}

} // namespace

Card select_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = {"flagged", "unique"};
  run_by(card, select::kVariants, kRun);
  for (Variant& each : card.variants)
    if (each.name == "naive")
      each.sequence = [](const Problem& p) { return p.inputs[0].size() / 256; };
  card.vendors = {[](const Problem& p) { return names(vendor::select_table, vendor_problem(p)); },
                  run_vendor};
  card.vendors.on_host = always({"thrust"});
  card.references = references;
  card.elements = elements;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype dtype) { return shapes({2 * tile_of(dtype) + 1011}); };
  card.sizes = [](Dtype dtype) {
    const std::int64_t tile = tile_of(dtype);
    return shapes({1, 2, 15, 17, 127, 129, 513, tile - 1, tile, tile + 1, 33 * tile + 1});
  };
  card.misaligned = [](Dtype) { return shapes({5, 2100}); };
  card.empty = shapes({0});
  card.vacuous_outputs = [](const Problem& p) {
    return p.inputs[0].size() == 0 ? std::vector<std::string>{"count", "y"}
                                   : std::vector<std::string>();
  };
  card.kernels = kernels;
  card.bound_on_host =
      kg::Bound::sync; // on the executor a warp's shuffles cost more than its loads
  card.timed_on_host = {{"flagged_n16384", true}, {"unique_n16384"}};
  // At least 1 GiB in f32 at 2^27.
  card.timed_on_gpu = {{"flagged_n65536"}, {"flagged_n134217728", true}, {"unique_n134217728"}};
  return card;
}

} // namespace kg::card
