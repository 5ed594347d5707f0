// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/error.h"
#include "runtime/host/observer.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace kg::host {

// The object under a host stream's handle: runs work immediately, except during graph capture.
class Queue {
 public:
  using Task = std::function<void()>;
  struct Node {
    Task task;
    std::vector<std::size_t> after; // indices of the nodes that this one waits for
    std::uint32_t call_site;        // from the observer
  };
  using Nodes = std::vector<Node>;

  // Several queues may record into one list. The nodes of this queue wait for the nodes `after`.
  void begin_capture(std::shared_ptr<Nodes> into = std::make_shared<Nodes>(),
                     std::vector<std::size_t> after = {}) {
    recorded_ = std::move(into);
    last_ = std::move(after);
  }
  std::shared_ptr<Nodes> end_capture() { return std::move(recorded_); }
  const std::shared_ptr<Nodes>& capture() const { return recorded_; } // null if not capturing
  bool capturing() const { return recorded_ != nullptr; }
  const std::vector<std::size_t>& last() const { return last_; } // dependencies of the next node
  void wait_for(const std::vector<std::size_t>& nodes) {
    last_.insert(last_.end(), nodes.begin(), nodes.end());
  }
  void record(Task task) {
    recorded_->push_back({std::move(task), last_, observer ? observer->call_site() : 0});
    last_ = {recorded_->size() - 1};
  }

  // Runs `task` now, or records it.
  void run(Task task) {
    if (capturing()) {
      record(std::move(task));
    } else {
      task();
    }
  }

 private:
  std::shared_ptr<Nodes> recorded_;
  std::vector<std::size_t> last_;
};

// Rejects a moved-from Stream, whose null handle would otherwise mean the default stream.
inline Queue& queue_of(const Stream& stream) {
  require(stream.handle() != nullptr, "this Stream was moved from; use its new owner");
  return *static_cast<Queue*>(stream.handle());
}

} // namespace kg::host
