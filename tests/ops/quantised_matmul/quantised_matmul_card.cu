// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with weights of a few bits. A shape is w4_m1_n100_k256_g128 or w8_..., with the
// group size of a scale, or w8a8_m1_n100_k256. Host libraries have no product with these scales.
#include "ops/quantised_matmul/quantised_matmul.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libraries/quantised_matmul.h"
#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/hopper_device.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance.h"

namespace kg::card {
namespace {

using quantised_matmul::Kind;

struct Form {
  Kind kind;
  std::int64_t m, n, k, group;

  std::int64_t groups() const { return k / group; }
  std::int64_t row_bytes() const { return kind == Kind::w4 ? k / 2 : k; }
  Dtype of_w() const { return kind == Kind::e4m3 ? Dtype::e4m3 : Dtype::i8; }
};
ShapeGrammar<Form> grammar() {
  return ShapeGrammar<Form>()
      .enumerator(&Form::kind, quantised_matmul::kKinds)
      .number("m", &Form::m)
      .number("n", &Form::n)
      .number("k", &Form::k)
      .number("g", &Form::group, &Form::k, [](const Form& f) { return !by_rows(f.kind); })
      .demand([](const Form& f) -> std::string {
        return f.group > 0 && f.k % f.group != 0 ? "g must divide k" : "";
      });
}
const Form& form_of(const Problem& problem) { return problem.parameters.as<Form>(); }

template <class T>
quantised_matmul::Problem<T> described(const Form& f) {
  return {.kind = f.kind, .m = f.m, .n = f.n, .k = f.k, .group = f.group};
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Form f = grammar().parse(shape);
  const auto factors = [&](const char* name, Dtype type, std::vector<std::int64_t> extents) {
    return Tensor{
        .name = name, .dtype = type, .extents = extents, .by_row = false, .derived = true};
  };
  Problem result{
      dtype, shape.text(),
      dispatch(dtype, [&]<class T>() { return quantised_matmul::work(described<T>(f)); }),
      2.0 * static_cast<double>(f.m) * static_cast<double>(f.n) * static_cast<double>(f.k)};
  result.parameters = f;
  result.outputs = {{"y", dtype, {f.m, f.n}, false}};
  if (by_rows(f.kind))
    result.inputs = {{"x8", f.of_w(), {f.m, f.k}, false},
                     factors("x_scale", Dtype::f32, {f.m}),
                     factors("w_scale", Dtype::f32, {f.n})};
  else
    result.inputs = {{"x", dtype, {f.m, f.k}, false}, factors("scale", dtype, {f.n, f.groups()})};
  result.inputs.push_back(factors("w", f.of_w(), {f.n, f.row_bytes()}));
  result.calling = {std::string(name(f.kind)),
                    {{"m", {f.m}}, {"n", {f.n}}, {"k", {f.k}}, {"group", {f.group}}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, quantised_matmul::Variant variant,
                                  Stream& stream) {
  const Form& f = form_of(call.problem());
  quantised_matmul::Problem<T> p = described<T>(f);
  const bool bytes = by_rows(f.kind);
  p.m = call.extent("y", 0);
  p.n = call.extent("y", 1);
  p.k = call.extent(bytes ? "x8" : "x", 1);
  p.w = call.address("w");
  p.y = call.out<T>("y");
  if (bytes) {
    p.x8 = call.address("x8");
    p.x_scale = call.in<float>("x_scale");
    p.w_scale = call.in<float>("w_scale");
  } else {
    p.x = call.in<T>("x");
    p.scale = call.in<T>("scale");
  }
  std::optional<HopperDevice> device;
  if (variant == quantised_matmul::Variant::wgmma) device.emplace();
  return quantised_matmul::run(p, variant, stream);
};

// Whether tensor maps describe the rows of X, W and Y; otherwise wgmma runs mma's kernel.
bool in_packs(const Form& f, Dtype dtype) {
  return f.k % 16 == 0 && f.n * static_cast<std::int64_t>(size_of(dtype)) % 16 == 0;
}

// Products that wgmma leaves to mma would run twice. On the executor, mma represents it in timings.
std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(quantised_matmul::kVariants, kRun);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const quantised_matmul::Variant variant = quantised_matmul::kVariants[i];
    result[i].supports = [variant](const Problem& problem) {
      std::optional<HopperDevice> device;
      if (variant == quantised_matmul::Variant::wgmma) device.emplace();
      return quantised_matmul::supports(variant, form_of(problem).kind);
    };
    if (variant == quantised_matmul::Variant::naive)
      result[i].sequence = [](const Problem& problem) { return form_of(problem).k; };
    if (variant >= quantised_matmul::Variant::mma) result[i].forms = {"w8a8", "e4m3"};
    if (variant != quantised_matmul::Variant::wgmma) continue;
    result[i].tried = [](const Problem& p) { return in_packs(form_of(p), p.dtype); };
    result[i].listed = [](const Problem& p) {
      return in_packs(form_of(p), p.dtype) && form_of(p).m >= quantised_matmul::kManyRows;
    };
    result[i].timed = [](const Problem&) { return backend == Backend::cuda; };
  }
  return result;
}

std::vector<std::string_view> vendors_of(const Problem& problem) {
  const Kind kind = form_of(problem).kind;
  if (!by_rows(kind)) return {};
  return names(vendor::quantised_matmul_table, problem.dtype, kind == Kind::w8a8);
}

template <vendor::Math math>
void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const bool integers = form_of(call.problem()).kind == Kind::w8a8;
  const std::int64_t m = call.extent("y", 0), n = call.extent("y", 1);
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(m * n, 0)) * 4;
  vendor::quantised_matmul(vendor,
                           {integers, call.problem().dtype, m, n, call.extent("x8", 1),
                            call.address("x8"), call.address("w"), call.in<float>("x_scale"),
                            call.in<float>("w_scale"), call.address("y"),
                            integers ? static_cast<std::int32_t*>(call.workspace(bytes)) : nullptr},
                           math, stream);
}

