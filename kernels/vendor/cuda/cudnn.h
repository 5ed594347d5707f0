// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every wrapper of a cuDNN function uses. Sizes: cuDNN's fixed functions count in int, so at
// most 2^31 - 1 elements.
#pragma once

#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <cudnn.h>

#include <cstdint>
#include <optional>

// In the namespace of cudnnStatus_t, where KG_CHECK finds it from everywhere. The last error's text
// says which argument cuDNN did not like; the status alone does not.
kg::Status describe(cudnnStatus_t status);

namespace kg::vendor::cudnn {

// One handle per thread: cuDNN forbids sharing a handle between threads.
cudnnHandle_t handle_on(Stream& stream);

// nullopt: cuDNN has no such type, or the project does not ask for it.
std::optional<cudnnDataType_t> type_of(Dtype dtype);

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

// A packed tensor of `outer` x `inner`, as (N, C, 1, 1).
class Tensor {
 public:
  // Throws Error where cuDNN cannot count that far.
  Tensor(cudnnDataType_t type, std::int64_t outer, std::int64_t inner);
  cudnnTensorDescriptor_t get() const { return descriptor_.get(); }

 private:
  Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>
      descriptor_;
};

} // namespace kg::vendor::cudnn
