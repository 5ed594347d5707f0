// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/cuda/driver.h"
#include "runtime/error.h"

namespace kg::vendor {

// Owns a library's object, such as a handle or a descriptor.
template <class Object, auto create, auto destroy>
class Owned {
 public:
  Owned() { KG_CHECK(create(&object_)); }
  // For objects that need NVIDIA's driver: throws NotSupported if there is none.
  explicit Owned(const char* library) {
    require_driver(library);
    KG_CHECK(create(&object_));
  }
  ~Owned() { destroy(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Object get() const { return object_; }

 private:
  Object object_ = nullptr;
};

} // namespace kg::vendor
