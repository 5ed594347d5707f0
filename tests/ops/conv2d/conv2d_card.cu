// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of images (convolutions.h defines the shapes), and chains of two of them, called
// separable (separable.h). All add a bias except the separable ones and those called nobias. Shapes
// only for implicit_gemm end with the tiles that it must use, narrow or wide.
#include "ops/conv2d/conv2d.h"

#include <algorithm>

#include "libraries/conv2d.h"
#include "runtime/backend.h"
#include "tests/contract/card.h"
#include "tests/ops/conv2d/samples.h"
#include "tests/ops/conv2d/separable.h"
#include "tests/ops/conv2d/shapes.h"

namespace kg::card {
namespace {

using conv2d::Geometry;
using test::in_both_layouts;
using test::kThree;

bool is_separable(const Problem& problem) { return problem.parameters.as<Convolution>().separable; }
bool is_biased(const Problem& problem) {
  return !is_separable(problem) && std::find(problem.left_out.begin(), problem.left_out.end(),
                                             "bias") == problem.left_out.end();
}
conv2d::MmaTiles tiles_of(const Problem& problem) {
  return problem.parameters.as<Convolution>().tiles;
}

// With the extents of x and the weights.
Geometry with_extents(Geometry g, const Problem& problem) {
  const std::vector<std::int64_t>& x = problem.tensor("x").extents;
  const std::vector<std::int64_t>& weights = problem.tensor("weights").extents;
  const bool last = g.layout == conv2d::Layout::nhwc;
  g.batch = x[0];
  g.in_channels = x[last ? 3 : 1];
  g.height = x[last ? 1 : 2];
  g.width = x[last ? 2 : 3];
  g.out_channels = weights[0];
  g.vertical.kernel = weights[last ? 1 : 2];
  g.horizontal.kernel = weights[last ? 2 : 3];
  g.groups = g.in_channels / weights[last ? 3 : 1];
  return g;
}
Separable separable_of(const Problem& problem) {
  const Geometry& windows = problem.parameters.as<Convolution>().geometry;
  return separable(with_extents(windows, problem), problem.tensor("mixing").extents[0]);
}
Geometry geometry_of(const Problem& problem) {
  if (is_separable(problem)) return separable_of(problem).depthwise;
  return with_extents(problem.parameters.as<Convolution>().geometry, problem);
}

double bytes_of(Dtype dtype, std::int64_t elements) {
  return static_cast<double>(elements) * static_cast<double>(size_of(dtype));
}

// The intermediate result does not count as traffic.
Problem separable_problem(Dtype dtype, const Shape& shape) {
  const Convolution c = conv2d_grammar(true).parse(shape);
  Geometry depthwise = c.geometry;
  depthwise.out_channels = depthwise.groups = depthwise.in_channels;
  const Separable s = separable(depthwise, c.geometry.out_channels);
  const Work first = conv2d::work(dtype, s.depthwise), second = conv2d::work(dtype, s.pointwise);
  const Geometry &d = s.depthwise, &p = s.pointwise;
  Problem result{dtype,
                 shape.text(),
                 {.bytes = first.bytes + second.bytes - 2 * bytes_of(dtype, d.outputs()),
                  .written = second.written,
                  .flops = first.flops + second.flops},
                 2 * static_cast<double>(d.outputs() * d.taps() + p.outputs() * p.in_channels)};
  result.inputs = {{"x", dtype, test::x_shape(d)},
                   {"weights", dtype, test::weights_shape(d)},
                   {"mixing", dtype, {p.out_channels, p.in_channels}}};
  result.calling = test::calling_of(d, "separable_");
  result.calling->integers.push_back({"mixed", {p.out_channels}});
  result.outputs = {{"y", dtype, test::y_shape(p)}};
  result.outputs[0].derived = true;
  result.parameters = c;
  return result;
}

Problem problem(Dtype dtype, const Shape& shape) {
  if (shape.has("separable")) return separable_problem(dtype, shape);
  const Convolution c = conv2d_grammar(false).parse(shape);
  const Geometry& g = c.geometry;
  Problem result{dtype, shape.text(), conv2d::work(dtype, g),
                 2 * static_cast<double>(g.outputs() * g.depth())};
  result.inputs = {{"x", dtype, test::x_shape(g)},
                   {"weights", dtype, test::weights_shape(g)},
                   {"bias", dtype, {g.out_channels}}};
  result.inputs[2].optional = true;
  result.outputs = {{"y", dtype, test::y_shape(g)}};
  result.outputs[0].derived = true;
  result.parameters = c;
  result.calling = test::calling_of(g, c.biased ? "" : "nobias_");
  if (!c.biased) return result.without("bias");
  result.unread = bytes_of(dtype, g.out_channels); // the bias, which the work leaves out
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, conv2d::Variant variant, Stream& stream) {
  require(!is_separable(call.problem()), "a single variant runs no separable convolution");
  const Geometry g = geometry_of(call.problem());
  return conv2d::run<T>({g, call.in<T>("x"), call.in<T>("weights"),
                         is_biased(call.problem()) ? call.in<T>("bias") : nullptr, call.out<T>("y"),
                         call.workspace(conv2d::workspace_bytes<T>(g, variant)),
                         tiles_of(call.problem())},
                        variant, stream);
};

// A chain of our kernels.
struct Chain {
  std::string_view name;
  conv2d::Variant depthwise, pointwise;
};
constexpr Chain kChains[] = {
    {"direct", conv2d::Variant::direct, conv2d::Variant::direct},
    {"depthwise_im2col", conv2d::Variant::depthwise, conv2d::Variant::im2col},
    {"depthwise_implicit_gemm", conv2d::Variant::depthwise, conv2d::Variant::implicit_gemm}};

// The intermediate result, after the second convolution's workspace.
struct Between {
  void *workspace, *y;
};
Between between(const Call& call, const Separable& s, std::size_t workspace_bytes) {
  const std::size_t first = (workspace_bytes + 255) / 256 * 256;
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(s.depthwise.outputs(), 0));
  auto* const all =
      static_cast<std::byte*>(call.workspace(first + count * size_of(call.problem().dtype)));
  return {all, all + first};
}

std::string_view run_chain(const Call& call, const Chain& chain, Stream& stream) {
  const Separable s = separable_of(call.problem());
  dispatch(call.problem().dtype, [&]<class T>() {
    const std::size_t bytes = conv2d::workspace_bytes<T>(s.pointwise, chain.pointwise);
    // Otherwise the second call would refuse them, after the first.
    require(s.pointwise.batch == 0 || (call.address("mixing") && call.address("y")),
            "separable: mixing or y is null");
    conv2d::workspace_bytes<T>(s.depthwise, chain.depthwise); // refuses an invalid geometry
    const Between lies = between(call, s, bytes);
    T* const y = static_cast<T*>(lies.y);
    conv2d::run<T>({s.depthwise, call.in<T>("x"), call.in<T>("weights"), nullptr, y},
                   chain.depthwise, stream);
    conv2d::run<T>(
        {s.pointwise, y, call.in<T>("mixing"), nullptr, call.out<T>("y"), lies.workspace},
        chain.pointwise, stream);
  });
  return chain.name;
}

std::string_view resolved(const Problem& problem) {
  return dispatch(problem.dtype, [&]<class T>() -> std::string_view {
    if (!is_separable(problem)) return name(conv2d::resolve<T>(geometry_of(problem)));
    const conv2d::Variant second = conv2d::resolve<T>(separable_of(problem).pointwise);
    for (const Chain& chain : kChains)
      if (chain.depthwise == conv2d::Variant::depthwise && chain.pointwise == second)
        return chain.name;
    return "";
  });
}

std::string_view run_automatic(const Call& call, Stream& stream) {
  if (!is_separable(call.problem()))
    return automatic_of(conv2d::Variant::automatic, kRun)(call, stream);
  return run_chain(
      call, {resolved(call.problem()), conv2d::Variant::automatic, conv2d::Variant::automatic},
      stream);
}

bool supports(conv2d::Variant variant, Dtype dtype, const Geometry& g) {
  return dispatch(dtype, [&]<class T>() { return conv2d::supports<T>(variant, g); });
}

// Excludes launches of more than a few milliseconds on the executor's Tensor Cores (16-bit types).
bool is_timed(conv2d::Variant variant, const Problem& problem) {
  return backend != Backend::host || problem.dtype == Dtype::f32 ||
         (variant != conv2d::Variant::im2col && variant != conv2d::Variant::implicit_gemm);
}

std::vector<Variant> variants() {
  std::vector<conv2d::Variant> all(std::begin(conv2d::kVariants), std::end(conv2d::kVariants));
  all.push_back(conv2d::Variant::jit);
  std::vector<Variant> result = variants_of(all, kRun);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const conv2d::Variant variant = all[i];
    result[i].supports = [variant](const Problem& p) {
      return !is_separable(p) && supports(variant, p.dtype, geometry_of(p));
    };
    // Only implicit_gemm has such tiles.
    result[i].tried = [variant](const Problem& p) {
      return variant == conv2d::Variant::implicit_gemm ||
             tiles_of(p) == conv2d::MmaTiles::automatic;
    };
    result[i].listed = [variant](const Problem& p) { // the others' tiles would be empty
      if (tiles_of(p) != conv2d::MmaTiles::automatic)
        return variant == conv2d::Variant::implicit_gemm && p.dtype != Dtype::f32;
      return !geometry_of(p).is_depthwise() || variant == conv2d::Variant::direct ||
             variant == conv2d::Variant::depthwise;
    };
    result[i].timed = [variant](const Problem& p) { return is_timed(variant, p); };
  }
  Variant& jit = result.back();
  jit.tried = [](const Problem& p) { return test::is_compiled(geometry_of(p)); };
  jit.compile = [](const Problem& p) {
    return dispatch(p.dtype,
                    [&]<class T>() { return 1e3 * conv2d::prepare_jit<T>(geometry_of(p)).us; });
  };
  for (const Chain& chain : kChains) {
    if (chain.name == "direct") continue;
    result.push_back({std::string(chain.name), [&chain](const Call& call, Stream& stream) {
                        return run_chain(call, chain, stream);
                      }});
    result.back().supports = [&chain](const Problem& p) {
      return is_separable(p) && supports(chain.depthwise, p.dtype, separable_of(p).depthwise) &&
             supports(chain.pointwise, p.dtype, separable_of(p).pointwise);
    };
    result.back().timed = [&chain](const Problem& p) { return is_timed(chain.pointwise, p); };
  }
  Variant& direct = result.front(); // for both kinds
  direct.supports = [](const Problem&) { return true; };
  direct.run = [alone = direct.run](const Call& call, Stream& stream) {
    return is_separable(call.problem()) ? run_chain(call, kChains[0], stream) : alone(call, stream);
  };
  return result;
}

