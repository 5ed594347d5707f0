// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts in bins of equal width, which must be exact. The header declares, rounding by rounding,
// which bin a number of f32 falls into.
#include "ops/histogram/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libraries/histogram.h"
#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card {
namespace {

histogram::Problem call_of(const Problem& problem, std::int64_t n, std::int64_t bins) {
  return {n, bins, problem.scalars.at("lower"), problem.scalars.at("upper")};
}

template <class Function>
auto dispatch_counted(Dtype dtype, Function function) {
  if (dtype == Dtype::i32) return function.template operator()<std::int32_t>();
  if (dtype == Dtype::i8) return function.template operator()<std::int8_t>();
  return function.template operator()<float>();
}

struct Counted {
  std::int64_t n, bins;
};
ShapeGrammar<Counted> grammar() {
  return ShapeGrammar<Counted>().number("n", &Counted::n).number("bins", &Counted::bins);
}

// Bins of width 1 for bytes, a thousand bins for i32; the bins of f32 cover -2 to 2.
Problem problem(Dtype dtype, const Shape& shape) {
  const auto [n, bins] = grammar().parse(shape);
  const auto width = static_cast<double>(std::max<std::int64_t>(bins, 1));
  const double lower = dtype == Dtype::f32 ? -2 : dtype == Dtype::i8 ? -120 : -1000 * width / 2;
  const double upper = dtype == Dtype::f32 ? 2 : dtype == Dtype::i8 ? -120 + width : -lower;
  const Work work = dispatch_counted(dtype, [&]<class T>() {
    return histogram::work<T>({n, bins, lower, upper});
  });
  Problem result{dtype, shape.text(), work, static_cast<double>(n)};
  result.inputs = {{"x", dtype, {n}}};
  result.outputs = {{"counts", Dtype::i32, {bins}}};
  result.scalars = {{"lower", lower}, {"upper", upper}};
  result.outputs[0].by_row = false;
  if (dtype == Dtype::i32) { // a tenth is out of range
    result.inputs[0].period = kUsualPeriod;
    result.inputs[0].element = [most = static_cast<std::int64_t>(550 * width)](std::int64_t i) {
      return static_cast<std::uint64_t>(
          static_cast<std::uint32_t>(test::random_of(test::seed(), test::Tensor::a)
                                         .integer(static_cast<std::uint64_t>(i), -most, most)));
    };
  }
  return result;
}

constexpr auto kRun = [](const Call& call, histogram::Variant variant, Stream& stream) {
  return dispatch_counted(call.problem().dtype, [&]<class T>() {
    return histogram::run(call_of(call.problem(), call.extent("x", 0), call.extent("counts", 0)),
                          call.in<T>("x"), call.out<std::int32_t>("counts"), variant, stream);
  });
};

vendor::HistogramProblem vendor_problem(const Problem& problem) {
  return {problem.dtype, problem.inputs[0].extents[0], problem.outputs[0].extents[0],
          problem.scalars.at("lower"), problem.scalars.at("upper")};
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::histogram(vendor, vendor_problem(call.problem()), call.address("x"),
                    static_cast<std::int32_t*>(call.address("counts")), stream);
}

// The bin of a number, by the steps that the header specifies; -1: none.
std::int64_t bin_of(Dtype dtype, double x, const histogram::Problem& p) {
  if (!(x >= p.lower && x < p.upper)) return -1;
  const auto bins = static_cast<double>(p.bins);
  if (dtype != Dtype::f32)
    return static_cast<std::int64_t>(std::floor((x - p.lower) / ((p.upper - p.lower) / bins)));
  const auto f32 = [](double value) { return test::round_to(Dtype::f32, value); };
  const double scale = f32(bins / f32(p.upper - p.lower));
  return std::min(static_cast<std::int64_t>(std::floor(f32(f32(x - p.lower) * scale))), p.bins - 1);
}

Reference reference(const Problem& problem, const Elements& x) {
  const std::int64_t n = problem.inputs[0].extents[0], bins = problem.outputs[0].extents[0];
  const histogram::Problem p = call_of(problem, n, bins);
  Reference counts{std::vector<double>(static_cast<std::size_t>(bins), 0.0), {}};
  x.each(n, [&](double value, std::int64_t times) {
    const std::int64_t bin = bin_of(problem.dtype, value, p);
    if (bin >= 0) counts.value[static_cast<std::size_t>(bin)] += static_cast<double>(times);
  });
  counts.holds_zeros = true;
  return counts;
}

References references(const Problem& problem, const Inputs& inputs) {
  const std::vector<double>& x = inputs.at("x").values;
  return {{"counts",
           reference(problem, [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; })}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  const Reference all = reference(problem, values("x"));
  return {{all.value.begin() + first, all.value.begin() + first + count}, {}};
}

std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  std::vector<std::vector<std::string>> names;
  if (problem.output_size() > 0) names.push_back({"clear_words"});
  if (problem.output_size() > 0 && problem.inputs[0].size() > 0)
    names.push_back({"histogram::" + std::string(variant) + "<"});
  return names;
}

std::string shape_of(std::int64_t n, std::int64_t bins) {
  return "n" + std::to_string(n) + "_bins" + std::to_string(bins);
}

// Bin boundaries and their neighbors; all elements in one bin; all out of range; in two bins.
std::vector<Sample> exact_samples(Dtype dtype) {
  const std::int64_t bins = dtype == Dtype::i8 ? 240 : 100;
  std::vector<Sample> samples;
  const auto add = [&](std::string fill, std::vector<double> x) {
    const std::string shape = shape_of(std::ssize(x), bins);
    samples.push_back({std::move(fill), shape, {{"x", values(dtype, std::move(x))}}});
    samples.back().may_be_vacuous = true;
  };
  const histogram::Problem p = call_of(problem(dtype, Shape::parse(shape_of(1, bins))), 1, bins);
  const double width = (p.upper - p.lower) / static_cast<double>(bins);
  std::vector<double> ends;
  for (std::int64_t b = -2; b <= bins + 2; ++b) {
    const double end = test::round_to(dtype, p.lower + width * static_cast<double>(b));
    if (dtype == Dtype::f32)
      ends.insert(ends.end(), {end, std::nextafter(static_cast<float>(end), 9.0F),
                               std::nextafter(static_cast<float>(end), -9.0F)});
    else
      ends.insert(ends.end(), {end, end, end - 1});
  }
  add("ends of bins", ends);
  const double first = test::round_to(dtype, p.lower + width);
  add("one bin", std::vector<double>(9001, first));
  add("outside", std::vector<double>(5000, p.upper));
  std::vector<double> two(9001, first);
  for (std::size_t i = 0; i < two.size(); i += 2)
    two[i] = test::round_to(dtype, p.lower + 7 * width);
  add("two bins", std::move(two));
  return samples;
}

std::vector<Sample> special_samples(Dtype dtype) {
  if (is_integer(dtype)) return {};
  std::vector<std::uint64_t> x;
  for (const test::SpecialValue& special : test::special_values(dtype))
    x.insert(x.end(), 3, special.bits);
  Sample sample{"special", shape_of(std::ssize(x), 50), {{"x", bits(dtype, x)}}};
  sample.may_be_vacuous = true;
  return {sample};
}

std::vector<std::int64_t> bins_of(Dtype dtype) {
  if (dtype == Dtype::i8) return {240};
  return {100, 5000};
}

} // namespace