// get(tensor, index) returns an element; bytes of w are signed.
template <class Get>
double weight(const Form& f, std::int64_t row, std::int64_t column, Get get) {
  if (f.kind != Kind::w4) return get("w", row * f.k + column);
  const auto both =
      static_cast<std::uint8_t>(static_cast<std::int8_t>(get("w", (row * f.k + column) / 2)));
  return static_cast<double>(column % 2 == 0 ? both & 15 : both >> 4) - 8;
}

// What wgmma may lose of e4m3's sums on a GPU, relative to their condition. Modelled, not measured:
// 32 products and a partial sum are aligned to the largest exponent and cut behind 13 bits. On
// zero-mean data, in units of 2^-13: a largest exponent of about 16 products' standard deviations,
// an error of 0.29 of it per product, and sqrt(128) such errors in 128 steps of k, whose condition
// is 82. That is 0.64; 4 are six standard deviations.
constexpr double kLostByTensorCores = 4 * 0x1p-13;

// A product like gemm's, with two more factors per term, and with results that may be subnormal in
// f32; for w8a8 three roundings of an exact sum.
template <class Get>
Reference product(const Problem& problem, std::int64_t first, std::int64_t count, Get get) {
  const Form& f = form_of(problem);
  const double u = unit_roundoff(Dtype::f32);
  Reference result;
  std::vector<double> bounds, coarse;
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::int64_t row = i / f.n, column = i % f.n;
    double sum = 0, condition = 0, of_group = 0;
    for (std::int64_t c = 0; c < f.k; ++c) {
      const double term =
          get(by_rows(f.kind) ? "x8" : "x", row * f.k + c) * weight(f, column, c, get);
      of_group += term;
      const double factor = by_rows(f.kind) ? 1 : get("scale", column * f.groups() + c / f.group);
      condition += std::fabs(term * factor);
      if ((c + 1) % f.group != 0) continue;
      sum += of_group * factor;
      of_group = 0;
    }
    if (by_rows(f.kind)) {
      const double scale = get("x_scale", row) * get("w_scale", column);
      sum *= scale;
      condition *= std::fabs(scale);
    }
    result.value.push_back(sum);
    const double computed =
        f.kind == Kind::w8a8 ? 3.01 * u * std::fabs(sum) + 2 * test::half_min_subnormal(Dtype::f32)
                             : test::gemm_f32_tolerance(f.k, condition) + 2 * u * condition +
                                   2 * test::half_min_subnormal(Dtype::f32);
    const double stored = test::round_to(problem.dtype, sum);
    if (!std::isfinite(stored)) result.value.back() = stored;
    const auto bound = [&](double error) {
      return std::isfinite(stored) ? test::stored_tolerance(problem.dtype, sum, error) : 0;
    };
    bounds.push_back(bound(computed));
    coarse.push_back(bound(computed + kLostByTensorCores * condition));
  }
  const bool loses = f.kind == Kind::e4m3 && backend == Backend::cuda;
  result.tolerance = [=](std::string_view variant) {
    return loses && variant == "wgmma" ? coarse : bounds;
  };
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  std::map<std::string_view, const std::vector<double>*> tensors;
  for (const auto& [name, input] : inputs) tensors[name] = &input.values;
  return {
      {"y", product(problem, 0, problem.outputs[0].size(), [&](const char* name, std::int64_t i) {
         return (*tensors.at(name))[static_cast<std::size_t>(i)];
       })}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  std::map<std::string_view, Elements> tensors;
  for (const Tensor& tensor : problem.inputs) tensors[tensor.name] = values(tensor.name);
  return product(problem, first, count,
                 [&](const char* name, std::int64_t i) { return tensors.at(name)(i); });
}