template <vendor::Math math>
void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Dtype dtype = call.problem().dtype;
  const void *const x = call.address("x"), *const weights = call.address("weights");
  if (!is_separable(call.problem())) {
    const void* const bias = is_biased(call.problem()) ? call.address("bias") : nullptr;
    vendor::conv2d(vendor,
                   {dtype, geometry_of(call.problem()), x, weights, bias, call.address("y")}, math,
                   stream);
    return;
  }
  const Separable s = separable_of(call.problem());
  void* const y = between(call, s, 0).y;
  vendor::conv2d(vendor, {dtype, s.depthwise, x, weights, nullptr, y}, math, stream);
  vendor::conv2d(vendor,
                 {dtype, s.pointwise, y, call.address("mixing"), nullptr, call.address("y")}, math,
                 stream);
}

// The tolerance for every variant: that of a sum in any order.
Reference bounded(std::vector<double> value, std::vector<double> tolerance,
                  std::vector<double> unit = {}) {
  return {std::move(value), [bounds = std::move(tolerance)](std::string_view) { return bounds; },
          std::move(unit)};
}

References references(const Problem& problem, const Inputs& inputs) {
  const auto values = [&](const char* name) { return inputs.find(name)->second.values; };
  if (is_separable(problem)) {
    const Separable s = separable_of(problem);
    const ChainOracle right =
        chain_oracle(problem.dtype, s, test::x_in_nchw(values("x"), s.depthwise),
                     test::weights_in_oihw(values("weights"), s.depthwise), values("mixing"));
    return {{"y", bounded(test::y_in_layout(right.value, s.pointwise),
                          test::y_in_layout(right.tolerance, s.pointwise))}};
  }
  const Geometry g = geometry_of(problem);
  const test::Convolution c = test::oracle_problem(g);
  const test::ConvolutionOracle right = test::convolution_oracle(
      c, test::x_in_nchw(values("x"), g), test::weights_in_oihw(values("weights"), g),
      is_biased(problem) ? values("bias") : std::vector<double>());
  return {{"y", bounded(test::y_in_layout(right.value, g),
                        test::y_in_layout(test::convolution_tolerances(problem.dtype, c, right), g),
                        test::y_in_layout(test::error_units(problem.dtype, right.condition), g))}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  const Elements x = values("x"), weights = values("weights");
  if (is_separable(problem)) {
    ChainOracle right = chain_elements(problem.dtype, separable_of(problem), x, weights,
                                       values("mixing"), first, count);
    return bounded(std::move(right.value), std::move(right.tolerance));
  }
  const Geometry g = geometry_of(problem);
  const Elements bias = is_biased(problem) ? values("bias") : Elements();
  test::ConvolutionOracle right;
  for (std::int64_t i = first; i < first + count; ++i) {
    const Images::Element at = images_of_y(g).at(i);
    Sum sum = products_of_y(g, x, weights, at);
    if (bias) sum.add(bias(at.channel));
    right.value.push_back(sum.value);
    right.condition.push_back(sum.condition);
  }
  return bounded(right.value, test::product_tolerances(problem.dtype, g.depth(), right));
}

// For one convolution; aligned: whether x and y are, and the weights.
using Kernels = std::vector<std::vector<std::string>>;
Kernels kernels_of(std::string_view variant, Dtype dtype, const Geometry& g, bool biased,
                   bool aligned, bool weights_aligned) {
  if (g.batch == 0) return {};
  const bool last = g.layout == conv2d::Layout::nhwc;
  if (variant == "depthwise" && !last && aligned && test::has_rows_of_packs(dtype, g))
    return {{test::has_bands(dtype, g) ? "depthwise_bands" : "depthwise_rows"}};
  if (variant == "depthwise" && last && aligned && weights_aligned && dtype != Dtype::f32 &&
      test::slides_by_three(g) && g.out_channels % 8 == 0)
    return {{"depthwise_walk"}};
  if (variant == "depthwise") return {{last ? "depthwise_nhwc" : "depthwise_nchw"}};
  if (variant != "im2col") return {{std::string(variant)}};
  const auto bytes = [&](std::int64_t batch) {
    Geometry some = g;
    some.batch = batch;
    return static_cast<std::int64_t>(dispatch(dtype, [&]<class T>() {
      return conv2d::workspace_bytes<T>(some, conv2d::Variant::im2col);
    }));
  };
  const std::int64_t image = bytes(1), all = bytes(g.batch); // 0: x is the matrix of columns
  Kernels kernels;
  if (biased) kernels.push_back({"spread"});
  for (std::int64_t part = 0; part < g.batch; part += image == 0 ? g.batch : all / image) {
    const std::int64_t images = image == 0 ? g.batch : std::min(all / image, g.batch - part);
    if (image != 0) kernels.push_back({"columns"});
    kernels.insert(kernels.end(), static_cast<std::size_t>(g.groups * (last ? 1 : images)),
                   {"gemm::"});
  }
  return kernels;
}
Kernels kernels(std::string_view variant, const Problem& problem, const Layout& layout) {
  const auto aligned = [&](const char* tensor) {
    return place_of(layout, tensor).offset * static_cast<std::int64_t>(size_of(problem.dtype)) %
               16 ==
           0;
  };
  if (!is_separable(problem))
    return kernels_of(variant, problem.dtype, geometry_of(problem), is_biased(problem),
                      aligned("x") && aligned("y"), aligned("weights"));
  const Separable s = separable_of(problem);
  for (const Chain& chain : kChains) {
    if (chain.name != variant) continue;
    Kernels all = kernels_of(name(chain.depthwise), problem.dtype, s.depthwise, false, aligned("x"),
                             aligned("weights"));
    for (auto& kernel :
         kernels_of(name(chain.pointwise), problem.dtype, s.pointwise, false, true, true))
      all.push_back(std::move(kernel));
    return all;
  }
  return {};
}

} // namespace

