// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of a convolution (tests/ops/conv2d/convolutions.h defines its shapes) with respect
// to its input, weights and bias, separately: the first word of a shape.
#include "ops/conv2d_backward/conv2d_backward.h"

#include "libraries/conv2d_backward.h"
#include "runtime/backend.h"
#include "tests/ops/conv2d/convolutions.h"
#include "tests/ops/conv2d/elements.h"
#include "tests/ops/conv2d_backward/samples.h"

namespace kg::card {
namespace {

using conv2d::Geometry;
using conv2d_backward::Gradient;
using conv2d_backward_samples::grammar;
using conv2d_backward_samples::of_each;
using conv2d_backward_samples::products_of;
using test::in_both_layouts;
using test::kThree;

const conv2d_backward_samples::Convolution& parameters_of(const Problem& problem) {
  return problem.parameters.as<conv2d_backward_samples::Convolution>();
}
Gradient gradient_of(const Problem& problem) { return parameters_of(problem).gradient; }

// With the extents of the tensors.
Geometry geometry_of(const Problem& problem) {
  auto [gradient, g] = parameters_of(problem);
  const std::size_t channel = g.layout == conv2d::Layout::nhwc ? 3 : 1;
  const std::size_t row = g.layout == conv2d::Layout::nhwc ? 1 : 2;
  const auto& extents = [&](const char* tensor) { return problem.tensor(tensor).extents; };
  if (gradient == Gradient::bias) {
    const std::vector<std::int64_t> dy = extents("dy");
    if (dy[row] != g.out_height()) g.height = dy[row];
    if (dy[row + 1] != g.out_width()) g.width = dy[row + 1];
    g.batch = dy[0];
    g.out_channels = dy[channel];
    return g;
  }
  const std::vector<std::int64_t> x = extents(gradient == Gradient::input ? "gradient" : "x");
  const std::vector<std::int64_t> weights =
      extents(gradient == Gradient::input ? "weights" : "gradient");
  g.batch = x[0];
  g.in_channels = x[channel];
  g.height = x[row];
  g.width = x[row + 1];
  g.out_channels = weights[0];
  g.vertical.kernel = weights[row];
  g.horizontal.kernel = weights[row + 1];
  g.groups = g.in_channels / weights[channel];
  return g;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const conv2d_backward_samples::Convolution parameters = grammar().parse(shape);
  const auto& [gradient, g] = parameters;
  Problem result{dtype, shape.text(), conv2d_backward::work(gradient, dtype, g),
                 static_cast<double>(g.outputs()) *
                     (gradient == Gradient::bias ? 1 : 2 * static_cast<double>(g.depth()))};
  result.parameters = parameters;
  Tensor dy{"dy", dtype, test::y_shape(g)};
  dy.derived = gradient != Gradient::bias;
  result.inputs = {dy};
  if (gradient == Gradient::input)
    result.inputs.push_back({"weights", dtype, test::weights_shape(g)});
  if (gradient == Gradient::weights) result.inputs.push_back({"x", dtype, test::x_shape(g)});
  result.outputs = {{"gradient", dtype,
                     gradient == Gradient::input     ? test::x_shape(g)
                     : gradient == Gradient::weights ? test::weights_shape(g)
                                                     : std::vector{g.out_channels}}};
  result.calling = test::calling_of(g, std::string(name(gradient)) + "_");
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, conv2d_backward::Variant variant,
                                  Stream& stream) {
  const Gradient gradient = gradient_of(call.problem());
  const Geometry g = geometry_of(call.problem());
  return conv2d_backward::run<T>(
      gradient,
      {g, call.in<T>("dy"), gradient == Gradient::weights ? call.in<T>("x") : nullptr,
       gradient == Gradient::input ? call.in<T>("weights") : nullptr, call.out<T>("gradient"),
       call.workspace(conv2d_backward::workspace_bytes<T>(gradient, g, variant))},
      variant, stream);
};

std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(conv2d_backward::kVariants, kRun);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const conv2d_backward::Variant variant = conv2d_backward::kVariants[i];
    const bool product = variant == conv2d_backward::Variant::implicit_gemm;
    result[i].supports = [variant](const Problem& p) {
      return dispatch(p.dtype, [&]<class T>() {
        return conv2d_backward::supports<T>(gradient_of(p), variant, geometry_of(p));
      });
    };
    if (variant == conv2d_backward::Variant::vectorized)
      result[i].dependence = [](const Problem& p) -> Dependence {
        if (geometry_of(p).layout == conv2d::Layout::nchw) return {};
        return {"the pixels that a thread adds up follow how many channels there are", ""};
      };
    // Groups of one channel would leave matrix tiles empty.
    result[i].listed = [product](const Problem& p) {
      return !product || !geometry_of(p).is_depthwise();
    };
    // Excludes launches of more than a few milliseconds on the executor's Tensor Cores, which
    // 16-bit types use.
    result[i].timed = [product](const Problem& p) {
      return backend != Backend::host || p.dtype == Dtype::f32 || !product;
    };
    if (variant == conv2d_backward::Variant::direct) // one thread sums over all images
      result[i].sequence = [](const Problem& p) -> std::int64_t {
        const Gradient gradient = gradient_of(p);
        return gradient == Gradient::input ? 1 : products_of(gradient, geometry_of(p));
      };
  }
  return result;
}

