// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports of a block that cannot continue: which threads wait, where, and for what.
#include "runtime/host/block.h"

#include "runtime/host/mbarrier.h"
#include "runtime/host/register_pool.h"
#include "runtime/ptx/library.h"

#include <fmt/format.h>

namespace kg::host {

namespace {

// Marks accesses as not the kernel's. Formatting uses templates, and the linker may have chosen
// their instrumented copies from a kernel's library.
class Aside {
 public:
  Aside() { current_block = nullptr; }
  ~Aside() { current_block = block_; }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  Block* block_ = current_block;
};

} // namespace

void Block::trap(std::string_view message, Location where) {
  const Aside aside;
  fail(fmt::format("{}, {}: {}", where_am_i(), describe_thread(current_), message), where);
}

void Block::diverge(const char* name, Location where, std::string_view rule) const {
  fail(fmt::format("divergent barrier in {}: {} met {} at {}:{} while {} in a barrier at "
                   "{}:{}; {}",
                   where_am_i(), describe_thread(current_), name, where.file, where.line,
                   barrier_arrived_ == 1 ? "1 thread waits"
                                         : fmt::format("{} threads wait", barrier_arrived_),
                   barrier_where_.file, barrier_where_.line, rule));
}

void Block::shared_overrun(std::size_t byte) const {
  const std::size_t fixed = ptx_run::static_shared(launch_->kernel).bytes;
  const std::size_t dynamic = launch_->shared_bytes - fixed;
  const bool is_static = fixed > 0 && dynamic == 0;
  fail(fmt::format(
      "{} shared memory overrun in {}: byte {} past the {} bytes of the {} was written; "
      "{}fix the index",
      is_static ? "static" : "dynamic", where_am_i(), byte, is_static ? fixed : dynamic,
      is_static ? "kernel" : "launch", is_static ? "" : "raise shared_bytes or "));
}

std::string Block::where_am_i() const {
  return fmt::format("kernel {}, block ({},{},{})", launch_->kernel_name(launch_->kernel), index_.x,
                     index_.y, index_.z);
}

std::string Block::describe_thread(unsigned id) const {
  const uint3 t = threads_[id].index;
  return fmt::format("thread ({},{},{})", t.x, t.y, t.z);
}

std::string Block::deadlock_report() const {
  return fmt::format("deadlock in {}: no thread can continue; {}", where_am_i(), describe_waits());
}

// The mbarrier that a thread waits for; null if it waits for something else.
const void* Block::awaited_mbarrier(unsigned id) const {
  const auto is_for = [](const Poll& poll) { return poll.ready == &mbarrier_has_ended; };
  if (threads_[id].wait == Wait::poll) {
    for (const Poll& poll : polls_)
      if (poll.rank == id && is_for(poll)) return poll.what;
  }
  if (threads_[id].wait != Wait::yield || looks_.empty() || !is_for(looks_[id])) return nullptr;
  // libcu++'s barriers sleep between their looks.
  const std::string_view name = threads_[id].name;
  return name == kMbarrierTest || name.ends_with("nanosleep") ? looks_[id].what : nullptr;
}

// "threads 0..4 wait in __syncthreads at k.cu:38; threads 5..31 wait in __shfl_sync with mask
// 0xffffffff at k.cu:37; 0 threads have exited".
std::string Block::describe_waits() const {
  const Aside aside;
  std::string text;
  const auto same = [&](unsigned one, unsigned other) {
    const Thread &a = threads_[one], &b = threads_[other];
    return a.wait == b.wait && a.detail == b.detail && same_place(a.where, b.where) &&
           awaited_mbarrier(one) == awaited_mbarrier(other);
  };
  unsigned exited = 0;
  for (unsigned first = 0; first < count_;) {
    const Thread& thread = threads_[first];
    unsigned last = first;
    while (last + 1 < count_ && same(last + 1, first)) ++last;
    if (thread.wait == Wait::none) {
      exited += last - first + 1;
    } else {
      text += first == last ? fmt::format("thread {} waits in {}", first, thread.name)
                            : fmt::format("threads {}..{} wait in {}", first, last, thread.name);
      if (thread.wait == Wait::collective) text += fmt::format(" with mask 0x{:x}", thread.detail);
      if (thread.wait == Wait::named_barrier) text += fmt::format(" {}", thread.detail);
      text += fmt::format(" at {}:{}", thread.where.file, thread.where.line);
      if (const void* const barrier = awaited_mbarrier(first))
        text += " " + mbarrier_missing(static_cast<const std::uint64_t*>(barrier));
      if (std::string_view(thread.name) == kRegisterRise) text += " " + registers_missing();
      text += "; ";
    }
    first = last + 1;
  }
  return text +
         (exited == 1 ? "1 thread has exited" : fmt::format("{} threads have exited", exited));
}

void no_running_block(const char* what, Location where) {
  fail(fmt::format("{} was called outside a kernel; run the function through kg::launch", what),
       where);
}

} // namespace kg::host
