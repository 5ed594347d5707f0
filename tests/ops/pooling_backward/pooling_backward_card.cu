// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of pooling. If no windows overlap, a maximum's gradient is exact.
#include "ops/pooling_backward/pooling_backward.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "libraries/pooling.h"
#include "libraries/pooling_backward.h"
#include "tests/contract/card.h"
#include "tests/contract/execute.h"
#include "tests/contract/samples.h"
#include "tests/ops/pooling/problems.h"
#include "tests/ops/pooling/shapes.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/random.h"
#include "tests/oracle/tolerance.h"

namespace kg::card {
namespace {

using pooling::Kind;

// Only the maximum reads x.
Problem problem(Dtype dtype, const Shape& shape) {
  const Pools pools = pools_grammar().parse(shape);
  const pooling::Problem& p = pools.images;
  const Kind kind = pools.kind;
  Problem result{dtype, shape.text(), pooling_backward::work(dtype, kind, p),
                 static_cast<double>(p.outputs() * p.vertical.kernel * p.horizontal.kernel)};
  result.parameters = pools;
  const auto x = test::shape_in_layout(p, p.height, p.width);
  const auto y = test::shape_in_layout(p, p.out_height(), p.out_width());
  if (kind == Kind::max) result.inputs = {{"x", dtype, x}};
  result.inputs.push_back({.name = "dy", .dtype = dtype, .extents = y, .derived = true});
  result.outputs = {{"dx", dtype, x}};
  result.kept = {{"y", dtype, y}};
  result.calling = calling_of(p, kind);
  return result;
}

pooling::Problem images_of(const Problem& problem) { return images_of(problem, "dx"); }

constexpr auto kRun = []<class T>(const Call& call, pooling_backward::Variant variant,
                                  Stream& stream) {
  const Kind kind = kind_of(call.problem());
  const pooling::Problem p = images_of(call.problem());
  const bool valid = p.batch >= 0 && p.channels >= 0 && p.height >= 0 && p.width >= 0;
  const std::size_t bytes = valid ? pooling_backward::workspace_bytes(variant, kind, p) : 0;
  return pooling_backward::run<T>(kind, p, kind == Kind::max ? call.in<T>("x") : nullptr,
                                  call.in<T>("dy"), call.out<T>("dx"),
                                  bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
};

std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(pooling_backward::kVariants, kRun);
  for (Variant& each : result) {
    const auto variant = enumerator_of(pooling_backward::kVariants, each.name);
    each.supports = [variant](const Problem& p) {
      return pooling_backward::supports(variant, kind_of(p), images_of(p));
    };
  }
  return result;
}

// A library also needs the x of averages.
Problem of_vendor(const Problem& ours, std::string_view) {
  Problem result = ours;
  if (kind_of(ours) != Kind::max)
    result.inputs.push_back({"x", ours.dtype, ours.tensor("dx").extents});
  return result;
}

// The y of the library's own forward pass.
void prepare(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::pooling(vendor, kind_of(call.problem()), call.problem().dtype, images_of(call.problem()),
                  call.address("x"), call.address("y"), stream);
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::pooling_backward(
      vendor, kind_of(call.problem()), call.problem().dtype, images_of(call.problem()),
      {call.address("x"), call.address("y"), call.address("dy"), call.address("dx")}, stream);
}

test::PoolGradient gradient(const Problem& problem, const Inputs& inputs) {
  const pooling::Problem p = images_of(problem);
  const test::Pooling pooling = test::oracle_problem(kind_of(problem), p);
  const std::vector<double> dy = test::y_in_nchw(inputs.at("dy").values, p);
  if (kind_of(problem) != Kind::max) return test::average_pool_gradient_oracle(pooling, dy);
  return test::max_pool_gradient_oracle(pooling, test::x_in_nchw(inputs.at("x").values, p), dy);
}

References references(const Problem& problem, const Inputs& inputs) {
  const pooling::Problem p = images_of(problem);
  const test::PoolGradient oracle = gradient(problem, inputs);
  const Dtype dtype = problem.dtype;
  std::vector<double> ours, library;
  for (std::size_t i = 0; i < oracle.value.size(); ++i) {
    const double value = oracle.value[i], sum_abs = oracle.sum_abs[i];
    const std::int64_t terms = oracle.terms[i];
    // A maximum that comes from one window is its dy, bit for bit.
    if (terms <= (kind_of(problem) == Kind::max ? 1 : 0) || !std::isfinite(value)) {
      ours.push_back(0);
      library.push_back(0);
      continue;
    }
    ours.push_back(
        test::stored_tolerance(dtype, value, test::pool_gradient_f32_tolerance(terms, sum_abs)));
    // A library may round its shares and every partial sum to the stored type.
    library.push_back(static_cast<double>(terms + 2) *
                      (unit_roundoff(dtype) * sum_abs + test::half_min_subnormal(dtype)));
  }
  return {{"dx",
           {test::x_in_layout(oracle.value, p),
            [ours = test::x_in_layout(ours, p), library = test::x_in_layout(library, p)](
                std::string_view variant) { return variant.empty() ? library : ours; }}}};
}

// Rows that no window reaches, or without any maximum, are tiles of zeros.
test::Degenerate degenerate_of(const Problem& problem, const std::vector<double>& dx) {
  const auto& extents = problem.tensor("dx").extents;
  const std::int64_t tile = extents[2] * extents[3];
  for (auto at = dx.begin(); at != dx.end(); at += tile)
    if (std::all_of(at, at + tile, [](double value) { return value == 0; }))
      return test::Degenerate::sparse;
  return test::Degenerate::no;
}

test::Degenerate degenerate(const Problem& of) {
  return degenerate_of(of, references(of, completed(of, {})).at("dx").value);
}

// Integers whose sums are exact in f32 but no narrower type; shares of averages are exact if every
// window counts a power of two. x has few distinct values, so most windows have ties.
void add_integers(std::vector<Sample>& samples, Dtype dtype) {
  const std::int64_t widest = dtype == Dtype::f32 ? 1 << 18 : dtype == Dtype::f16 ? 2047 : 255;
  const pooling::Axis two{.kernel = 2, .pad_before = 1, .pad_after = 1};
  const pooling::Axis four{.kernel = 4, .stride = 2};
  std::vector<pooling::Problem> problems = test::window_problems();
  const auto halving =
      test::in_both_layouts({{2, 16, 9, 10, two, two}, {2, 16, 10, 8, four, four}});
  problems.insert(problems.end(), halving.begin(), halving.end());
  // Vertically adjacent strips of rows that are whole packs, and of channel packs, some of which
  // end after a row; with all phases between a strip and a window.
  const pooling::Axis three{.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  const pooling::Axis far{.kernel = 3, .stride = 2, .pad_before = 2, .pad_after = 2};
  const pooling::Axis half{.kernel = 2, .stride = 2, .pad_before = 1, .pad_after = 1};
  for (const pooling::Problem& strips :
       {pooling::Problem{1, 3, 45, 32, three, three}, pooling::Problem{1, 3, 20, 16, far, far},
        pooling::Problem{1, 3, 22, 16, half, half}, pooling::Problem{1, 3, 3, 16, half, half}})
    problems.push_back(strips);
  for (pooling::Problem strips :
       {pooling::Problem{1, 8, 45, 14, three, three}, pooling::Problem{2, 16, 20, 15, far, far},
        pooling::Problem{1, 8, 22, 13, half, half},
        pooling::Problem{1, 8, 9, 16, {.kernel = 3, .stride = 2}, {.kernel = 3, .stride = 2}}}) {
    strips.layout = pooling::Layout::nhwc;
    problems.push_back(strips);
  }
  for (const pooling::Problem& p : problems) {
    const std::int64_t kernel = p.vertical.kernel;
    const bool halves =
        kernel == p.horizontal.kernel && (kernel == 2 || kernel == 4) && !p.ceil_mode;
    for (const std::string& shape : with_each_kind({shape_of(p)})) {
      Sample sample{
          "integers",
          shape,
          {{"dy",
            values(dtype,
                   test::y_in_layout(
                       test::integers(dtype, p.outputs(), widest, test::Tensor::b).values, p))}}};
      const Problem of = problem(dtype, Shape::parse(shape));
      if (kind_of(of) == Kind::max)
        sample.inputs["x"] = values(
            dtype,
            test::x_in_layout(test::integers(dtype, p.inputs(), 3, test::Tensor::a).values, p));
      else if (!halves)
        continue;
      sample.degenerate = degenerate_of(of, references(of, sample.inputs).at("dx").value);
      samples.push_back(std::move(sample));
    }
  }
}

// An element's share is a correctly rounded quotient: for windows of 9 and of 35 elements, which do
// not overlap, or are the only one.
void add_quotients(std::vector<Sample>& samples, Dtype dtype) {
  for (const char* const windows :
       {"_n2_c8_h9_w6_k3_s3_p0", "_n1_c5_h10_w14_k5.7_s5.7_p0", "_n3_c16_h3_w3_k3_s2_p0"})
    for (const char* const layout : {"avgpad_nchw", "avgpad_nhwc"}) {
      Sample sample{"quotients", std::string(layout) + windows};
      const Problem of = problem(dtype, Shape::parse(sample.shape));
      sample.inputs = completed(of, {});
      std::vector<double> dx = references(of, sample.inputs).at("dx").value;
      for (double& share : dx) share = test::round_to(dtype, test::round_to(Dtype::f32, share));
      sample.expected["dx"] = std::move(dx);
      samples.push_back(std::move(sample));
    }
}

// The same for overlapping windows, if those with a nonzero dy do not overlap.
void add_quotients_apart(std::vector<Sample>& samples, Dtype dtype) {
  for (const char* const layout : {"avgpad_nchw", "avgpad_nhwc"}) {
    Sample sample{"quotients apart", std::string(layout) + "_n1_c16_h9_w16_k3_s1_p1"};
    const Problem of = problem(dtype, Shape::parse(sample.shape));
    const pooling::Problem p = images_of(of);
    const auto normals = completed(of, {});
    std::vector<double> dy = test::y_in_nchw(normals.at("dy").values, p);
    for (std::size_t i = 0; i < dy.size(); ++i)
      if (i % 16 % 3 != 1 || i / 16 % 9 % 3 != 1) dy[i] = 0;
    sample.inputs = {{"dy", values(dtype, test::y_in_layout(dy, p))}};
    std::vector<double> dx = references(of, sample.inputs).at("dx").value;
    for (double& share : dx) share = test::round_to(dtype, test::round_to(Dtype::f32, share));
    sample.expected["dx"] = std::move(dx);
    samples.push_back(std::move(sample));
  }
}

std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  add_integers(samples, dtype);
  add_quotients(samples, dtype);
  add_quotients_apart(samples, dtype);
  return samples;
}

// Windows of every form, and of padding alone; and the last tap that a byte can encode.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  std::vector<pooling::Problem> problems = test::window_problems();
  const auto of_padding = test::padding_problems();
  problems.insert(problems.end(), of_padding.begin(), of_padding.end());
  for (const std::string& shape : with_each_kind(shapes_of(problems)))
    samples.push_back({.fill = "normal",
                       .shape = shape,
                       .degenerate = degenerate(problem(dtype, Shape::parse(shape)))});
  std::vector<double> x = test::normal(dtype, 3 * 306, test::Tensor::a).values;
  for (std::size_t plane = 0; plane < 3; ++plane) x[plane * 306 + 15 * 18 + 15] = 100;
  samples.push_back({.fill = "last tap",
                     .shape = "max_nchw_n1_c3_h17_w18_k16_s1_p0",
                     .inputs = {{"x", values(dtype, x)}}});
  return samples;
}

std::uint64_t sign_of(Dtype dtype) { return std::uint64_t{1} << (8 * size_of(dtype) - 1); }

// NaN, infinities, and zeros of both signs, which are equal, in x; NaN and infinities in dy.
std::vector<Sample> special_samples(Dtype dtype) {
  const test::Random random(test::seed(), 29);
  const auto with = [&](std::vector<double> values, const std::vector<double>& special,
                        double share) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (random.chance(i, share))
        values[i] =
            special[static_cast<std::size_t>(random.integer(i, 0, std::ssize(special) - 1))];
    return values;
  };
  std::vector<Sample> samples;
  for (const std::string& shape :
       with_each_kind({"nchw_n1_c16_h9_w13_k2.3_s1.2_p0", "nhwc_n1_c16_h9_w13_k2.3_s1.2_p0",
                       "nchw_n2_c8_h5_w6_k3.6_s1_p1.0.2.0", "nhwc_n2_c8_h5_w6_k3.6_s1_p1.0.2.0",
                       "nchw_n1_c5_h9_w13_k3_s2_p1", "nhwc_n1_c16_h9_w13_k3_s2_p1",
                       "nchw_n1_c2_h9_w16_k3_s2_p1", "nhwc_n1_c8_h5_w7_k3_s1_p1",
                       "nchw_n3_c8_h3_w5_k3.5_s1_p0"})) {
    const Inputs normals = completed(problem(dtype, Shape::parse(shape)), {});
    const auto add = [&](const std::string& fill, const std::vector<double>& x,
                         const std::vector<double>& dy) {
      samples.push_back({.fill = fill, .shape = shape, .inputs = {{"dy", values(dtype, dy)}}});
      samples.back().may_be_vacuous = true;
      if (!x.empty()) samples.back().inputs["x"] = values(dtype, x);
    };
    const std::vector<double>& dy = normals.at("dy").values;
    const std::vector<double> special_dy = with(dy, {kNan, kInfinity, -kInfinity}, 0.1);
    const auto found = normals.find("x");
    const std::vector<double> x =
        found == normals.end() ? std::vector<double>() : found->second.values;
    add("special dy", x, special_dy);
    if (x.empty()) continue;
    const std::vector<double> special_x = with(x, {kNan, kInfinity, -kInfinity, 0.0, -0.0}, 0.3);
    add("special x", special_x, dy);
    add("special x and dy", special_x, special_dy);
    // A NaN is larger than any number, whatever its sign.
    std::vector<std::uint64_t> negative;
    for (const double value : special_x)
      negative.push_back(test::encode(dtype, value) | (std::isnan(value) ? sign_of(dtype) : 0));
    add("negative NaN", special_x, dy);
    samples.back().inputs["x"] = bits(dtype, negative);
    for (const double everywhere : {kNan, kInfinity, -kInfinity, -0.0})
      add("constant x", std::vector<double>(x.size(), everywhere), dy);
  }
  return samples;
}

