// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_norm.h"

#include "libraries/cuda/cudnn_graph.h"

#include <optional>
#include <vector>

namespace kg::vendor::cudnn {
namespace {

// The tensors' names in the graphs.
enum Id : std::int64_t {
  kX = 1,
  kGamma,
  kBeta,
  kEpsilon,
  kY,
  kMean,
  kRstd,
  kDy,
  kDx,
  kDgamma,
  kDbeta
};

// What a plan is made for; `training` of a gradient says nothing.
struct Shape {
  normalization::Kind norm;
  Dtype dtype;
  std::int64_t rows;
  std::int64_t cols;
  bool training;

  friend bool operator==(const Shape&, const Shape&) = default;
};

cudnnBackendNormMode_t mode_of(normalization::Kind norm) {
  return norm == normalization::Kind::layer ? CUDNN_LAYER_NORM : CUDNN_RMS_NORM;
}

Descriptor elements(Id id, const Shape& s) { return matrix_tensor(id, s.dtype, s.rows, s.cols); }
Descriptor per_column(Id id, const Shape& s) { return matrix_tensor(id, s.dtype, 1, s.cols); }
Descriptor per_row(Id id, const Shape& s) { return matrix_tensor(id, Dtype::f32, s.rows, 1); }

Operation forward_operation(const Shape& s) {
  Operation op(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
  const cudnnBackendNormMode_t mode = mode_of(s.norm);
  const auto phase = s.training ? CUDNN_NORM_FWD_TRAINING : CUDNN_NORM_FWD_INFERENCE;
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, mode);
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, phase);
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, elements(kX, s));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, per_column(kGamma, s));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, scalar_tensor(kEpsilon));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, elements(kY, s));
  if (s.norm == normalization::Kind::layer)
    op.set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, per_column(kBeta, s));
  if (s.training) {
    if (s.norm == normalization::Kind::layer)
      op.set(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, per_row(kMean, s));
    op.set(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, per_row(kRstd, s));
  }
  return op;
}

Operation backward_operation(const Shape& s) {
  Operation op(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
  const cudnnBackendNormMode_t mode = mode_of(s.norm);
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, mode);
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, elements(kX, s));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, elements(kDy, s));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, per_column(kGamma, s));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, per_row(kRstd, s));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, per_column(kDgamma, s));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, elements(kDx, s));
  if (s.norm == normalization::Kind::layer) {
    op.set(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, per_row(kMean, s));
    op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, per_column(kDbeta, s));
  }
  return op;
}

struct KeptPlan {
  Shape shape;
  Plan plan;
};

Plan& kept(std::optional<KeptPlan>& last, const Shape& shape, Operation (*operation)(const Shape&),
           Stream& stream) {
  if (!last || last->shape != shape) {
    last.reset(); // nothing is kept of a problem that cuDNN refuses
    last.emplace(KeptPlan{shape, Plan(operation(shape), stream)});
  }
  return last->plan;
}

} // namespace

bool norm_supported(Dtype dtype) { return type_of(dtype).has_value(); }

void norm_forward(normalization::Kind norm, Dtype dtype, const NormForward& p, Stream& stream) {
  thread_local std::optional<KeptPlan> last;
  const Shape shape{norm, dtype, p.rows, p.cols, p.rstd != nullptr};
  std::vector<Binding> bindings = {{kX, p.x}, {kGamma, p.gamma}, {kEpsilon, &p.epsilon}, {kY, p.y}};
  if (norm == normalization::Kind::layer) bindings.push_back({kBeta, p.beta});
  if (shape.training) bindings.push_back({kRstd, p.rstd});
  if (shape.training && norm == normalization::Kind::layer) bindings.push_back({kMean, p.mean});
  kept(last, shape, forward_operation, stream).execute(bindings, stream);
}

void norm_backward(normalization::Kind norm, Dtype dtype, const NormBackward& p, Stream& stream) {
  thread_local std::optional<KeptPlan> last;
  const Shape shape{norm, dtype, p.rows, p.cols, true};
  std::vector<Binding> bindings = {{kX, p.x},       {kDy, p.dy}, {kGamma, p.gamma},
                                   {kRstd, p.rstd}, {kDx, p.dx}, {kDgamma, p.dgamma}};
  if (norm == normalization::Kind::layer) {
    bindings.push_back({kMean, p.mean});
    bindings.push_back({kDbeta, p.dbeta});
  }
  kept(last, shape, backward_operation, stream).execute(bindings, stream);
}

} // namespace kg::vendor::cudnn
