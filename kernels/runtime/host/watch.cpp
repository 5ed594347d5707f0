// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/watch.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace kg::host {
namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr unsigned kIdleTicks = 20; // until the watcher sleeps

struct Entry {
  Watched* watched;
  std::uint64_t progress;
  unsigned more; // workers to add if there is no progress by the next tick
};

// Never destroyed, because its thread runs until the process ends.
class Watcher {
 public:
  void add(Watched& watched) {
    std::lock_guard lock(mutex_);
    entries_.push_back({&watched, watched.progress(), 1});
    if (!started_) {
      std::thread([this] { watch(); }).detach();
      started_ = true;
    } else if (sleeps_) {
      wanted_.notify_one();
    }
  }
  void remove(const Watched& watched) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.watched == &watched; });
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    for (unsigned idle = 0;;) {
      idle = entries_.empty() ? idle + 1 : 0;
      sleeps_ = idle > kIdleTicks;
      if (sleeps_) wanted_.wait(lock, [this] { return !entries_.empty(); });
      lock.unlock();
      std::this_thread::sleep_for(kTick);
      lock.lock();
      for (Entry& entry : entries_) look_at(entry);
    }
  }
  static void look_at(Entry& entry) {
    const std::uint64_t progress = entry.watched->progress();
    if (progress == entry.progress) {
      entry.watched->add_workers(entry.more);
      entry.more *= 2;
    } else {
      entry.more = 1;
    }
    entry.progress = entry.watched->progress();
  }

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::vector<Entry> entries_;
  bool started_ = false;
  bool sleeps_ = false;
};

Watcher& watcher() {
  static Watcher* const instance = new Watcher;
  return *instance;
}

} // namespace

Watch::Watch(Watched& watched) : watched_(watched) { watcher().add(watched); }
Watch::~Watch() { watcher().remove(watched_); }

} // namespace kg::host
