// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/cuda/cudnn.h"

#include "runtime/cuda/native.h"
#include "runtime/error.h"
#include "vendor/cuda/scratch.h"

#include <cudnn.h>

#include <limits>
#include <optional>

// In the namespace of cudnnStatus_t, where KG_CHECK finds it from everywhere. The last error's text
// says which argument cuDNN did not like; the status alone does not.
static kg::Status describe(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return {true, ""};
  std::string text =
      cudnnGetErrorString(status) + (" (" + std::to_string(static_cast<int>(status)) + ")");
#if CUDNN_MAJOR >= 9
  char detail[512] = "";
  cudnnGetLastErrorString(detail, sizeof detail);
  if (detail[0] != '\0') text += std::string(": ") + detail;
#endif
  return {false, text};
}

namespace kg::vendor::cudnn {
namespace {

class Handle {
 public:
  Handle() { KG_CHECK(cudnnCreate(&handle_)); }
  ~Handle() { cudnnDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  cudnnHandle_t get() const { return handle_; }

 private:
  cudnnHandle_t handle_ = nullptr;
};

// One handle per thread: cuDNN forbids sharing a handle between threads.
cudnnHandle_t handle_on(Stream& stream) {
  thread_local const Handle handle;
  KG_CHECK(cudnnSetStream(handle.get(), cuda::native(stream)));
  return handle.get();
}

// Owns one descriptor of any kind.
template <class Descriptor, cudnnStatus_t (*create)(Descriptor*),
          cudnnStatus_t (*destroy)(Descriptor)>
class Owned {
 public:
  Owned() { KG_CHECK(create(&descriptor_)); }
  ~Owned() { destroy(descriptor_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Descriptor get() const { return descriptor_; }

 private:
  Descriptor descriptor_ = nullptr;
};

using OpTensor =
    Owned<cudnnOpTensorDescriptor_t, cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor>;
using ReduceTensor = Owned<cudnnReduceTensorDescriptor_t, cudnnCreateReduceTensorDescriptor,
                           cudnnDestroyReduceTensorDescriptor>;

// A packed tensor of `outer` x `inner`, as (N, C, 1, 1).
class Tensor {
 public:
  Tensor(cudnnDataType_t type, std::int64_t outer, std::int64_t inner) {
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    require(outer <= kMost / inner, "kg::vendor: cuDNN takes at most " + std::to_string(kMost) +
                                        " elements, not " + std::to_string(outer) + " x " +
                                        std::to_string(inner));
    KG_CHECK(cudnnSetTensor4dDescriptor(descriptor_.get(), CUDNN_TENSOR_NCHW, type,
                                        static_cast<int>(outer), static_cast<int>(inner), 1, 1));
  }
  cudnnTensorDescriptor_t get() const { return descriptor_.get(); }

 private:
  Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>
      descriptor_;
};

std::optional<cudnnDataType_t> type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return CUDNN_DATA_FLOAT;
  case Dtype::f16: return CUDNN_DATA_HALF;
  case Dtype::bf16: return CUDNN_DATA_BFLOAT16;
  default: return std::nullopt;
  }
}

} // namespace

// 91900 is 9.19.0; before version 9 a major counted 1000.
std::string version() {
  const std::size_t number = cudnnGetVersion();
  const std::size_t unit = number >= 90000 ? 10000 : 1000;
  return std::to_string(number / unit) + "." + std::to_string(number % unit / 100) + "." +
         std::to_string(number % 100);
}

bool elementwise_supported(Binary op, Dtype dtype) {
  return op != Binary::div && type_of(dtype).has_value();
}

void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream) {
  const OpTensor operation;
  KG_CHECK(cudnnSetOpTensorDescriptor(operation.get(),
                                      op == Binary::mul ? CUDNN_OP_TENSOR_MUL : CUDNN_OP_TENSOR_ADD,
                                      CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
  const Tensor each(type_of(dtype).value(), 1, n);
  const float one = 1;
  const float second = op == Binary::sub ? -1.0F : 1.0F;
  const float zero = 0;
  KG_CHECK(cudnnOpTensor(handle_on(stream), operation.get(), &one, each.get(), a, &second,
                         each.get(), b, &zero, each.get(), out));
}

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream) {
  const std::int64_t out_rows = axis == SumAxis::rows ? rows : 1;
  const std::int64_t out_cols = axis == SumAxis::columns ? cols : 1;
  const ReduceTensor sum;
  KG_CHECK(cudnnSetReduceTensorDescriptor(sum.get(), CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT,
                                          CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES,
                                          CUDNN_32BIT_INDICES));
  const Tensor from(CUDNN_DATA_FLOAT, rows, cols);
  const Tensor to(CUDNN_DATA_FLOAT, out_rows, out_cols);
  cudnnHandle_t handle = handle_on(stream);
  std::size_t bytes = 0;
  KG_CHECK(cudnnGetReductionWorkspaceSize(handle, sum.get(), from.get(), to.get(), &bytes));
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cudnnReduceTensor(handle, sum.get(), nullptr, 0, scratch(bytes, stream), bytes, &one,
                             from.get(), x, &zero, to.get(), out));
}

bool softmax_supported(Dtype dtype) { return type_of(dtype).has_value(); }

// Mode "instance" normalises over C, H, W of each N: the same sums as mode "channel" for (N, C, 1,
// 1), for which "channel" is slow (measured by Chainer's pull request 4261).
void softmax(Dtype dtype, const void* x, void* y, std::int64_t rows, std::int64_t cols,
             Stream& stream) {
  const Tensor each(type_of(dtype).value(), rows, cols);
  const float one = 1;
  const float zero = 0;
  KG_CHECK(cudnnSoftmaxForward(handle_on(stream), CUDNN_SOFTMAX_ACCURATE,
                               CUDNN_SOFTMAX_MODE_INSTANCE, &one, each.get(), x, &zero, each.get(),
                               y));
}

} // namespace kg::vendor::cudnn
