// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of batchnorm in training. Tolerances and their derivation:
// tests/oracle/oracle_norm_backward.h. The formulas accept any statistics: here a mean near 0 and
// an rstd of 1/2, 1 and 2, from which a library computes an exact variance.
#include "ops/batchnorm_backward/batchnorm_backward.h"

#include <cmath>
#include <memory>

#include "libraries/batchnorm_backward.h"
#include "tests/contract/execute.h"
#include "tests/ops/batchnorm/images.h"
#include "tests/oracle/oracle_batch_norm_backward.h"

namespace kg::card {
namespace {

using images::Images;
using images::in_layouts;

Images images_of(const Problem& problem) {
  return images::images_of(problem, problem.parameters.as<Images>().layout);
}

double mean_of(std::int64_t channel) { return static_cast<double>(channel % 5) * 0.25 - 0.5; }
double rstd_of(std::int64_t channel) { return std::ldexp(1.0, static_cast<int>(channel % 3) - 1); }

Problem problem(Dtype dtype, const Shape& shape) {
  const Images p = images::images_grammar().parse(shape);
  const auto image = [&](const char* name) { return Tensor{name, dtype, test::shape_of(p)}; };
  const auto given = [&](const char* name, double (*value)(std::int64_t)) {
    Tensor result = images::per_channel(name, p.channels);
    result.element = [value](std::int64_t c) { return test::encode(Dtype::f32, value(c)); };
    return result;
  };
  Tensor gamma = images::per_channel("gamma", p.channels);
  gamma.optional = true;
  Tensor dx = image("dx");
  dx.may_be = {"dy", "x"};
  Problem result = {
      dtype,
      shape.text(),
      batchnorm_backward::work(dtype, p),
      11.0 * static_cast<double>(p.elements()),
      {image("dy"), image("x"), gamma, given("mean", mean_of), given("rstd", rstd_of)},
      {dx, images::per_channel("dgamma", p.channels), images::per_channel("dbeta", p.channels)}};
  result.parameters = p;
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, batchnorm::Variant variant, Stream& stream) {
  const Images p = images_of(call.problem());
  const std::size_t bytes =
      images::is_valid(p) ? batchnorm_backward::workspace_bytes(variant, dtype_of<T>, p) : 0;
  return batchnorm_backward::run<T>(
      p, call.in<T>("dy"), call.in<T>("x"), call.in<float>("gamma"), call.in<float>("mean"),
      call.in<float>("rstd"), call.out<T>("dx"), call.out<float>("dgamma"),
      call.out<float>("dbeta"), bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::batchnorm_backward(vendor, call.problem().dtype,
                             {images_of(call.problem()), call.address("dy"), call.address("x"),
                              call.in<float>("gamma"), call.in<float>("mean"),
                              call.in<float>("rstd"), call.address("dx"), call.out<float>("dgamma"),
                              call.out<float>("dbeta")},
                             stream);
}

std::int64_t chain_of(std::string_view variant, Dtype dtype, const Images& p) {
  return images::chain_of(batchnorm_backward::chain, variant, dtype, p);
}

// dgamma or dbeta of some channels.
Reference sums(const Problem& problem, const std::vector<double>& value,
               const std::vector<double>& value_abs) {
  return {value, [=, dtype = problem.dtype, p = images_of(problem)](std::string_view variant) {
            return test::norm_backward_column_tolerances(value, value_abs, Dtype::f32,
                                                         chain_of(variant, dtype, p));
          }};
}

References references(const Problem& problem, const Inputs& inputs) {
  const Images p = images_of(problem);
  const Dtype dtype = problem.dtype;
  const auto of = [&](const char* name) { return images::values_or_none(inputs, name); };
  const auto oracle = std::make_shared<test::NormBackwardOracle>(test::batch_norm_backward_oracle(
      images::by_channel(inputs, "dy", p), images::by_channel(inputs, "x", p), of("gamma"),
      of("mean"), of("rstd")));
  std::vector<double> unit; // the magnitude that scales an element's error
  for (std::size_t i = 0; i < oracle->dx.size(); ++i) {
    const double each = unit_roundoff(Dtype::f32) *
                            (oracle->direct[i] + oracle->average[i] + oracle->projection[i]) +
                        (dtype == Dtype::f32 ? 0 : unit_roundoff(dtype) * std::fabs(oracle->dx[i]));
    unit.push_back(std::isfinite(each) ? each : 1);
  }
  References result = {{"dgamma", sums(problem, oracle->dgamma, oracle->dgamma_abs)},
                       {"dbeta", sums(problem, oracle->dbeta, oracle->dbeta_abs)}};
  result["dx"] = {
      test::in_layout(oracle->dx, p),
      [=](std::string_view variant) {
        return test::in_layout(
            test::norm_backward_dx_tolerances(*oracle, dtype, chain_of(variant, dtype, p)), p);
      },
      test::in_layout(unit, p)};
  return result;
}

// dx from the stored sums. Timed data are standard normals: the means of |dy| and |dy n|, which its
// tolerance grows with, are below 1 and below rstd (1 + |mean|).
Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                   std::int64_t count, const Values& values) {
  const Images p = images_of(problem);
  const Elements dy = values("dy"), x = values("x"), mean = values("mean"), rstd = values("rstd");
  test::NormBackwardOracle right;
  if (output != "dx") {
    for (std::int64_t c = first; c < first + count; ++c) {
      const auto of = test::batch_norm_backward_oracle(images::elements_of(dy, p, c),
                                                       images::elements_of(x, p, c), {},
                                                       std::vector{mean(c)}, std::vector{rstd(c)});
      right.dgamma.push_back(of.dgamma[0]);
      right.dgamma_abs.push_back(of.dgamma_abs[0]);
      right.dbeta.push_back(of.dbeta[0]);
      right.dbeta_abs.push_back(of.dbeta_abs[0]);
    }
    return output == "dgamma" ? sums(problem, right.dgamma, right.dgamma_abs)
                              : sums(problem, right.dbeta, right.dbeta_abs);
  }
  const Elements gamma = values("gamma"), dgamma = values("dgamma"), dbeta = values("dbeta");
  const auto size = static_cast<double>(p.per_channel());
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::int64_t c = test::channel_of(p, i);
    const double n = (x(i) - mean(c)) * rstd(c), scale = rstd(c) * gamma(c);
    right.dx.push_back(scale * (dy(i) - dbeta(c) / size - n * (dgamma(c) / size)));
    right.direct.push_back(std::fabs(scale * dy(i)));
    right.average.push_back(std::fabs(scale));
    right.projection.push_back(std::fabs(scale * n) * rstd(c) * (1 + std::fabs(mean(c))));
  }
  return {right.dx, [=, dtype = problem.dtype](std::string_view variant) {
            return test::norm_backward_dx_tolerances(right, dtype, chain_of(variant, dtype, p));
          }};
}

// Small integers, with factors and channel sizes that are powers of two: every product, sum, mean
// and difference is exact in f32, in any order, and dx is rounded once. Empty sums are 0.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Images& p : in_layouts({{2, 3, 64}, {16, 5, 8}, {1, 2, 8192}, {512, 20, 2}},
                                    {{8, 8, 64}, {2, 3, 512}, {16, 40, 32}})) {
    const auto whole = [&](std::int64_t most, test::Tensor tensor) {
      auto drawn = test::integers(dtype, p.elements(), most, tensor).values;
      for (double& value : drawn) value = value == 0 ? static_cast<double>(most) : value;
      return values(dtype, drawn);
    };
    std::vector<double> gamma, mean;
    for (std::int64_t c = 0; c < p.channels; ++c) {
      gamma.push_back(static_cast<double>(c % 3) + 1);
      mean.push_back(static_cast<double>(c % 5) - 2);
    }
    samples.push_back({"integers",
                       test::text(p),
                       {{"dy", whole(8, test::Tensor::a)},
                        {"x", whole(3, test::Tensor::b)},
                        {"gamma", values(Dtype::f32, gamma)},
                        {"mean", values(Dtype::f32, mean)}}});
  }
  for (const std::string& shape : images::empty())
    samples.push_back({.fill = "nothing", .shape = shape, .degenerate = test::Degenerate::zero});
  return samples;
}

