// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/turns.h"

#include "runtime/host/groups.h"

namespace kg::host {

void Turns::begin(unsigned rank) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return current_ == rank; });
}

void Turns::yield(unsigned rank) {
  std::unique_lock lock(mutex_);
  pass_on();
  changed_.wait(lock, [&] { return current_ == rank; });
}

void Turns::end(unsigned rank) {
  std::lock_guard lock(mutex_);
  present_[rank] = false;
  if (current_ == rank) pass_on();
}

void Turns::pass_on() {
  for (std::size_t i = 1; i <= present_.size(); ++i) {
    const auto next = static_cast<unsigned>((current_ + i) % present_.size());
    if (!present_[next]) continue;
    current_ = next;
    changed_.notify_all();
    return;
  }
}

void Turn::begin() const {
  if (turns) turns->begin(rank);
}

void Turn::yield() const {
  if (turns) turns->yield(rank);
}

void Turn::end() const {
  if (turns) turns->end(rank);
}

} // namespace kg::host
