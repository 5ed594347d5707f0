// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys and the reductions of their values. Minima, maxima, the first of each run, and
// sums of i32, which wrap around, must be exact. Shapes are named sum_k32_n5, with 32 or 64 bits
// per key.
#include "ops/reduce_by_key/reduce_by_key.h"

#include <cmath>
#include <limits>

#include "libraries/reduce_by_key.h"
#include "runtime/preconditions.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/ops/select/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_scan.h"

namespace kg::card {
namespace {

using reduce_by_key::Op;

// Runs of at least 3 elements, six on average, which start where select keeps elements, so that
// their number and starts are known without counting.
constexpr std::int64_t kStep = 3;
std::int64_t runs_of(std::int64_t n) { return select_samples::kept_of(div_up(n, kStep)); }
std::int64_t first_of_run(std::int64_t run) { return select_samples::place_of_kept(run) * kStep; }

// The run's number within a period. The next 64-bit key differs in only one half, alternating
// between the lower and the upper.
std::uint64_t key_of_run(Dtype keys, std::int64_t run) {
  constexpr std::int64_t kRuns = select_samples::kept_of(select_samples::kPeriod);
  const auto number = static_cast<std::uint64_t>(run % kRuns);
  return keys == Dtype::i32 ? number & 0xFFFFFFFFu : (number + 1) / 2 << 32 | number / 2;
}

struct Runs {
  Op op;
  bool wide;
  std::int64_t n;

  Dtype key() const { return wide ? Dtype::f64 : Dtype::i32; } // the bits of an i64
  std::int64_t tile() const { return wide ? 2048 : 4096; }
};
ShapeGrammar<Runs> grammar() {
  return ShapeGrammar<Runs>()
      .enumerator(&Runs::op, reduce_by_key::kOps)
      .one_of(&Runs::wide, {{"k32", false}, {"k64", true}})
      .number("n", &Runs::n);
}
const Runs& shape_of(const Problem& problem) { return problem.parameters.as<Runs>(); }

reduce_by_key::Problem call_of(const Problem& problem, std::int64_t n) {
  return {shape_of(problem).op, n, problem.dtype, size_of(problem.inputs[0].dtype)};
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Runs parameters = grammar().parse(shape);
  const auto& [op, wide, n] = parameters;
  const std::int64_t runs = runs_of(n);
  const Dtype key = parameters.key();
  const Work work = reduce_by_key::work({op, n, dtype, size_of(key)}, runs);
  Problem result{dtype, shape.text(), work, op == Op::first ? 0 : static_cast<double>(n)};
  result.parameters = parameters;
  result.inputs = {{"keys", key, {n}}, {"values", dtype, {n}}};
  result.inputs[0].element = [key](std::int64_t i) { return key_of_run(key, runs_of(i + 1) - 1); };
  result.inputs[0].period = kStep * select_samples::kPeriod;
  result.outputs = {{"count", Dtype::i32, {1}}, {"unique", key, {n}}, {"results", dtype, {n}}};
  result.outputs[0].derived = true; // its extent is not an argument
  result.outputs[1].counted_by = result.outputs[2].counted_by = "count";
  if (wide) result.inputs[0].c_type = result.outputs[1].c_type = "int64_t";
  result.unwritten = static_cast<double>(n - runs) * static_cast<double>(size_of(key) + 4);
  result.calling = {std::string(name(op)) + (wide ? "_k64" : "_k32"), {{"n", {n}}}};
  return result;
}

reduce_by_key::Arrays arrays_of(const Call& call) {
  return {call.address("keys"), call.address("values"), call.address("unique"),
          call.address("results"), call.out<std::int32_t>("count")};
}

constexpr auto kRun = [](const Call& call, reduce_by_key::Variant variant, Stream& stream) {
  const reduce_by_key::Problem p = call_of(call.problem(), call.extent("keys", 0));
  const std::size_t bytes = p.n < 0 ? 0 : reduce_by_key::workspace_bytes(p, variant);
  return reduce_by_key::run(p, arrays_of(call), bytes > 0 ? call.workspace(bytes) : nullptr,
                            variant, stream);
};

reduce_by_key::Problem vendor_problem(const Problem& problem) {
  return call_of(problem, problem.inputs[0].extents[0]);
}

// A library's order is unknown; the worst case is sequential.
std::int64_t chain(const Problem& problem, std::string_view variant) {
  const reduce_by_key::Problem p = vendor_problem(problem);
  return variant.empty()
             ? p.n
             : reduce_by_key::chain(p, enumerator_of(reduce_by_key::kVariants, variant));
}

// The results of runs; each run is [first, end) of x.
Reference combined(const Problem& problem,
                   const std::vector<std::pair<std::int64_t, std::int64_t>>& runs,
                   const Elements& x) {
  const Op op = shape_of(problem).op;
  test::ScanOracle all;
  for (const auto& [first, behind] : runs) {
    if (op == Op::sum) {
      const test::ScanOracle one = test::scan_oracle(
          scan::Op::sum, scan::Kind::inclusive, problem.dtype, behind - first - 1, 1,
          [&, begin = first](std::int64_t i) { return x(begin + i); }, false,
          [](std::int64_t) { return false; });
      all.value.push_back(one.value[0]);
      all.norm2.push_back(one.norm2[0]);
      all.sum_abs.push_back(one.sum_abs[0]);
      all.terms.push_back(one.terms[0]);
      continue;
    }
    double result = x(first);
    for (std::int64_t i = first + 1; i < behind && op != Op::first; ++i) {
      const double next = x(i);
      const bool stays = op == Op::min ? result < next : result > next;
      if (!stays && !std::isnan(result)) result = next;
    }
    all.value.push_back(result);
  }
  if (problem.dtype == Dtype::i32) return {all.value, {}};
  if (op != Op::sum)
    return {all.value,
            [size = all.value.size()](std::string_view) { return std::vector<double>(size, 0.0); }};
  return {all.value, [problem, all](std::string_view variant) {
            return test::scan_sum_tolerances(problem.dtype, all, chain(problem, variant));
          }};
}

std::vector<std::uint64_t> bits_of(const test::Observed& x) {
  if (!x.bits.empty()) return x.bits;
  std::vector<std::uint64_t> result;
  for (const double value : x.values) result.push_back(test::encode(x.dtype, value));
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  const std::vector<std::uint64_t> keys = bits_of(inputs.at("keys"));
  const test::Observed& x = inputs.at("values");
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  Reference unique;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) {
      runs.push_back({static_cast<std::int64_t>(i), 0});
      unique.bits.push_back(keys[i]);
      unique.value.push_back(test::decode(problem.inputs[0].dtype, keys[i]));
    }
    runs.back().second = static_cast<std::int64_t>(i) + 1;
  }
  Reference results = combined(
      problem, runs, [&](std::int64_t i) { return x.values[static_cast<std::size_t>(i)]; });
  if (shape_of(problem).op == Op::first) {
    const std::vector<std::uint64_t> bits = bits_of(x);
    for (const auto& run : runs) results.bits.push_back(bits[static_cast<std::size_t>(run.first)]);
  }
  return {{"count", {{static_cast<double>(runs.size())}, {}}},
          {"unique", std::move(unique)},
          {"results", std::move(results)}};
}

