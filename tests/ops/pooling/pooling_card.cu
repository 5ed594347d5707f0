// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling of images.
#include "ops/pooling/pooling.h"

#include <cmath>

#include "libraries/pooling.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/pooling/problems.h"
#include "tests/ops/pooling/shapes.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_rows.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  const Pools pools = pools_grammar().parse(shape);
  const pooling::Problem& p = pools.images;
  Problem result{dtype, shape.text(), pooling::work(dtype, p),
                 static_cast<double>(p.outputs() * p.vertical.kernel * p.horizontal.kernel)};
  result.inputs = {{"x", dtype, test::shape_in_layout(p, p.height, p.width)}};
  result.outputs = {{"y", dtype, test::shape_in_layout(p, p.out_height(), p.out_width())}};
  result.outputs[0].derived = true;
  result.calling = calling_of(p, pools.kind);
  result.parameters = pools;
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, pooling::Variant variant, Stream& stream) {
  return pooling::run<T>(kind_of(call.problem()), images_of(call.problem(), "x"), call.in<T>("x"),
                         call.out<T>("y"), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::pooling(vendor, kind_of(call.problem()), call.problem().dtype,
                  images_of(call.problem(), "x"), call.address("x"), call.address("y"), stream);
}

// The maximum is exact; an average has the tolerance of a sum in any order.
References references(const Problem& problem, const Inputs& inputs) {
  const pooling::Problem p = images_of(problem, "x");
  const test::Pooling pooling = test::oracle_problem(kind_of(problem), p);
  const std::vector<double> x = test::x_in_nchw(inputs.at("x").values, p);
  if (kind_of(problem) == pooling::Kind::max)
    return {{"y", {test::y_in_layout(test::max_pool_oracle(pooling, x).value, p), {}}}};
  const test::PoolOracle oracle = test::average_pool_oracle(pooling, x);
  const std::int64_t area = p.vertical.kernel * p.horizontal.kernel;
  std::vector<double> tolerance;
  for (std::size_t i = 0; i < oracle.value.size(); ++i)
    tolerance.push_back(
        std::isfinite(oracle.value[i])
            ? test::stored_tolerance(problem.dtype, oracle.value[i],
                                     test::average_pool_f32_tolerance(area, oracle.mean_abs[i]))
            : 0);
  return {{"y",
           {test::y_in_layout(oracle.value, p),
            [bounds = test::y_in_layout(tolerance, p)](std::string_view) { return bounds; }}}};
}

// Every kind with x, which is in nchw.
void add(std::vector<Sample>& samples, Dtype dtype, const std::string& fill,
         const pooling::Problem& p, const std::vector<double>& x,
         test::Degenerate degenerate = test::Degenerate::no) {
  for (const std::string& shape : with_each_kind({shape_of(p)})) {
    samples.push_back({fill, shape, {{"x", values(dtype, test::x_in_layout(x, p))}}});
    samples.back().degenerate = degenerate;
    samples.back().zero = test::SignedZero::ignored; // a maximum of zeros may have either sign
  }
}

std::vector<double> normals(Dtype dtype, const pooling::Problem& p) {
  return test::normal(dtype, p.inputs(), test::Tensor::a).values;
}

// Integers as wide as the type; sums over these windows are exact in f32 but no narrower type.
std::vector<Sample> exact_samples(Dtype dtype) {
  const std::int64_t widest = dtype == Dtype::f32 ? 1 << 18 : dtype == Dtype::f16 ? 2047 : 255;
  std::vector<Sample> samples;
  for (const pooling::Problem& p : test::window_problems())
    add(samples, dtype, "integers", p,
        test::integers(dtype, p.inputs(), widest, test::Tensor::a).values);
  return samples;
}

// Planes around a warp, its four loads, and a block; one and many images. Small planes: more than a
// block has threads, one more than a block takes, planes shared by lanes, and the largest.
std::vector<pooling::Problem> global_problems(Dtype dtype) {
  const auto global = [](std::int64_t batch, std::int64_t channels, std::int64_t height,
                         std::int64_t width) {
    return pooling::Problem{batch, channels, height, width, {.kernel = height}, {.kernel = width}};
  };
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype)), lanes = 32 * pack;
  return test::in_both_layouts(
      {global(1, 9, 1, 31), global(9, 3, 1, 129), global(1, 8, 1, lanes - 1),
       global(2, 8, 1, lanes + 8), global(1, 8, 5, lanes), global(2, 40 * pack, 2, 3),
       global(1, 8, 16, 17), global(1, 9, 1, 8 * lanes + 1), global(1, 9, 9, lanes),
       global(3, 100, 1, 3), global(1, 129, 1, 7 * pack), global(1, 41, 14, 14),
       global(1, 17, 1, 1023), global(2, 8, 1, 1016)});
}

