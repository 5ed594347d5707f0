// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/error.h"
#include "runtime/stream.h"

#include <functional>
#include <memory>
#include <vector>

namespace kg::host {

// What a host stream's handle points to: work runs at once, except while a graph records it.
class Queue {
 public:
  using Task = std::function<void()>;
  using Tasks = std::vector<Task>;

  // Several queues may record into one list.
  void begin_capture(std::shared_ptr<Tasks> into = std::make_shared<Tasks>()) {
    recorded_ = std::move(into);
  }
  std::shared_ptr<Tasks> end_capture() { return std::move(recorded_); }
  const std::shared_ptr<Tasks>& capture() const { return recorded_; } // null if there is none
  bool capturing() const { return recorded_ != nullptr; }
  void record(Task task) { recorded_->push_back(std::move(task)); }

  // Runs `task` now, or records it.
  void run(Task task) {
    if (capturing()) {
      record(std::move(task));
    } else {
      task();
    }
  }

 private:
  std::shared_ptr<Tasks> recorded_;
};

// A null handle would pass for the default stream: a moved-from Stream must not.
inline Queue& queue_of(const Stream& stream) {
  require(stream.handle() != nullptr, "this Stream was moved from; use its new owner");
  return *static_cast<Queue*>(stream.handle());
}

} // namespace kg::host