// Around a pack of channels, and a warp and a block along either axis.
std::vector<std::string> sizes(Dtype) {
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  std::vector<pooling::Problem> problems;
  for (const std::int64_t channels : {1, 3, 4, 6, 8, 9, 12, 17})
    problems.push_back({1, channels, 3, 5, three, three});
  for (const std::int64_t extent : {1, 2, 31, 33, 129}) {
    problems.push_back({1, 8, 2, extent, {.kernel = 2}, three});
    problems.push_back({1, 8, extent, 2, three, {.kernel = 2}});
  }
  return with_each_kind(shapes_of(test::in_both_layouts(problems)));
}

// Averages of 3x3 with stride 1, on packs of channels or on rows that are packs in dy and dx.
bool adds_shares(const Problem& problem, const Layout& layout) {
  const pooling::Problem p = images_of(problem);
  const auto pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  for (const pooling::Axis& axis : {p.vertical, p.horizontal})
    if (axis.kernel != 3 || axis.stride != 1 || axis.dilation != 1) return false;
  if (p.is_global() || place_of(layout, "dy").offset % pack != 0 ||
      place_of(layout, "dx").offset % pack != 0)
    return false;
  if (p.layout == pooling::Layout::nhwc) return p.channels % pack == 0;
  return p.width % pack == 0 && p.out_width() == p.width && p.horizontal.pad_before == 1;
}