std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const pooling::Problem& p : test::window_problems()) { // a maximum must not start at 0
    std::vector<double> x = test::positive(dtype, p.inputs(), test::Tensor::a).values;
    for (double& value : x) value = -value;
    add(samples, dtype, "negative", p, x);
  }
  for (const pooling::Problem& p : test::padding_problems())
    add(samples, dtype, "normal", p, normals(dtype, p));
  // Negative, so that averages of large planes are not near 0, and maxima differ from padding.
  for (const pooling::Problem& p : global_problems(dtype)) {
    std::vector<double> x = normals(dtype, p);
    for (double& value : x) value = -std::fabs(value);
    add(samples, dtype, "negative normal", p, x);
  }
  return samples;
}

// NaN and infinities at every position of a window, range limits, and zeros of both signs.
std::vector<Sample> special_samples(Dtype dtype) {
  // Sums of the largest numbers overflow only in f32, at another position than in fp64.
  const double largest =
      dtype == Dtype::f16 ? test::max_finite(dtype) : test::round_to(dtype, 1e30);
  const double least = test::min_subnormal(dtype);
  const double special[] = {kNan,  kInfinity, -kInfinity, largest, -largest,
                            least, -least,    0.0,        -0.0};
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  std::vector<Sample> samples;
  for (const pooling::Problem& p :
       test::in_both_layouts({{1, 16, 9, 13, {.kernel = 2}, {.kernel = 3, .stride = 2}},
                              {16, 8, 3, 3, {.kernel = 3}, {.kernel = 3}},
                              {1, 8, 5, 16, three, three}})) {
    std::vector<double> x = normals(dtype, p);
    const test::Random random(test::seed(), 23);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (random.chance(i, 0.15)) x[i] = special[random.integer(i, 0, std::ssize(special) - 1)];
    add(samples, dtype, "special", p, x);
    if (p.horizontal.pad_before > 0) continue; // averages of a constant differ at a border
    for (const double everywhere : {kNan, -kInfinity, -test::max_finite(dtype), -0.0})
      if (!std::isfinite(everywhere) || everywhere == 0 || dtype == Dtype::f16)
        add(samples, dtype, "constant", p, std::vector<double>(x.size(), everywhere),
            everywhere == 0 ? test::Degenerate::zero : test::Degenerate::constant);
  }
  // Windows of one element pass on every bit pattern: NaN as some NaN, others bit for bit.
  const auto all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  samples.push_back({"all_bits", "max_nhwc_n1_c16_h64_w64_k1_s1_p0", {{"x", bits(dtype, all)}}});
  return samples;
}

// Around a pack of channels, a strip, and a warp and a block along either axis.
std::vector<std::string> sizes(Dtype) {
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  std::vector<pooling::Problem> problems;
  for (const std::int64_t channels : {1, 3, 4, 6, 8, 9, 12, 17})
    for (const pooling::Problem& p :
         test::in_both_layouts({{1, channels, 3, 5, three, three},
                                {2, channels, 3, 3, {.kernel = 3}, {.kernel = 3}}}))
      problems.push_back(p);
  for (const std::int64_t extent : {1, 3, 4, 5, 8, 9, 31, 33, 129})
    for (const pooling::Problem& p : test::in_both_layouts(
             {{1, 8, 2, extent, {.kernel = 2}, three}, {1, 8, extent, 2, three, {.kernel = 2}}}))
      problems.push_back(p);
  return with_each_kind(shapes_of(problems));
}

