// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Casts to and from 8-bit floating point: narrow_e4m3_saturated_n5 of the type's elements,
// optionally without saturated; widen_e5m2_n5 back to the type. Every result must be exact. No host
// library supports the 8-bit types.
#include "ops/cast/cast.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card {
namespace {

struct Form {
  bool narrow, saturated;
  Dtype small;
  std::int64_t n;
};
ShapeGrammar<Form> form_grammar() {
  return ShapeGrammar<Form>()
      .one_of(&Form::narrow, {{"narrow", true}, {"widen", false}})
      .one_of(&Form::small, {{"e4m3", Dtype::e4m3}, {"e5m2", Dtype::e5m2}})
      .flag("saturated", &Form::saturated);
}
ShapeGrammar<Form> grammar() { return form_grammar().number("n", &Form::n); }
const Form& form_of(const Problem& problem) { return problem.parameters.as<Form>(); }

const std::vector<std::string> kForms = {"narrow_e4m3_saturated",
                                         "narrow_e5m2_saturated",
                                         "narrow_e4m3",
                                         "narrow_e5m2",
                                         "widen_e4m3",
                                         "widen_e5m2"};

Problem problem(Dtype dtype, const Shape& shape) {
  const Form f = grammar().parse(shape);
  if (f.saturated && !f.narrow) throw Error("nothing saturates in widen; remove 'saturated'");
  const Dtype from = f.narrow ? dtype : f.small, to = f.narrow ? f.small : dtype;
  Problem result{dtype, shape.text(), cast::work(from, to, f.n), 0};
  result.parameters = f;
  result.inputs = {{"x", from, {f.n}}};
  result.outputs = {{"y", to, {f.n}}};
  result.calling = {form_grammar().print(f), {{"n", {f.n}}}};
  return result;
}

template <class T, class Small>
cast::Variant run_with(const Form& f, const Call& call, cast::Variant variant, Stream& stream) {
  const std::int64_t n = call.extent("x", 0);
  void* const x = call.address("x");
  void* const y = call.address("y");
  if (f.narrow)
    return cast::run(static_cast<const T*>(x), static_cast<Small*>(y), n, f.saturated, variant,
                     stream);
  return cast::run(static_cast<const Small*>(x), static_cast<T*>(y), n, false, variant, stream);
}

constexpr auto kRun = []<class T>(const Call& call, cast::Variant variant, Stream& stream) {
  const Form& f = form_of(call.problem());
  return f.small == Dtype::e4m3 ? run_with<T, e4m3>(f, call, variant, stream)
                                : run_with<T, e5m2>(f, call, variant, stream);
};

// The bits of a number in the small type. Infinities count as out of range. In e4m3, out-of-range
// numbers become a NaN with their sign; NaN becomes a NaN without sign.
std::uint64_t narrowed_bits(const Form& f, double x) {
  if (std::isnan(x)) return 0x7F;
  const double most = test::max_finite(f.small);
  const double nearest = test::round_to(f.small, x);
  if (std::fabs(nearest) <= most) return test::encode(f.small, nearest);
  const std::uint64_t beyond = test::encode(f.small, most) + (f.saturated ? 0 : 1);
  return beyond | (std::signbit(x) ? 0x80 : 0);
}

Reference reference(const Problem& problem, std::int64_t first, std::int64_t count,
                    const Elements& x) {
  const Form& f = form_of(problem);
  Reference result;
  for (std::int64_t i = first; i < first + count; ++i) {
    if (f.narrow) result.bits.push_back(narrowed_bits(f, x(i)));
    result.value.push_back(f.narrow ? test::decode(f.small, result.bits.back()) : x(i));
  }
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  const std::vector<double>& x = inputs.at("x").values;
  return {{"y", reference(problem, 0, std::ssize(x),
                          [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; })}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  Reference result = reference(problem, first, count, values("x"));
  result.bits.clear();
  return result;
}

Sample sample_of(const std::string& form, const std::string& fill, test::Observed x) {
  return {fill,
          form + "_n" + std::to_string(x.bits.empty() ? x.values.size() : x.bits.size()),
          {{"x", std::move(x)}}};
}

// Every number of the small types and of 16-bit types; as many of f32, spread over all kinds.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string& form : kForms) {
    const Form f = grammar().parse(form + "_n0");
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < 3 * 256 + 5; ++i) all.push_back(i & 0xFF);
    if (f.narrow)
      all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
    samples.push_back(sample_of(form, "all bits", bits(f.narrow ? dtype : f.small, all)));
    samples.back().may_be_vacuous = true;
  }
  return samples;
}