// Other statistics, used unchanged: a mean of 1000, and factors from 2^-20 to 2^20 (f16: 2^4).
void add_other_statistics(std::vector<Sample>& samples, Dtype dtype) {
  const int most = dtype == Dtype::f16 ? 4 : 20;
  for (const std::string& shape : images::shapes_of(in_layouts({{2, 3, 150}}, {{5, 8, 60}})))
    for (const int exponent : {-most, most}) {
      Inputs inputs = completed(problem(dtype, Shape::parse(shape)), {});
      for (const char* const statistic : {"mean", "rstd"}) {
        test::Observed& given = inputs.at(statistic);
        given.bits.clear();
        for (double& value : given.values)
          value = statistic[0] == 'm' ? value + (exponent > 0 ? 0.25 : 1000)
                                      : std::ldexp(1 + 0.125 * value, exponent);
      }
      samples.push_back({"other statistics", shape, std::move(inputs)});
    }
}

std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string& shape : images::long_sums()) samples.push_back({"normal", shape});
  for (const std::string& shape : images::shapes_of(in_layouts({{3, 3, 50}}, {{5, 16, 9}})))
    samples.push_back({.fill = "normal, no gamma", .shape = shape, .without = {"gamma"}});
  add_other_statistics(samples, dtype);
  return samples;
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Images& p :
       in_layouts({{3, 5, 49}, {1, 5, 4100}, {33, 8, 49}}, {{5, 24, 9}, {40, 5, 7}}))
    for (const double special : {kNan, kInfinity, -kInfinity})
      for (const char* const tensor : {"dy", "x"})
        samples.push_back(
            {"special",
             test::text(p),
             {{tensor, images::in_layout(
                           dtype, images::with_special(dtype, p, test::Tensor::a, special), p)}}});
  return samples;
}