template <vendor::Math math>
void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Gradient gradient = gradient_of(call.problem());
  vendor::conv2d_backward(
      vendor,
      {gradient, call.problem().dtype, geometry_of(call.problem()), call.address("dy"),
       gradient == Gradient::weights ? call.address("x") : nullptr,
       gradient == Gradient::input ? call.address("weights") : nullptr, call.address("gradient")},
      math, stream);
}

// The tolerance for every variant: that of a sum in any order.
Reference bounded(std::vector<double> value, std::vector<double> tolerance,
                  std::vector<double> unit = {}) {
  Reference result{std::move(value),
                   [bounds = std::move(tolerance)](std::string_view) { return bounds; },
                   std::move(unit)};
  result.holds_zeros = true; // elements that no window reaches, and taps entirely in the padding
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  const Gradient gradient = gradient_of(problem);
  const Geometry g = geometry_of(problem);
  const auto values = [&](const char* name, std::int64_t size) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? std::vector<double>(static_cast<std::size_t>(size))
                                 : found->second.values;
  };
  const test::ConvolutionGradients all = test::convolution_gradients(
      test::oracle_problem(g), test::x_in_nchw(values("x", g.inputs()), g),
      test::weights_in_oihw(values("weights", g.weights()), g),
      test::y_in_nchw(values("dy", g.outputs()), g));
  const test::ConvolutionOracle& right = gradient == Gradient::input     ? all.x
                                         : gradient == Gradient::weights ? all.weights
                                                                         : all.bias;
  const auto in_layout = [&](const std::vector<double>& numbers) {
    return gradient == Gradient::input     ? test::x_in_layout(numbers, g)
           : gradient == Gradient::weights ? test::weights_in_layout(numbers, g)
                                           : numbers;
  };
  return {{"gradient", bounded(in_layout(right.value),
                               in_layout(test::product_tolerances(problem.dtype,
                                                                  products_of(gradient, g), right)),
                               in_layout(test::error_units(problem.dtype, right.condition)))}};
}

