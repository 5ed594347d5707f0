// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/ahead.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kg::ptx_run {
namespace {

// Other programs may do the same at the same time.
constexpr unsigned kMostThreads = 4;

struct Ahead {
  const pid_t process = ::getpid();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool ending = false;
  std::vector<std::thread> threads;
};

void end();

Ahead& ahead() {
  static Ahead& only = []() -> Ahead& {
    std::atexit(end);
    return *new Ahead; // never destroyed: a fork inherits the waiting, but no threads
  }();
  return only;
}

void end() {
  Ahead& all = ahead();
  if (::getpid() != all.process) return;
  {
    const std::lock_guard lock(all.mutex);
    all.ending = true;
  }
  all.changed.notify_all();
  for (std::thread& thread : all.threads) thread.join();
}

void work_on(Ahead& all) {
  std::unique_lock lock(all.mutex);
  for (;;) {
    all.changed.wait(lock, [&] { return all.ending || !all.waiting.empty(); });
    if (all.ending) return;
    const std::function<void()> work = std::move(all.waiting.front());
    all.waiting.pop_front();
    lock.unlock();
    try {
      work();
    } catch (const std::exception&) {
    }
    lock.lock();
  }
}

} // namespace

void do_ahead(std::function<void()> work) {
  Ahead& all = ahead();
  if (::getpid() != all.process) return; // a fork may inherit a closed lock, but no threads
  const std::lock_guard lock(all.mutex);
  all.waiting.push_back(std::move(work));
  if (all.threads.size() < std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads))
    all.threads.emplace_back([&all] { work_on(all); });
  all.changed.notify_one();
}

} // namespace kg::ptx_run