std::vector<double> powers(std::int64_t count, int first) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(std::ldexp(1.0, first + static_cast<int>(i * 7 % 3)));
  return result;
}

// Integers and powers of two whose products and sums are exact in f32, rounded once.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape :
       {"w4_m5_n19_k256_g64", "w4_m1_n9_k320_g32", "w8_m3_n20_k128_g32", "w8a8_m5_n17_k192",
        "w4_m2_n5_k36_g6", "w4_m3_n7_k96_g48", "w8a8_m2_n5_k37", "w8a8_m1_n9_k64",
        "w8a8_m130_n17_k208", "w8a8_m130_n264_k400", "e4m3_m5_n17_k192", "e4m3_m2_n5_k37",
        "e4m3_m18_n133_k208", "e4m3_m130_n136_k400"}) {
    const Problem p = problem(dtype, Shape::parse(shape));
    const Form& f = form_of(p);
    Sample sample{.fill = "integers", .shape = shape};
    if (by_rows(f.kind)) {
      sample.inputs["x_scale"] = values(Dtype::f32, powers(f.m, -4));
      sample.inputs["w_scale"] = values(Dtype::f32, powers(f.n, -5));
    } else {
      sample.inputs["x"] =
          values(dtype, test::integers(dtype, f.m * f.k, 3, test::Tensor::a).values);
      sample.inputs["scale"] = values(dtype, powers(f.n * f.groups(), -2));
    }
    const auto numbers = [&](std::int64_t count, test::Tensor tensor) {
      return values(f.of_w(), f.kind == Kind::e4m3
                                  ? test::integers(f.of_w(), count, 15, tensor).values
                                  : test::random_numbers(Dtype::i8, count, tensor).values);
    };
    sample.inputs["w"] = numbers(f.n * f.row_bytes(), test::Tensor::b);
    if (by_rows(f.kind)) sample.inputs["x8"] = numbers(f.m * f.k, test::Tensor::a);
    const References right = references(p, sample.inputs);
    for (const double value : right.at("y").value)
      sample.expected["y"].push_back(test::round_to(dtype, value));
    samples.push_back(std::move(sample));
  }
  return samples;
}