Card histogram_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, histogram::kVariants, kRun);
  for (Variant& each : card.variants)
    each.supports = [variant = enumerator_of(histogram::kVariants, each.name)](const Problem& p) {
      return histogram::supports(variant, p.output_size());
    };
  card.resolved = [](const Problem& p) {
    return name(histogram::resolved(histogram::Variant::automatic, p.output_size()));
  };
  card.vendors = {
      [](const Problem& p) { return names(vendor::histogram_table, vendor_problem(p)); },
      run_vendor};
  card.vendors.on_host = always({"thrust"});
  card.references = references;
  card.elements = elements;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype dtype) {
    std::vector<std::string> shapes;
    for (const std::int64_t bins : bins_of(dtype)) shapes.push_back(shape_of(9011, bins));
    return shapes;
  };
  // Borders of blocks' first packs, of a grid of them, and of their second round; blocks of each
  // size; bins of 32 counters to 4.
  card.sizes = [](Dtype dtype) {
    const std::int64_t pack = dtype == Dtype::i8 ? 16 : 4, tile = 1024 * pack;
    const std::int64_t grid = device_properties().sm_count * tile;
    std::vector<std::string> shapes;
    for (const std::int64_t n : {std::int64_t{40}, tile - 1, tile, tile + 1, grid / 2 + 5,
                                 grid + tile + pack + 3, 6 * grid + tile + 77})
      shapes.push_back(shape_of(n, 16));
    for (const std::int64_t bins : {1, 2, 3, 127, 240}) shapes.push_back(shape_of(3000, bins));
    if (dtype != Dtype::i8)
      for (const std::int64_t bins : {512, 513, 1024, 1025, 2048, 2049, 4095, 4096, 4097})
        shapes.push_back(shape_of(12000, bins));
    return shapes;
  };
  card.misaligned = these({shape_of(4109, 16)});
  card.refused_scalars = {{"upper", {-1e7, std::numeric_limits<double>::quiet_NaN()}}};
  card.empty = {"n0_bins0", "n0_bins5"};
  card.vacuous_outputs = [](const Problem& p) { // no elements, no counts
    return p.inputs[0].size() == 0 ? std::vector<std::string>{"counts"}
                                   : std::vector<std::string>();
  };
  card.kernels = kernels;
  card.timed_on_host = {{"n65536_bins240", true}, {"n65536_bins64"}};
  // 1 GiB of f32 at 2^28.
  card.timed_on_gpu = {{"n65536_bins240"}, {"n268435456_bins240", true}, {"n268435456_bins64"}};
  return card;
}

} // namespace kg::card