// Midpoints between neighbors of the small type, and numbers one ulp of `dtype` away if
// representable, up to and beyond the largest number.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string& form : kForms) {
    const Form f = grammar().parse(form + "_n0");
    std::vector<double> x;
    for (std::uint64_t code = 0; code < 0x7F && f.narrow; ++code) {
      const double low = test::decode(f.small, code);
      if (!std::isfinite(low)) break;
      const double middle = low + test::ulp(f.small, low) / 2;
      for (const double at : {low, middle}) {
        if (!test::is_representable(dtype, at) || !std::isfinite(at)) continue;
        const double step = test::ulp(dtype, at);
        for (const double near : {at - step, at, at + step})
          if (test::is_representable(dtype, near)) x.insert(x.end(), {near, -near});
      }
    }
    for (std::uint64_t code = 0; code < 2 * 256 && !f.narrow; ++code) {
      const double number = test::decode(f.small, code * 37 & 0xFF);
      if (std::isfinite(number)) x.push_back(number);
    }
    samples.push_back(sample_of(form, "neighbours", values(f.narrow ? dtype : f.small, x)));
    samples.back().may_be_vacuous = true;
  }
  return samples;
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  const auto wide = static_cast<std::int64_t>(size_of(problem.dtype));
  const std::int64_t pack = 16 / wide;
  const bool packs = variant == "vectorized" && place_of(layout, "x").offset % pack == 0 &&
                     place_of(layout, "y").offset % pack == 0;
  return {packs ? "cast::vectorized<" : "cast::naive<"};
}

} // namespace

Card cast_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = {"narrow_e4m3", "narrow_e5m2", "widen_e4m3", "widen_e5m2"};
  run_by(card, cast::kVariants, kRun);
  card.references = references;
  card.elements = elements;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.random_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const std::string& form : kForms) samples.push_back({"normal", form + "_n10243"});
    return samples;
  };
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return in_each_form(kForms, {"n4100"}); };
  card.sizes = [](Dtype dtype) {
    const auto pack = 16 / static_cast<std::int64_t>(size_of(dtype));
    std::vector<std::string> lengths;
    for (const std::int64_t n : {std::int64_t{1}, pack - 1, pack, pack + 1, 255 * pack + 1,
                                 1024 * pack - 1, 1024 * pack, 1024 * pack + 1, 2048 * pack + 3})
      lengths.push_back("n" + std::to_string(n));
    return in_each_form({"narrow_e4m3_saturated", "widen_e5m2"}, lengths);
  };
  card.misaligned = [](Dtype) {
    return in_each_form({"narrow_e4m3_saturated", "narrow_e5m2", "widen_e4m3"}, {"n77"});
  };
  card.empty = in_each_form(card.forms, {"n0"});
  card.kernel_name = kernel_name;
  card.timed_on_host = {{"narrow_e4m3_saturated_n65536", true}, {"widen_e4m3_n65536"}};
  card.timed_on_gpu = {{"narrow_e4m3_saturated_n65536"},
                       {"narrow_e4m3_saturated_n134217728", true},
                       {"narrow_e5m2_n134217728"},
                       {"widen_e4m3_n134217728"}};
  return card;
}

} // namespace kg::card
