// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Variant selection and argument checks of conv2d_backward. Theoretical minimum: dy and the other
// factor read once, the gradient written once.
#include "ops/conv2d_backward/conv2d_backward.h"

#include "ops/conv2d/conv2d.h"
#include "ops/conv2d_backward/variants.h"
#include "primitives/pack.h"
#include "runtime/error.h"

#include <string>
#include <type_traits>

namespace kg::conv2d_backward {
namespace {

constexpr const char* kWhat = "conv2d_backward: ";

// With fewer output channels, most of a tile of the weights' gradient is padding.
constexpr std::int64_t kLeastOutputs = 8;

void require_pointer(const char* name, const void* pointer) {
  require(pointer != nullptr,
          [&] { return std::string(kWhat) + name + " is null; pass device memory"; });
}

template <class T>
Variant chosen(Gradient gradient, const Geometry& geometry, Variant variant) {
  if (variant == Variant::automatic) return resolve<T>(gradient, geometry);
  if (supports<T>(gradient, variant, geometry)) return variant;
  std::string message(kWhat);
  message.append("no variant ").append(name(variant));
  message.append(" for the gradient of the ").append(name(gradient));
  message.append(" in ").append(kg::name(dtype_of<T>));
  message.append(" with these groups, or on this device; use automatic or direct");
  fail(message);
}

conv2d::Variant forward_of(Variant variant) {
  return variant == Variant::depthwise ? conv2d::Variant::depthwise
                                       : conv2d::Variant::implicit_gemm;
}

} // namespace

template <class T>
bool supports(Gradient gradient, Variant variant, const Geometry& geometry) {
  switch (variant) {
  case Variant::automatic:
  case Variant::direct: return true;
  case Variant::implicit_gemm:
    if (gradient == Gradient::weights) return conv2d::supports<T>(forward_of(variant));
    return gradient == Gradient::input && input_supported<T>(geometry, forward_of(variant));
  case Variant::depthwise:
    return gradient == Gradient::input && input_supported<T>(geometry, forward_of(variant));
  case Variant::vectorized: return gradient == Gradient::bias;
  }
  return false;
}

template <class T>
Variant resolve(Gradient gradient, const Geometry& g) {
  if (gradient == Gradient::bias) return Variant::vectorized;
  if (gradient == Gradient::weights)
    return g.group_outputs() >= kLeastOutputs && supports<T>(gradient, Variant::implicit_gemm, g)
               ? Variant::implicit_gemm
               : Variant::direct;
  // The rule of the forward operation, applied to the transposed weights.
  if (supports<T>(gradient, Variant::depthwise, g)) return Variant::depthwise;
  return g.group_inputs() >= kLeastOutputs && supports<T>(gradient, Variant::implicit_gemm, g)
             ? Variant::implicit_gemm
             : Variant::direct;
}

template <class T>
std::size_t workspace_bytes(Gradient gradient, const Geometry& geometry, Variant variant) {
  conv2d::require_geometry("conv2d_backward", geometry);
  variant = chosen<T>(gradient, geometry, variant);
  if (variant == Variant::direct || geometry.batch == 0) return 0;
  switch (gradient) {
  case Gradient::input: return input_workspace_bytes<T>(geometry);
  case Gradient::weights:
    return std::is_same_v<T, float> ? weights_workspace_bytes(geometry)
                                    : weights_mma_workspace_bytes(geometry);
  case Gradient::bias: return bias_workspace_bytes<T>(geometry);
  }
  return 0;
}

template <class T>
Variant run(Gradient gradient, const Problem<T>& p, Variant variant, Stream& stream) {
  const Geometry& g = p.geometry;
  const std::size_t needed = workspace_bytes<T>(gradient, g, variant);
  variant = chosen<T>(gradient, g, variant);
  if (elements(gradient, g) == 0) return variant;
  require_pointer("gradient", p.gradient);
  if (g.batch > 0) {
    require_pointer("dy", p.dy);
    if (gradient == Gradient::weights) require_pointer("x", p.x);
    if (gradient == Gradient::input) require_pointer("weights", p.weights);
  }
  if (needed > 0 && !(p.workspace && is_aligned(static_cast<const char*>(p.workspace)))) {
    std::string message(kWhat);
    message.append("workspace is null or not aligned; pass ").append(std::to_string(needed));
    message.append(" bytes of device memory, aligned to 16");
    fail(message);
  }
  if (variant == Variant::direct || g.batch == 0)
    run_direct(gradient, p, stream);
  else if (gradient == Gradient::input)
    run_input(p, forward_of(variant), stream);
  else if (gradient == Gradient::bias)
    run_bias(p, stream);
  else if constexpr (std::is_same_v<T, float>)
    run_weights(p, stream);
  else
    run_weights_mma(p, stream);
  return variant;
}

template bool supports<float>(Gradient, Variant, const Geometry&);
template bool supports<f16>(Gradient, Variant, const Geometry&);
template bool supports<bf16>(Gradient, Variant, const Geometry&);
template Variant resolve<float>(Gradient, const Geometry&);
template Variant resolve<f16>(Gradient, const Geometry&);
template Variant resolve<bf16>(Gradient, const Geometry&);
template std::size_t workspace_bytes<float>(Gradient, const Geometry&, Variant);
template std::size_t workspace_bytes<f16>(Gradient, const Geometry&, Variant);
template std::size_t workspace_bytes<bf16>(Gradient, const Geometry&, Variant);
template Variant run(Gradient, const Problem<float>&, Variant, Stream&);
template Variant run(Gradient, const Problem<f16>&, Variant, Stream&);
template Variant run(Gradient, const Problem<bf16>&, Variant, Stream&);

Work work(Gradient gradient, Dtype dtype, const Geometry& g) {
  const auto outputs = static_cast<double>(g.outputs());
  const auto written = static_cast<double>(gradient == Gradient::bias      ? g.out_channels
                                           : gradient == Gradient::weights ? g.weights()
                                                                           : g.inputs());
  const double other = gradient == Gradient::bias ? static_cast<double>(g.out_channels)
                                                  : static_cast<double>(g.inputs() + g.weights());
  return {.bytes = (outputs + other) * static_cast<double>(size_of(dtype)),
          .written = written * static_cast<double>(size_of(dtype)),
          .flops =
              gradient == Gradient::bias ? outputs : 2 * outputs * static_cast<double>(g.depth())};
}

} // namespace kg::conv2d_backward