// Packs of 16 bytes if they align in all tensors and, in nhwc, channels are whole packs.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout& layout) {
  const Images p = images_of(problem);
  if (p.channels == 0) return {};
  const auto kernel = [](const std::string& name, const std::string& end) {
    return std::vector<std::string>{"::" + name + "<", end};
  };
  if (p.elements() == 0) return {kernel("naive_sums", "")};
  if (variant == "naive") return {kernel("naive_sums", ""), kernel("naive_gradient", "")};
  const std::int64_t pack = batchnorm::pack_elements(problem.dtype);
  const bool columns = p.layout == images::Layout::nhwc;
  const std::int64_t start = columns ? 0 : place_of(layout, "x").offset;
  bool packs = !columns || p.channels % pack == 0;
  for (const char* const image : {"dy", "x", "dx"})
    if ((place_of(layout, image).offset - start) % pack != 0) packs = false;
  for (const char* const channels : {"gamma", "mean", "rstd", "dgamma", "dbeta"})
    if (columns && place_of(layout, channels).offset % 4 != 0) packs = false;
  const std::string kind = columns ? "column_" : "plane_";
  const std::string count = ", " + std::to_string(packs ? pack : 1);
  const bool whole_planes = !packs || (p.spatial % pack == 0 && start % pack == 0);
  const std::string whole = columns ? ", false" : whole_planes ? ", true" : ", false";
  if (packs && images::sums_by_columns(problem.dtype, p, start))
    return {kernel("column_sums", count + ", true>"),
            {"::join_planes"},
            kernel("plane_gradient", count + ">")};
  return {kernel(kind + "sums", count + whole + ">"), kernel("sum_partials", ""),
          kernel(kind + "gradient", count + ">")};
}

} // namespace

Card batchnorm_backward_card() {
  Card card(images::images_grammar());
  card.problem = problem;
  run_by(card, batchnorm::kVariants, kRun);
  card.variants[0].accurate = false; // naive
  card.variants[0].sequence = [](const Problem& p) { return images_of(p).per_channel(); };
  card.vendors = {[](const Problem& p) {
                    return names(vendor::batchnorm_backward_table, p.dtype, images_of(p));
                  },
                  run_vendor, 4};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.vendor_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const std::string& shape : images::beside_libraries())
      samples.push_back({"normal", shape});
    return samples;
  };
  card.usual = [](Dtype) { return images::usual(); };
  card.no_batches = "each result needs the sums over the whole batch";
  card.sizes = [](Dtype dtype) {
    std::vector<std::string> shapes = images::planes_and_columns();
    for (const std::string& rows : images::numbers_of_rows(dtype)) shapes.push_back(rows);
    return shapes;
  };
  card.misaligned = images::misaligned;
  card.empty = images::empty();
  card.refuses_overlap = false;
  card.kernels = kernels;
  card.bit_difference_reason = "fused products";
  card.bound_on_host = kg::Bound::sync; // shuffles and barriers cost more than memory
  card.timed_on_host = {
      {"nhwc_n2_c64_s196", true}, {"nchw_n4_c8_s196"}, {"nchw_n4_c8_s49"}, {"nchw_n32_c16_s49"}};
  // A small one, and at least 256 MiB of 16-bit elements.
  card.timed_on_gpu = {{"nhwc_n8_c64_s784"},
                       {"nhwc_n256_c64_s12544", true},
                       {"nchw_n256_c64_s12544"},
                       {"nhwc_n1536_c2048_s49"},
                       {"nchw_n1536_c2048_s49"}};
  return card;
}

} // namespace kg::card