// Maxima of 2x2 and 3x3 with stride 2, on packs of channels, or on rows that are packs in x and dx.
std::vector<std::vector<std::string>> in_one_step(const Problem& problem, const Layout& layout) {
  const pooling::Problem p = images_of(problem);
  const auto pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  const auto aligned = [&](std::string_view name) {
    return place_of(layout, name).offset % pack == 0;
  };
  for (const pooling::Axis& axis : {p.vertical, p.horizontal})
    if (axis.kernel != p.vertical.kernel || (axis.kernel != 2 && axis.kernel != 3) ||
        axis.stride != 2 || axis.dilation != 1)
      return {};
  if (!aligned("x") || !aligned("dx")) return {};
  if (p.layout == pooling::Layout::nchw && p.width % pack == 0)
    return {{"pooling_backward::maximum_rows"}};
  if (p.layout == pooling::Layout::nhwc && p.channels % pack == 0 && aligned("dy"))
    return {{"pooling_backward::maximum_channels"}};
  return {};
}

std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout& layout) {
  if (problem.output_size() == 0) return {};
  if (variant == "naive") return {{"pooling_backward::naive"}};
  if (kind_of(problem) != Kind::max)
    return {
        {adds_shares(problem, layout) ? "pooling_backward::Shares" : "pooling_backward::gather"}};
  const auto one_step = in_one_step(problem, layout);
  if (!one_step.empty()) return one_step;
  return {{"pooling_backward::choose"}, {"pooling_backward::gather"}};
}

} // namespace

