// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// batchnorm in training and in inference: the first word of a shape. Tolerances and their
// derivation: tests/oracle/oracle_batch_norm.h.
#include "ops/batchnorm/batchnorm.h"

#include <cmath>
#include <memory>

#include "libraries/batchnorm.h"
#include "runtime/backend.h"
#include "tests/ops/batchnorm/images.h"
#include "tests/ops/batchnorm/samples.h"
#include "tests/oracle/oracle_batch_norm.h"

namespace kg::card {
namespace {

using images::Images;

struct Mode {
  bool training;
  Images images;
};
ShapeGrammar<Mode> grammar() {
  return ShapeGrammar<Mode>()
      .one_of(&Mode::training, {{"train", true}, {"infer", false}})
      .nested(images::images_grammar(), &Mode::images);
}
bool is_training(const Problem& problem) { return problem.parameters.as<Mode>().training; }
Images images_of(const Problem& problem) {
  return images::images_of(problem, problem.parameters.as<Mode>().images.layout);
}

// Variances are positive.
void draw(const Problem& problem, Inputs& inputs) {
  for (const Tensor& input : problem.inputs) {
    if (input.name != "running_variance" || inputs.contains(input.name)) continue;
    auto variance =
        test::normal(Dtype::f32, input.size(), test::Tensor::c, test::seed() + 1).values;
    for (double& value : variance) value = static_cast<float>(0.5 + value * value);
    inputs[input.name] = values(Dtype::f32, std::move(variance));
  }
}

// Without elements, no per-channel output is written.
Problem problem(Dtype dtype, const Shape& shape) {
  const Mode mode = grammar().parse(shape);
  const auto& [training, p] = mode;
  const std::vector<std::int64_t> extents = test::shape_of(p);
  const auto statistic = [&](const char* name) {
    return images::per_channel(name, p.elements() == 0 ? 0 : p.channels);
  };
  Tensor x{"x", dtype, extents}, y{"y", dtype, extents};
  y.may_be = {"x"};
  Tensor gamma = images::per_channel("gamma", p.channels);
  Tensor beta = images::per_channel("beta", p.channels);
  gamma.optional = beta.optional = true;
  Tensor running_mean = statistic("running_mean"), running_variance = statistic("running_variance");
  running_mean.optional = running_variance.optional = training;
  running_variance.element = [](std::int64_t) { return test::encode(Dtype::f32, 0.5); };
  Problem result{dtype, shape.text(),
                 training ? batchnorm::training_work(dtype, p)
                          : batchnorm::inference_work(dtype, p),
                 (training ? 7.0 : 3.0) * static_cast<double>(p.elements())};
  result.parameters = mode;
  result.inputs = {x, gamma, beta, running_mean, running_variance};
  result.outputs = {y};
  result.scalars = {{"epsilon", 1e-5F}};
  if (training) {
    for (const Tensor& each :
         {statistic("mean"), statistic("rstd"), running_mean, running_variance})
      result.outputs.push_back(each);
    result.scalars["momentum"] = 0.25;
  }
  result.draw = draw;
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, batchnorm::Variant variant, Stream& stream) {
  const Images p = images_of(call.problem());
  const auto *const gamma = call.in<float>("gamma"), *const beta = call.in<float>("beta");
  if (!is_training(call.problem()))
    return batchnorm::run_inference<T>(p, call.in<T>("x"), gamma, beta,
                                       call.in<float>("running_mean"),
                                       call.in<float>("running_variance"), call.scalar("epsilon"),
                                       call.out<T>("y"), variant, stream);
  const std::size_t bytes =
      images::is_valid(p) ? batchnorm::workspace_bytes(variant, dtype_of<T>, p) : 0;
  return batchnorm::run_training<T>(p, call.in<T>("x"), gamma, beta, call.scalar("epsilon"),
                                    {call.out<float>("running_mean"),
                                     call.out<float>("running_variance"), call.scalar("momentum")},
                                    call.out<T>("y"), call.out<float>("mean"),
                                    call.out<float>("rstd"),
                                    bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
};

// Not every library updates running statistics.
Problem of_vendor(const Problem& ours, std::string_view) {
  return is_training(ours) ? ours.without("running_mean").without("running_variance") : ours;
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const bool training = is_training(call.problem());
  const auto run = training ? vendor::batchnorm_training : vendor::batchnorm_inference;
  run(vendor, call.problem().dtype,
      {images_of(call.problem()), call.address("x"), call.in<float>("gamma"),
       call.in<float>("beta"), call.scalar("epsilon"), call.address("y"),
       call.out<float>(training ? "mean" : "running_mean"),
       call.out<float>(training ? "rstd" : "running_variance")},
      stream);
}

std::int64_t chain_of(std::string_view variant, Dtype dtype, const Images& p) {
  return images::chain_of(batchnorm::chain, variant, dtype, p);
}

// A library may fold the mean into beta, also in inference.
Reference result_of(const Problem& problem, const test::NormOracle& right) {
  const Images p = images_of(problem);
  const Dtype dtype = problem.dtype;
  std::vector<double> unit; // scales an element's error; see layer_norm_f32_tolerance
  for (std::size_t i = 0; i < right.value.size(); ++i) {
    const double each =
        unit_roundoff(Dtype::f32) *
            ((std::fabs(right.normalized[i]) + 1 + right.skew[i]) * right.gamma[i] +
             right.beta[i]) +
        (dtype == Dtype::f32 ? 0 : unit_roundoff(dtype) * std::fabs(right.value[i]));
    unit.push_back(std::isfinite(each) ? each : 1);
  }
  const auto oracle = std::make_shared<test::NormOracle>(right);
  return {test::in_layout(right.value, p),
          [=, training = is_training(problem)](std::string_view variant) {
            return test::in_layout(
                training || variant.empty()
                    ? test::batch_norm_tolerances(*oracle, dtype, chain_of(variant, dtype, p))
                    : test::batch_norm_inference_tolerances(*oracle, dtype),
                p);
          },
          test::in_layout(unit, p)};
}

// The batch's statistics, for channels whose exact means and variances are given.
References statistics_of(const Problem& problem, const std::vector<double>& mean,
                         const std::vector<double>& variance) {
  const Images p = images_of(problem);
  const double epsilon = problem.scalars.at("epsilon");
  std::vector<double> rstd;
  for (const double each : variance) rstd.push_back(1 / std::sqrt(each + epsilon));
  const auto bounded = [&](const std::vector<double>& value, bool of_rstd) {
    return Reference{value, [=, dtype = problem.dtype](std::string_view variant) {
                       std::vector<double> bounds;
                       for (std::size_t c = 0; c < mean.size(); ++c) {
                         const auto of = test::batch_norm_statistics_bounds(
                             mean[c], variance[c], epsilon, dtype, p.per_channel(),
                             chain_of(variant, dtype, p));
                         const double bound = of_rstd ? of.variance / 2 * value[c] : of.mean;
                         bounds.push_back(std::isfinite(bound) ? bound : 0);
                       }
                       return bounds;
                     }};
  };
  return {{"mean", bounded(mean, false)}, {"rstd", bounded(rstd, true)}};
}

// The weighted sum of the old statistic and the batch's has an error of 3 roundings plus the
// weighted `errors` of the batch's.
template <class Errors>
Reference updated(const Problem& problem, const std::vector<double>& old,
                  const std::vector<double>& batch, Errors errors) {
  const double momentum = problem.scalars.at("momentum");
  std::vector<double> value, roundings;
  for (std::size_t c = 0; c < old.size(); ++c) {
    const double kept = (1 - momentum) * old[c], added = momentum * batch[c];
    value.push_back(kept + added);
    roundings.push_back(3 * unit_roundoff(Dtype::f32) * (std::fabs(kept) + std::fabs(added)));
  }
  return {value, [=](std::string_view variant) {
            std::vector<double> bounds = errors(variant);
            for (std::size_t c = 0; c < bounds.size(); ++c) {
              bounds[c] = momentum * bounds[c] + roundings[c];
              if (!std::isfinite(bounds[c])) bounds[c] = 0;
            }
            return bounds;
          }};
}

// The running variance divides by one element less.
std::vector<double> unbiased(const std::vector<double>& variance, const Images& p) {
  const auto count = static_cast<double>(p.per_channel());
  std::vector<double> result;
  for (const double each : variance) result.push_back(each * count / (count - 1));
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  const Images p = images_of(problem);
  if (p.elements() == 0) {
    References nothing;
    for (const Tensor& output : problem.outputs) nothing[output.name] = {};
    return nothing;
  }
  const std::vector<double> x = images::by_channel(inputs, "x", p);
  const auto of = [&](const char* name) { return images::values_or_none(inputs, name); };
  const double epsilon = problem.scalars.at("epsilon");
  if (!is_training(problem))
    return {{"y", result_of(problem, test::batch_norm_inference_oracle(
                                         x, of("gamma"), of("beta"), of("running_mean"),
                                         of("running_variance"), epsilon))}};
  const test::BatchNormOracle right =
      test::batch_norm_oracle(x, p.channels, of("gamma"), of("beta"), epsilon);
  References result = statistics_of(problem, right.mean, right.variance);
  result["y"] = result_of(problem, right.y);
  if (!problem.updates("running_mean")) return result;
  result["running_mean"] =
      updated(problem, of("running_mean"), right.mean, result.at("mean").tolerance);
  const Reference& rstd = result.at("rstd");
  const auto errors_of_variance = [=, variance = right.variance](std::string_view variant) {
    std::vector<double> errors = rstd.tolerance(variant);
    for (std::size_t c = 0; c < errors.size(); ++c)
      errors[c] *= 2 / rstd.value[c] * (variance[c] + epsilon);
    return unbiased(errors, p);
  };
  result["running_variance"] =
      updated(problem, of("running_variance"), unbiased(right.variance, p), errors_of_variance);
  return result;
}

// Elements of y from the stored statistics, as in inference; and of the running statistics, for
// which a variance recomputed from rstd adds rstd's 8 roundings.
Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                   std::int64_t count, const Values& values) {
  const Images p = images_of(problem);
  const double epsilon = problem.scalars.at("epsilon");
  const bool training = is_training(problem);
  if (output == "mean" || output == "rstd") {
    std::vector<double> mean, variance;
    for (std::int64_t c = first; c < first + count; ++c) {
      const auto of = test::batch_norm_statistics(images::elements_of(values("x"), p, c), 1);
      mean.push_back(of.mean[0]);
      variance.push_back(of.variance[0]);
    }
    return statistics_of(problem, mean, variance).find(output)->second;
  }
  const bool of_y = output == "y";
  const Elements x = values("x"), gamma = values("gamma"), beta = values("beta");
  const Elements mean = values(training ? "mean" : "running_mean");
  const Elements spread = values(training ? "rstd" : "running_variance");
  std::vector<double> xs, gammas, betas, means, variances; // one per element
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::int64_t c = of_y ? test::channel_of(p, i) : i;
    xs.push_back(x(i));
    gammas.push_back(gamma(c));
    betas.push_back(beta(c));
    means.push_back(mean(c));
    variances.push_back(training ? std::pow(spread(c), -2) : spread(c) + epsilon);
  }
  if (of_y) {
    const auto right = test::batch_norm_inference_oracle(xs, gammas, betas, means, variances, 0);
    return {right.value, [=, dtype = problem.dtype](std::string_view) {
              return test::batch_norm_inference_tolerances(right, dtype);
            }};
  }
  const Elements before = values(output);
  std::vector<double> old, errors(means.size());
  for (std::int64_t c = first; c < first + count; ++c) old.push_back(before(c));
  const bool of_mean = output == "running_mean";
  for (std::size_t i = 0; i < errors.size() && !of_mean; ++i) {
    errors[i] = 8 * unit_roundoff(Dtype::f32) * variances[i];
    variances[i] -= epsilon;
  }
  return updated(problem, old, of_mean ? means : unbiased(variances, p),
                 [errors = unbiased(errors, p)](std::string_view) { return errors; });
}

// Packs of 16 bytes if x and y are aligned; in nhwc all channels and per-channel tensors must also
// be aligned.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout& layout) {
  const Images p = images_of(problem);
  const bool training = is_training(problem);
  if (p.elements() == 0) return {};
  const auto kernel = [](const std::string& name, const std::string& end) {
    return std::vector<std::string>{"batchnorm::" + name + "<", end};
  };
  if (variant == "naive") {
    if (!training) return {kernel("naive_apply", "")};
    return {kernel("naive_statistics", ""), kernel("naive_apply", "")};
  }
  const std::int64_t pack = batchnorm::pack_elements(problem.dtype);
  const bool columns = p.layout == images::Layout::nhwc;
  const auto offset = [&](std::string_view name) { return place_of(layout, name).offset; };
  const bool x_packs = !columns || (p.channels % pack == 0 && offset("x") % pack == 0);
  bool packs =
      columns ? x_packs && offset("y") % pack == 0 : (offset("x") - offset("y")) % pack == 0;
  const std::vector<std::string> used = {"gamma", "beta", training ? "mean" : "running_mean",
                                         training ? "rstd" : "running_variance"};
  for (const std::string& name : used)
    if (columns && offset(name) % 4 != 0) packs = false;
  const std::string kind = columns ? "column_" : "plane_";
  const auto counted = [&](const std::string& name, bool wide, const std::string& whole = "") {
    return kernel(kind + name, ", " + std::to_string(wide ? pack : 1) + whole + ">");
  };
  if (!training) return {counted("apply", packs)};
  if (images::sums_by_columns(problem.dtype, p, offset("x")))
    return {kernel("column_moments", ", " + std::to_string(pack) + ">"),
            {"batchnorm::finish_planes"},
            counted("apply", packs)};
  const bool whole_planes = p.spatial % pack == 0 && offset("x") % pack == 0;
  return {counted("moments", x_packs,
                  columns        ? ""
                  : whole_planes ? ", true"
                                 : ", false"),
          {"batchnorm::finish_moments"},
          counted("apply", packs)};
}

