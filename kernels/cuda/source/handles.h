// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles of the runtime API are addresses. Only live handles are dereferenced.
#pragma once

#include "cuda/source/state.h"

#include <memory>
#include <vector>

namespace kg::foreign {

template <class Handle>
class Handles {
 public:
  Handle* add(std::unique_ptr<Handle> handle) {
    std::lock_guard lock(mutex_);
    Handle* const address = handle.get();
    live_.emplace(address, std::move(handle));
    return address;
  }
  Handle& get(Handle* handle, const char* what) {
    std::lock_guard lock(mutex_);
    demand(live_.count(handle) == 1, cudaErrorInvalidResourceHandle,
           std::string("this is not a live ") + what +
               "; it was never created, or it has been destroyed");
    return *handle;
  }
  void remove(Handle* handle, const char* what) {
    get(handle, what);
    typename Live::node_type removed; // destroyed without the lock: a user object calls the program
    std::lock_guard lock(mutex_);
    removed = live_.extract(handle);
  }
  void clear() {
    std::lock_guard lock(mutex_);
    live_.clear();
  }
  std::vector<Handle*> all() {
    std::lock_guard lock(mutex_);
    std::vector<Handle*> handles;
    for (const auto& [address, handle] : live_) handles.push_back(address);
    return handles;
  }

 private:
  using Live = std::map<Handle*, std::unique_ptr<Handle>>;

  std::mutex mutex_;
  Live live_;
};

} // namespace kg::foreign