Card pooling_backward_card() {
  Card card = pooling_family();
  card.problem = problem;
  card.variants = variants();
  card.resolved = [](const Problem& p) {
    return name(
        pooling_backward::resolved(pooling_backward::Variant::automatic, kind_of(p), images_of(p)));
  };
  card.run_automatic = automatic_of(pooling_backward::Variant::automatic, kRun);
  card.vendors.names = [](const Problem& p) {
    return names(vendor::pooling_backward_table, kind_of(p), p.dtype, images_of(p));
  };
  card.vendors.run = run_vendor;
  card.vendors.on_host = libraries_on_host;
  card.vendors.problem = of_vendor;
  card.vendors.prepare = prepare;
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.degenerate = degenerate;
  card.vendor_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const std::string& shape : with_each_kind(shapes_of(test::window_problems())))
      samples.push_back({"normal", shape});
    return samples;
  };
  card.usual = [](Dtype) { // and a window with more taps than a byte can encode
    auto shapes = with_each_kind({"nchw_n2_c8_h9_w10_k3_s1_p1", "nhwc_n2_c8_h9_w10_k3_s1_p1",
                                  "nchw_n2_c5_h7_w9_k3.2_s2.3_p0_ceil"});
    shapes.push_back("max_nchw_n1_c1_h17_w17_k17_s1_p0");
    return shapes;
  };
  card.sizes = sizes;
  card.misaligned = [](Dtype) {
    return with_each_kind({"nchw_n1_c16_h5_w7_k3_s2_p1", "nhwc_n1_c16_h5_w7_k3_s2_p1",
                           "nchw_n1_c16_h5_w7_k5.7_s1_p0", "nhwc_n1_c16_h5_w7_k5.7_s1_p0",
                           "nchw_n1_c2_h5_w16_k3_s1_p1", "nchw_n1_c2_h5_w16_k3_s2_p1"});
  };
  card.kernels = kernels;
  return card;
}

} // namespace kg::card