Card conv2d_card() {
  Card card(conv2d_grammar(false), conv2d_grammar(true));
  card.problem = problem;
  card.variants = variants();
  card.resolved = resolved;
  card.run_automatic = run_automatic;
  card.vendors = {
      [](const Problem& p) { return names(vendor::conv2d_table, p.dtype, geometry_of(p)); },
      run_vendor<vendor::Math::pedantic>};
  card.vendors.on_host = always({"onednn"});
  card.vendors.run_timed = run_vendor<vendor::Math::fastest>;
  card.references = references;
  card.elements = elements;
  card.exact_samples = conv2d_samples::exact_samples;
  card.random_samples = conv2d_samples::random_samples;
  card.special_samples = conv2d_samples::special_samples;
  card.vendor_samples = conv2d_samples::vendor_samples;
  card.usual = conv2d_samples::usual;
  card.batches = conv2d_samples::batches;
  card.sizes = conv2d_samples::sizes;
  // Memory that a 16-byte access would reach outside a tensor is either uninitialized or not
  // allocated.
  card.misaligned = [](Dtype) {
    return test::texts(in_both_layouts({{1, 16, 3, 5, 64, {}, {}},
                                        {1, 8, 3, 5, 8, kThree, {}},
                                        {1, 8, 3, 6, 8, {}, kThree, 8},
                                        {1, 8, 3, 5, 8, kThree, kThree, 8},
                                        {1, 2, 5, 16, 2, kThree, kThree, 2}}));
  };
  card.refuses_overlap = false;
  Geometry compiled = test::compiled_geometry();
  compiled.batch = 0;
  card.empty =
      test::texts(in_both_layouts({{0, 5, 4, 4, 3}, {0, 5, 4, 4, 5, {}, {}, 5}, compiled}));
  card.empty.emplace_back("separable_nhwc_n0_c5_h4_w4_o3_k3_s1_p1");
  card.kernels = kernels;
  card.bound_on_host = card.bound_on_gpu = kg::Bound::compute;
  card.interleaved = true;
  card.timed_on_host = conv2d_samples::timed_on_host();
  card.timed_on_gpu = conv2d_samples::timed_on_gpu();
  return card;
}

} // namespace kg::card