// An element of the input's gradient, and one of the weights' or the bias's.
Sum products_of_x(const Geometry& g, const Images::Element& e, const Elements& dy,
                  const Elements& weights) {
  const Images y = images_of_y(g), filters = filters_of(g);
  const std::int64_t group = e.channel / g.group_inputs();
  Sum sum;
  for (std::int64_t r = 0; r < filters.rows; ++r)
    for (std::int64_t s = 0; s < filters.columns; ++s) {
      const std::int64_t row = e.row - coordinate(g.vertical, 0, r);
      const std::int64_t column = e.column - coordinate(g.horizontal, 0, s);
      if (row % g.vertical.stride != 0 || column % g.horizontal.stride != 0) continue;
      Images::Element window{e.outer, 0, row / g.vertical.stride, column / g.horizontal.stride};
      if (!y.holds(window)) continue;
      for (std::int64_t o = group * g.group_outputs(); o < (group + 1) * g.group_outputs(); ++o) {
        window.channel = o;
        sum.add(dy(y.index(window)) *
                weights(filters.index({o, e.channel % g.group_inputs(), r, s})));
      }
    }
  return sum;
}
Sum products_of_places(const Geometry& g, const Images::Element& e, const Elements& dy,
                       const Elements& x) {
  const Images y = images_of_y(g), images = images_of_x(g);
  const std::int64_t channel = e.outer / g.group_outputs() * g.group_inputs() + e.channel;
  Sum sum;
  for (std::int64_t image = 0; image < g.batch; ++image)
    for (std::int64_t i = 0; i < y.rows; ++i)
      for (std::int64_t j = 0; j < y.columns; ++j) {
        const Images::Element of_x{image, channel, coordinate(g.vertical, i, e.row),
                                   coordinate(g.horizontal, j, e.column)};
        if (x && !images.holds(of_x)) continue;
        sum.add(dy(y.index({image, e.outer, i, j})) * (x ? x(images.index(of_x)) : 1));
      }
  return sum;
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  const Gradient gradient = gradient_of(problem);
  const Geometry g = geometry_of(problem);
  const Elements dy = values("dy");
  const Elements factor = gradient == Gradient::input     ? values("weights")
                          : gradient == Gradient::weights ? values("x")
                                                          : Elements();
  test::ConvolutionOracle right;
  for (std::int64_t i = first; i < first + count; ++i) {
    const Sum sum = gradient == Gradient::input ? products_of_x(g, images_of_x(g).at(i), dy, factor)
                    : gradient == Gradient::weights
                        ? products_of_places(g, filters_of(g).at(i), dy, factor)
                        : products_of_places(g, {i, 0, 0, 0}, dy, factor);
    right.value.push_back(sum.value);
    right.condition.push_back(sum.condition);
  }
  return bounded(right.value,
                 test::product_tolerances(problem.dtype, products_of(gradient, g), right));
}

} // namespace