std::vector<std::string> in_both_modes(const std::vector<std::string>& shapes) {
  return in_each_form({"train", "infer"}, shapes);
}

std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes = in_both_modes(images::planes_and_columns());
  for (const std::string& rows : in_each_form({"train"}, images::numbers_of_rows(dtype)))
    shapes.push_back(rows);
  return shapes;
}

} // namespace

Card batchnorm_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, batchnorm::kVariants, kRun);
  card.variants[0].accurate = false; // naive
  card.variants[0].sequence = [](const Problem& p) {
    return is_training(p) ? images_of(p).per_channel() : 1;
  };
  card.forms = {"train", "infer"};
  card.vendors = {
      [](const Problem& p) { return names(vendor::batchnorm_table, p.dtype, images_of(p)); },
      run_vendor, 4, of_vendor};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.elements = elements;
  card.exact_samples = batchnorm_samples::exact;
  card.random_samples = batchnorm_samples::random;
  card.special_samples = batchnorm_samples::special;
  card.vendor_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const std::string& shape : in_both_modes(images::beside_libraries()))
      samples.push_back({"normal", shape});
    samples.push_back(samples.front());
    samples.back().fill = "normal, by a large epsilon";
    samples.back().scalars = {{"epsilon", 2}};
    return samples;
  };
  card.usual = [](Dtype) { return in_both_modes(images::usual()); };
  card.batches = these({"infer_nchw_n*_c3_s49", "infer_nhwc_n*_c8_s7"}); // training needs all rows
  card.sizes = sizes;
  card.misaligned = [](Dtype dtype) { return in_both_modes(images::misaligned(dtype)); };
  card.empty = in_both_modes(images::empty());
  card.refuses_overlap = false;
  card.refused_scalars = {{"epsilon", {-1, kNan, kInfinity}}, {"momentum", {-0.1, 1.1, kNan}}};
  card.kernels = kernels;
  card.bit_difference_reason = "fused products";
  card.bound = [](const Problem& p) { // shuffles and barriers cost more than memory
    return backend == Backend::host && is_training(p) ? kg::Bound::sync : kg::Bound::memory;
  };
  card.timed_on_host = {{"train_nhwc_n2_c64_s196", true},
                        {"train_nchw_n4_c8_s196"},
                        {"infer_nchw_n4_c8_s196"},
                        {"train_nchw_n32_c16_s49"}};
  // A small one, and at least 256 MiB of 16-bit elements.
  card.timed_on_gpu = {{"train_nhwc_n8_c64_s784"},     {"train_nhwc_n256_c64_s12544", true},
                       {"train_nchw_n256_c64_s12544"}, {"train_nhwc_n1536_c2048_s49"},
                       {"train_nchw_n1536_c2048_s49"}, {"infer_nhwc_n256_c256_s3136"},
                       {"infer_nchw_n256_c256_s3136"}};
  return card;
}

} // namespace kg::card