// NaN and infinities in a row of X, or in a factor, reach the results that depend on them.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto with = [&](Dtype type, std::int64_t count, std::int64_t at, double special) {
    std::vector<double> data = test::normal(type, count, test::Tensor::c).values;
    data[static_cast<std::size_t>(at)] = special;
    return values(type, std::move(data));
  };
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    samples.push_back({"special x", "w4_m3_n10_k64_g32", {{"x", with(dtype, 192, 70, special)}}});
    samples.push_back({"special x", "w8_m3_n10_k64_g64", {{"x", with(dtype, 192, 70, special)}}});
    samples.push_back(
        {"special scale", "w4_m3_n10_k64_g32", {{"scale", with(dtype, 20, 13, special)}}});
    samples.push_back({"special factor of x",
                       "e4m3_m20_n16_k64",
                       {{"x_scale", with(Dtype::f32, 20, 1, special)}}});
    for (const char* const shape : {"w8a8_m3_n10_k64", "w8a8_m20_n16_k64"}) {
      const Form f = grammar().parse(Shape::parse(shape));
      samples.push_back(
          {"special factor of x", shape, {{"x_scale", with(Dtype::f32, f.m, 1, special)}}});
      samples.push_back(
          {"special factor of w", shape, {{"w_scale", with(Dtype::f32, f.n, 4, special)}}});
    }
  }
  // e4m3 has no infinities; its NaN, alone among numbers of all magnitudes.
  for (const std::int64_t rows : {3, 20}) {
    std::vector<std::uint64_t> x, w;
    for (std::int64_t i = 0; i < rows * 64; ++i) x.push_back(i * 73 % 255);
    for (std::int64_t i = 0; i < 16 * 64; ++i) w.push_back(i * 41 % 255);
    for (std::vector<std::uint64_t>* both : {&x, &w})
      for (std::uint64_t& bits : *both)
        if ((bits & 0x7F) == 0x7F) bits = 0;
    samples.push_back({"all of e4m3",
                       "e4m3_m" + std::to_string(rows) + "_n16_k64",
                       {{"x8", bits(Dtype::e4m3, x)}, {"w", bits(Dtype::e4m3, w)}}});
    x[70] = 0x7F;
    w[5 * 64 + 63] = 0xFF;
    samples.push_back({"NaN of e4m3",
                       samples.back().shape,
                       {{"x8", bits(Dtype::e4m3, x)}, {"w", bits(Dtype::e4m3, w)}}});
  }
  for (Sample& sample : samples) sample.may_be_vacuous = true;
  return samples;
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  const Form& f = form_of(problem);
  const auto bytes = static_cast<std::int64_t>(size_of(problem.dtype));
  const std::int64_t chunk = f.kind == Kind::w4 ? 32 : 16;
  const auto at = [&](const char* name, std::int64_t each) {
    return place_of(layout, name).offset * each;
  };
  bool chunks = variant != "naive" && f.k % chunk == 0 && at("w", 1) % 16 == 0;
  if (by_rows(f.kind))
    chunks = chunks && at("x8", 1) % 16 == 0;
  else
    chunks = chunks && f.group % chunk == 0 && at("x", bytes) % (8 * bytes) == 0;
  if (!chunks) return {"quantised_matmul::naive<"};
  if (variant == "wgmma" && in_packs(f, problem.dtype) && at("y", bytes) % 16 == 0)
    return {"quantised_matmul::wgmma<"};
  if ((variant == "mma" || variant == "wgmma") && device_properties().compute_major >= 8)
    return {"quantised_matmul::mma<"};
  return {"quantised_matmul::skinny<", f.m == 1 ? ", 1>" : ", 4>"};
}

} // namespace