Card conv2d_backward_card() {
  Card card(grammar());
  card.problem = problem;
  card.variants = variants();
  card.resolved = [](const Problem& p) {
    return dispatch(p.dtype, [&]<class T>() {
      return name(conv2d_backward::resolve<T>(gradient_of(p), geometry_of(p)));
    });
  };
  card.run_automatic = automatic_of(conv2d_backward::Variant::automatic, kRun);
  card.vendors = {[](const Problem& p) {
                    return names(vendor::conv2d_backward_table, gradient_of(p), p.dtype,
                                 geometry_of(p));
                  },
                  run_vendor<vendor::Math::pedantic>};
  card.vendors.on_host = always({"onednn"});
  card.vendors.run_timed = run_vendor<vendor::Math::fastest>;
  card.references = references;
  card.elements = elements;
  card.exact_samples = conv2d_backward_samples::exact_samples;
  card.random_samples = [](Dtype) { return conv2d_backward_samples::normals(); };
  card.vendor_samples = card.random_samples;
  card.special_samples = conv2d_backward_samples::special_samples;
  card.usual = [](Dtype) {
    return of_each(in_both_layouts({{1, 8, 3, 4, 9, {.kernel = 2}, {.kernel = 2, .stride = 2}},
                                    {2, 8, 5, 6, 8, kThree, {.stride = 2}, 8},
                                    {1, 8, 2, 140, 8, {}, {}, 8}}));
  };
  // Images and, if the sums are over all images, channels.
  card.batches =
      these({"input_nchw_n*_c8_h5_w6_o16_k3_s1_p1_g1", "input_nhwc_n*_c8_h5_w6_o16_k3_s1_p1_g1",
             "input_nchw_n*_c8_h5_w6_o8_k3_s2_p1_g8", "input_nhwc_n*_c8_h5_w6_o8_k3_s2_p1_g8",
             "weights_nchw_n2_c8_h5_w6_o4*_k3_s1_p1_g1", "weights_nhwc_n2_c8_h5_w6_o4*_k3_s1_p1_g1",
             "bias_nchw_n2_c8_h5_w6_o4*_k3_s1_p1_g1", "bias_nhwc_n2_c8_h5_w6_o4*_k3_s1_p1_g1"});
  card.sizes = conv2d_backward_samples::sizes;
  // Memory that a 16-byte access would reach outside a tensor is either uninitialized or not
  // allocated.
  card.misaligned = [](Dtype) {
    return of_each(in_both_layouts({{2, 16, 4, 5, 16, {.stride = 2}, kThree},
                                    {1, 16, 3, 5, 16, {}, kThree},
                                    {1, 8, 3, 6, 8, {}, kThree, 8}}));
  };
  card.refuses_overlap = false;
  card.empty = of_each(in_both_layouts({{0, 5, 4, 4, 5, {.kernel = 2}, {.kernel = 2}, 5}}));
  card.launches = {};
  card.bound = [](const Problem& p) {
    return gradient_of(p) == Gradient::bias ? kg::Bound::memory : kg::Bound::compute;
  };
  card.interleaved = true;
  // Typical 3x3 convolutions of networks, dense and depthwise, and first layers.
  card.timed_on_host = {{"input_nchw_n1_c16_h16_w16_o8_k3_s2_p1_g1"},
                        {"input_nhwc_n1_c32_h16_w16_o16_k3_s1_p1_g1", true},
                        {"input_nhwc_n1_c128_h8_w16_o128_k3_s1_p1_g128"},
                        {"input_nchw_n1_c16_h24_w32_o16_k3_s1_p1_g16"},
                        {"weights_nhwc_n1_c16_h16_w16_o32_k3_s1_p1_g1", true},
                        {"weights_nhwc_n1_c8_h16_w16_o128_k3_s1_p1_g1"},
                        {"weights_nchw_n2_c4_h16_w16_o32_k3_s1_p1_g1"},
                        {"weights_nhwc_n1_c12_h16_w16_o32_k3_s1_p1_g1"},
                        {"weights_nhwc_n1_c3_h32_w32_o32_k3_s2_p1_g1"},
                        {"bias_nhwc_n1_c64_h32_w32_o64_k1_s1_p0_g1", true},
                        {"bias_nchw_n1_c64_h32_w32_o64_k1_s1_p0_g1"}};
  card.timed_on_gpu = {{"input_nhwc_n32_c64_h56_w56_o64_k3_s1_p1_g1", true},
                       {"input_nhwc_n32_c256_h14_w14_o256_k3_s1_p1_g1"},
                       {"input_nhwc_n32_c128_h56_w56_o128_k3_s2_p1_g1"},
                       {"input_nchw_n32_c64_h56_w56_o64_k3_s1_p1_g1"},
                       {"input_nhwc_n64_c256_h56_w56_o256_k3_s1_p1_g256"},
                       {"weights_nhwc_n32_c64_h56_w56_o64_k3_s1_p1_g1", true},
                       {"weights_nhwc_n32_c256_h14_w14_o256_k3_s1_p1_g1"},
                       {"weights_nchw_n32_c64_h56_w56_o64_k3_s1_p1_g1"},
                       {"weights_nhwc_n32_c12_h112_w112_o64_k3_s1_p1_g1"},
                       {"weights_nhwc_n32_c3_h224_w224_o64_k7_s2_p3_g1"},
                       {"weights_nhwc_n4_c256_h28_w28_o256_k3_s1_p1_g256"},
                       {"bias_nhwc_n256_c256_h56_w56_o256_k1_s1_p0_g1", true},
                       {"bias_nchw_n256_c256_h56_w56_o256_k1_s1_p0_g1"}};
  return card;
}

} // namespace kg::card