// For timing, with the problem's keys.
Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                   std::int64_t count, const Values& values) {
  const std::int64_t n = problem.inputs[0].extents[0];
  if (output == "count") return {{static_cast<double>(runs_of(n))}, {}};
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  Reference unique;
  const Dtype key = problem.inputs[0].dtype;
  for (std::int64_t run = first; run < first + count; ++run) {
    runs.push_back({first_of_run(run), std::min(first_of_run(run + 1), n)});
    unique.value.push_back(test::decode(key, key_of_run(key, run)));
  }
  return output == "unique" ? unique : combined(problem, runs, values("values"));
}

// A single tile needs neither look-back nor memory for it.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  const std::vector<std::string> own = {"reduce_by_key::" + std::string(variant) + "<"};
  if (variant == "naive" || problem.inputs[0].size() <= shape_of(problem).tile()) return {own};
  return {{"clear_words"}, own};
}

// Not a constant: cards are initialized before constants of this file.
std::vector<std::string> all_forms() { return {"sum", "min", "max", "first"}; }

// For 64-bit keys, whose tiles are half as long, half the length.
std::vector<std::string> shapes(const std::vector<std::int64_t>& lengths,
                                const std::vector<std::string>& forms = all_forms()) {
  std::vector<std::string> each;
  for (const std::int64_t n : lengths) {
    each.push_back("k32_n" + std::to_string(n));
    each.push_back("k64_n" + std::to_string(div_up(n, 2)));
  }
  return in_each_form(forms, each);
}