Card quantised_matmul_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = {"w4", "w8", "w8a8", "e4m3"};
  card.variants = variants();
  card.run_automatic = automatic_of(quantised_matmul::Variant::automatic, kRun);
  card.resolved = [](const Problem& p) {
    return dispatch(p.dtype, [&]<class T>() {
      return name(quantised_matmul::resolved(described<T>(form_of(p)),
                                             quantised_matmul::Variant::automatic));
    });
  };
  card.vendors = {vendors_of, run_vendor<vendor::Math::pedantic>};
  card.vendors.run_timed = run_vendor<vendor::Math::fastest>;
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.random_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const char* const shape :
         {"w4_m1_n20_k4096_g128", "w8_m1_n20_k2048_g64", "w8a8_m1_n20_k2048", "w8_m9_n33_k96_g16",
          "w8a8_m20_n136_k1040", "e4m3_m3_n20_k2048", "e4m3_m130_n20_k144", "e4m3_m20_n136_k1040"})
      samples.push_back({.fill = "normal", .shape = shape});
    return samples;
  };
  card.usual = these({"w4_m3_n21_k192_g64", "w8_m6_n17_k160_g32", "w8a8_m5_n19_k208",
                      "w4_m2_n9_k70_g10", "w8a8_m20_n136_k208", "e4m3_m20_n136_k80"});
  card.batches = these({"w4_m*_n21_k192_g64", "w8_m*_n17_k160_g32", "w8a8_m*_n19_k208",
                        "w8a8_m*_n128_k128", "e4m3_m*_n19_k208", "e4m3_m8*_n64_k80"});
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes;
    for (const int k : {2, 30, 32, 34, 64, 1024, 1056, 2048, 2080})
      shapes.push_back("w4_m2_n3_k" + std::to_string(k) + "_g" + std::to_string(k % 32 ? k : 32));
    for (const int k : {1, 15, 16, 17, 512, 528, 1024, 1040}) {
      shapes.push_back("w8_m2_n3_k" + std::to_string(k) + "_g" + std::to_string(k % 16 ? k : 16));
      shapes.push_back("w8a8_m2_n3_k" + std::to_string(k));
      shapes.push_back("e4m3_m2_n3_k" + std::to_string(k));
    }
    for (const char* const rows : {"m1_n1", "m3_n7", "m4_n8", "m5_n9", "m8_n16", "m17_n15",
                                   "m128_n9", "m129_n127", "m7_n129", "m129_n136"})
      shapes.push_back("w8a8_" + std::string(rows) + "_k64");
    return shapes;
  };
  card.misaligned =
      these({"w4_m2_n3_k64_g32", "w8_m2_n3_k32_g16", "w8a8_m2_n8_k32", "e4m3_m2_n3_k32"});
  card.empty = {"w4_m0_n3_k32_g32", "w8_m2_n0_k16_g16", "w8a8_m0_n0_k16", "w8a8_m2_n8_k0",
                "e4m3_m2_n0_k16"};
  card.kernel_name = kernel_name;
  card.bit_difference_reason = "fused products";
  card.timed_on_host = {{"w4_m1_n256_k1024_g128", true}, {"w8_m2_n256_k512_g64"},
                        {"w8a8_m4_n256_k512"},           {"w8a8_m128_n128_k128"},
                        {"e4m3_m128_n128_k128"},         {"w4_m4_n64_k512_g64"}};
  // The products of a decoding step of Llama-3-8B: gates and values, and the projection back.
  card.timed_on_gpu = {
      {"w4_m1_n28672_k4096_g128", true}, {"w4_m4_n4096_k14336_g128"}, {"w8_m1_n28672_k4096_g128"},
      {"w8_m4_n4096_k14336_g64"},        {"w8a8_m1_n28672_k4096"},    {"w8a8_m4_n4096_k14336"},
      {"w8a8_m4096_n4096_k4096"},        {"e4m3_m4096_n4096_k4096"},  {"e4m3_m1_n28672_k4096"}};
  return card;
}

} // namespace kg::card