// Square windows with specialized kernels: 3x3 with stride 1 or 2, 2x2 with stride 2.
bool of_known_windows(const pooling::Problem& p) {
  const pooling::Axis& v = p.vertical;
  const pooling::Axis& h = p.horizontal;
  return v.kernel == h.kernel && v.stride == h.stride && v.dilation == 1 && h.dilation == 1 &&
         ((v.kernel == 3 && v.stride <= 2) || (v.kernel == 2 && v.stride == 2));
}

// These windows over rows of whole packs, which need one more element on either side.
bool of_rows_of_packs(const pooling::Problem& p, std::int64_t pack) {
  const pooling::Axis& h = p.horizontal;
  return p.out_width() % pack == 0 && p.width == h.stride * p.out_width() &&
         h.pad_before == (h.kernel == 3 ? 1 : 0);
}

// Planes small enough for 16 bytes per element to fit 16 KiB; packs are padded to an odd number.
bool of_small_planes(const pooling::Problem& p, std::int64_t pack, bool aligned) {
  const std::int64_t size = p.height * p.width;
  const bool packs = aligned && size % pack == 0;
  return 16 * (packs && size / pack % 2 == 0 ? size + pack : size) <= 16 * 1024;
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  const pooling::Problem p = images_of(problem, "x");
  const bool planes = p.layout == pooling::Layout::nchw;
  const auto pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  const bool x_aligned = place_of(layout, "x").offset % pack == 0;
  const bool aligned = x_aligned && place_of(layout, "y").offset % pack == 0;
  const bool packs = p.channels % pack == 0 && aligned;
  if (variant == "naive") return {"pooling::naive"};
  if (p.is_global() && !planes) return {"pooling::global_channels"};
  if (p.is_global() && of_small_planes(p, pack, x_aligned)) return {"pooling::small_planes"};
  if (p.is_global()) return {"pooling::global_planes"};
  if (!of_known_windows(p) || !(planes || packs)) return {"pooling::strips"};
  if (planes && aligned && of_rows_of_packs(p, pack)) return {"pooling::row_windows"};
  return {planes ? "pooling::plane_windows" : "pooling::pack_windows"};
}

} // namespace

Card pooling_card() {
  Card card = pooling_family();
  card.problem = problem;
  run_by(card, pooling::kVariants, kRun);
  card.vendors = {[](const Problem& p) {
                    return names(vendor::pooling_table, kind_of(p), p.dtype, images_of(p, "x"));
                  },
                  run_vendor};
  card.vendors.on_host = libraries_on_host;
  card.zero = card.vendors.zero = test::SignedZero::ignored; // a maximum of zeros may be either
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return with_each_kind(shapes_of(test::window_problems())); };
  card.vendor_samples = [](Dtype) { // no library computes windows of padding alone
    std::vector<Sample> samples;
    for (const auto& problems : {test::window_problems(), test::padding_problems()})
      for (const std::string& shape : with_each_kind(shapes_of(problems)))
        samples.push_back({"normal", shape});
    return samples;
  };
  card.sizes = sizes;
  card.misaligned = [](Dtype) {
    return with_each_kind({"nchw_n1_c16_h5_w7_k3_s2_p1", "nhwc_n1_c16_h5_w7_k3_s2_p1",
                           "nchw_n1_c2_h5_w16_k3_s1_p1", "nchw_n2_c16_h4_w8_k4.8_s1_p0",
                           "nhwc_n2_c16_h4_w8_k4.8_s1_p0", "nchw_n1_c5_h7_w7_k7_s1_p0",
                           "nchw_n1_c1_h1_w3_k1.3_s1_p0"});
  };
  card.kernel_name = kernel_name;
  return card;
}

} // namespace kg::card