// All keys equal, no two adjacent keys equal, and runs shorter than a pack, longer than a warp's
// row and longer than a tile; with small integers, whose sums are exact in every order.
std::vector<Sample> exact_samples(Dtype dtype) {
  constexpr std::int64_t kCount = 4096 + 77;
  std::vector<Sample> samples;
  for (const std::int64_t length :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{700}, kCount - 30, kCount})
    for (const std::string& shape : shapes({kCount})) {
      const Runs parameters = grammar().parse(shape);
      const std::int64_t n = parameters.n;
      const Dtype key = parameters.key();
      std::vector<std::uint64_t> keys;
      for (std::int64_t i = 0; i < n; ++i) keys.push_back(key_of_run(key, i / length % 2));
      const test::Fill x = test::integers(dtype, n, 100, test::Tensor::a);
      samples.push_back({"runs of " + std::to_string(length),
                         shape,
                         {{"keys", bits(key, keys)}, {"values", values(dtype, x.values)}}});
      samples.back().may_be_vacuous = true;
    }
  return samples;
}

// Runs of each special number, and each after it; for sums only those without overflow, which
// depends on the order.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string& form : all_forms()) {
    std::vector<std::uint64_t> special, x;
    if (is_integer(dtype)) {
      for (const double each : {-2147483648.0, -1.0, 0.0, 1.0, 2147483647.0})
        special.push_back(test::encode(dtype, each));
    } else {
      for (const test::SpecialValue& each : test::special_values(dtype)) {
        const double value = std::fabs(test::decode(dtype, each.bits));
        if (form != "sum" || !(value > 1) || std::isinf(value)) special.push_back(each.bits);
      }
    }
    std::vector<std::uint64_t> keys;
    for (const std::uint64_t a : special)
      for (const std::uint64_t b : special) {
        x.insert(x.end(), {a, b, a, b, b});
        const auto pair = static_cast<std::uint64_t>(keys.size());
        keys.insert(keys.end(), {pair, pair, pair + 1, pair + 2, pair + 2});
      }
    samples.push_back({"special",
                       form + "_k32_n" + std::to_string(x.size()),
                       {{"keys", bits(Dtype::i32, keys)}, {"values", bits(dtype, x)}}});
    samples.back().may_be_vacuous = true;
  }
  return samples;
}

} // namespace

Card reduce_by_key_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = all_forms();
  run_by(card, reduce_by_key::kVariants, kRun);
  for (Variant& each : card.variants)
    if (each.name == "naive") {
      each.tried = [](const Problem& p) { return p.inputs[0].size() <= 10000; };
      each.sequence = [](const Problem& p) { return p.inputs[0].size() / 256; };
    }
  card.vendors = {
      [](const Problem& p) { return names(vendor::reduce_by_key_table, vendor_problem(p)); },
      [](std::string_view vendor, const Call& call, Stream& stream) {
        vendor::reduce_by_key(vendor, vendor_problem(call.problem()), arrays_of(call), stream);
      }};
  card.vendors.zero = test::SignedZero::ignored;
  card.vendors.on_host = always({"thrust"});
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return shapes({4500}); };
  card.no_batches = "the keys say which elements a result has";
  card.sizes = [](Dtype) {
    std::vector<std::string> result = shapes({1, 3, 17, 257, 4095, 4096, 4097}, {"sum"});
    result.push_back("max_k64_n67585"); // beyond a group of tiles
    return result;
  };
  card.misaligned = [](Dtype) { return shapes({2100}, {"sum"}); };
  card.empty = {"sum_k32_n0", "min_k64_n0", "max_k32_n0", "first_k64_n0"};
  card.vacuous_outputs = [](const Problem& p) {
    return shape_of(p).n == 0 ? std::vector<std::string>{"count", "unique", "results"}
                              : std::vector<std::string>();
  };
  card.kernels = kernels;
  card.bound_on_host =
      kg::Bound::sync; // on the executor a warp's shuffles cost more than its loads
  card.timed_on_host = {{"sum_k32_n16384", true}, {"first_k64_n16384"}};
  // 1 GiB of keys and values at 2^27.
  card.timed_on_gpu = {{"sum_k32_n65536"},
                       {"sum_k32_n134217728", true},
                       {"max_k32_n134217728"},
                       {"first_k64_n67108864"}};
  return card;
}

} // namespace kg::card
