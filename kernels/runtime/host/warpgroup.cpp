// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/warpgroup.h"

#include "runtime/host/block.h"
#include "runtime/host/fidelity.h"
#include "runtime/host/observer.h"
#include "runtime/host/virtual_device.h"
#include "runtime/host/warpgroup_jobs.h"
#include "runtime/host/warpgroup_observer.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace kg::host {

constinit WarpgroupObserver* warpgroup_observer = nullptr;

namespace {

constexpr std::size_t kUnit = 16; // bytes

// Of the block that this OS thread runs. On the heap, because a library loaded later gets only a
// few bytes of thread-local memory.
using Warpgroups = std::array<Warpgroup, kMaxThreads / kWarpgroupSize>;
Warpgroups& warpgroups() {
  thread_local const auto all = std::make_unique<Warpgroups>();
  return *all;
}
thread_local bool used = false;

Warpgroup& group_of(const Block& block) {
  return warpgroups()[block.thread_rank() / kWarpgroupSize];
}
unsigned member_of(const Block& block) { return block.thread_rank() % kWarpgroupSize; }

std::string place(Location where) { return fmt::format("{}:{}", where.file, where.line); }

void require_whole(Block& block, const char* name, Location where) {
  const unsigned first = block.thread_rank() / kWarpgroupSize * kWarpgroupSize;
  if (first + kWarpgroupSize > block.thread_count())
    block.trap(fmt::format("{} needs a warpgroup, four warps from a multiple of four on; the block "
                           "has {} threads: launch a multiple of {}",
                           name, block.thread_count(), kWarpgroupSize),
               where);
}

void require_alike(Block& block, const WarpgroupJob& job, const WarpgroupProduct& product,
                   const char* name, Location where) {
  if (!same_place(job.where, where))
    block.trap(fmt::format("{} here, while other threads of the warpgroup execute the one at {}; "
                           "all 128 must execute the same",
                           name, place(job.where)),
               where);
  if (!(job.product == product))
    block.trap(fmt::format("{}: the threads of the warpgroup do not give it the same descriptors "
                           "and scale; compute them from what is the same in all 128",
                           name),
               where);
}

// The contiguous ranges of shared memory that hold an operand.
std::vector<WarpgroupJob::Range> ranges_of(std::vector<std::uintptr_t> units, Swizzle swizzle) {
  std::sort(units.begin(), units.end());
  std::vector<WarpgroupJob::Range> ranges;
  for (const std::uintptr_t unit : units) {
    if (!ranges.empty() && unit <= ranges.back().begin + ranges.back().bytes)
      ranges.back().bytes = unit + kUnit - ranges.back().begin;
    else
      ranges.push_back({unit, kUnit, swizzle});
  }
  return ranges;
}

// In PTX, a matrix that starts in the block's dynamic shared memory must also end there.
void require_within(Block& block, const std::vector<std::uintptr_t>& units, const char* which,
                    const char* name, Location where) {
  const auto [first, last] = std::minmax_element(units.begin(), units.end());
  const auto begin = reinterpret_cast<std::uintptr_t>(block.shared_memory());
  const std::size_t bytes = block.launch().shared_bytes;
  const std::uintptr_t end = *last + kUnit - begin;
  if (*first - begin < kMostSharedBytes && end > bytes)
    block.trap(fmt::format("{}: {} ends at byte {} of shared memory, of which the block has {}; "
                           "check the address and the byte offsets of the descriptor",
                           name, which, end, bytes),
               where);
}

// All threads have issued the product: reports the memory that it reads.
void complete(Block& block, Warpgroup& group, WarpgroupJob& job, const char* name) {
  const auto reads = [&](const std::vector<std::uintptr_t>& units, const MatrixOperand& operand,
                         const char* which) {
    require_within(block, units, which, name, job.where);
    if (!warpgroup_observer) return;
    for (const WarpgroupJob::Range& range :
         ranges_of(units, decode_matrix(operand.descriptor, job.where).swizzle)) {
      job.reads.push_back(range);
      warpgroup_observer->warpgroup_reads(&group, reinterpret_cast<void*>(range.begin), range.bytes,
                                          range.swizzle, job.where);
    }
  };
  if (warpgroup_observer) warpgroup_observer->warpgroup_multiplies(job.product);
  if (!job.product.a_in_registers) reads(units_of_a(job.product, job.where), job.product.a, "A");
  reads(units_of_b(job.product, job.where), job.product.b, "B");
}

bool computes_at_once(Block& block) {
  switch (block.launch().schedule.order) {
  case ThreadOrder::forward: return false;
  case ThreadOrder::reverse: return true;
  case ThreadOrder::random: return block.coin();
  }
  return false;
}

void require_unchanged(Block& block, WarpgroupMember& member, const void* const* at,
                       std::size_t count, const char* which, const char* name, Location where) {
  const KnownRegisters* const known = member.find(at, count);
  for (std::size_t i = 0; known && i < count; ++i)
    if (word_at(at[i]) != known->values[i] && word_at(at[i]) != kPendingSum)
      block.trap(fmt::format("{}: {} has been written since the last wgmma.fence; put one between",
                             name, which),
                 where);
}

void written_early(Block& block, const WarpgroupJob& job, const char* which, Location where) {
  block.trap(fmt::format("{} of the wgmma at {} was written while that was pending; wait for its "
                         "group (wgmma.wait_group) first",
                         which, place(job.where)),
             where);
}

// Assigns the running thread's accumulators to the product.
void take_sums(Block& block, Warpgroup& group, WarpgroupJob& job, void* const* sums,
               const char* name) {
  const unsigned thread = member_of(block);
  WarpgroupMember& member = group.members[thread];
  const std::size_t count = job.product.words();
  void** const own = job.registers(thread);
  const std::size_t first = thread * count;
  for (std::size_t number = member.issued - 1; number > member.retired; --number) {
    const std::shared_ptr<WarpgroupJob>& last = group.jobs[number - 1 - group.over];
    if (last->product.words() != count || last->continued[thread] ||
        !std::equal(sums, sums + count, last->registers(thread)))
      continue;
    if (job.before && job.before != last) break;
    for (std::size_t i = 0; i < count; ++i)
      if (word_at(sums[i]) != kPendingSum) written_early(block, *last, "a sum", job.where);
    last->continued.set(thread);
    job.before = last;
    job.goes_on.set(thread);
    std::copy_n(sums, count, own);
    return;
  }
  if (job.product.adds) require_unchanged(block, member, sums, count, "a sum", name, job.where);
  for (std::size_t i = 0; i < count; ++i) {
    const Word value = word_at(sums[i]);
    job.sums[first + i] = value;
    if (value == kPendingSum) {
      const Warpgroup::Owner owner = group.owner(thread, sums[i]);
      if (owner.job && owner.job.get() != &job) {
        job.taken.push_back({first + i, owner.job, owner.word});
        Warpgroup::release(owner);
      }
    }
    set_word(sums[i], kPendingSum);
    own[i] = sums[i];
  }
}

void take_a(Block& block, WarpgroupMember& member, WarpgroupJob& job, const void* const* a,
            const char* name) {
  require_unchanged(block, member, a, kRegistersOfA, "a register of A", name, job.where);
  member.know(a, kRegistersOfA);
  const std::size_t first = member_of(block) * kRegistersOfA;
  std::copy_n(a, kRegistersOfA, job.a_at.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = 0; i < kRegistersOfA; ++i) job.a_issued[first + i] = word_at(a[i]);
}

// The thread has waited for the product: delivers its sums.
void retire(Block& block, WarpgroupMember& member, WarpgroupJob& job, Location where) {
  const unsigned thread = member_of(block);
  for (std::size_t i = 0; i < kRegistersOfA && !job.a_at.empty(); ++i)
    if (word_at(job.a_at[thread * kRegistersOfA + i]) != job.a_issued[thread * kRegistersOfA + i])
      written_early(block, job, "a register of A", where);
  const std::size_t count = job.product.words();
  void** const own = job.registers(thread);
  if (!job.continued[thread]) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!own[i]) continue;
      if (word_at(own[i]) != kPendingSum) written_early(block, job, "a sum", where);
      set_word(own[i], job.sums[thread * count + i]);
    }
    if (std::find(own, own + count, nullptr) == own + count) member.know(own, count);
  }
  for (const WarpgroupJob::Copied& copy : job.copies)
    if (copy.thread == thread && word_at(copy.to) == kPendingSum)
      set_word(copy.to, job.sums[copy.word]);
  ++member.retired;
  ++job.retired;
}

// Whether all threads have issued the products up to `end`, or at least one thread never will.
bool issued_or_never(const void* what, unsigned end) {
  const auto& group = *static_cast<const Warpgroup*>(what);
  if (std::all_of(group.jobs.begin(),
                  group.jobs.begin() + static_cast<std::ptrdiff_t>(end - group.over),
                  [](const auto& job) { return job->issued; }))
    return true;
  const auto first = static_cast<unsigned>(&group - warpgroups().data()) * kWarpgroupSize;
  for (unsigned thread = 0; thread < kWarpgroupSize; ++thread) {
    const unsigned rank = first + thread;
    if (group.members[thread].issued < end &&
        (current_block->alive_lanes(rank / kWarpSize) >> rank % kWarpSize & 1) == 0)
      return true;
  }
  return false;
}

std::string incomplete(const WarpgroupJob& job) {
  return fmt::format("some of the 128 threads of the warpgroup have ended without executing the "
                     "wgmma at {}; all must execute it",
                     place(job.where));
}

} // namespace

void warpgroup_multiply(const WarpgroupProduct& product, void* const* sums,
                        const void* const* a_registers, const char* name, Location where) {
  Block& block = running_block(name, where);
  used = true;
  require_whole(block, name, where);
  if (product.sum_type != SumType::s32) note_inexact(inexact("mma"));
  Warpgroup& group = group_of(block);
  WarpgroupMember& member = group.members[member_of(block)];
  if (!member.has_fenced)
    block.trap(fmt::format("{} without a wgmma.fence before; execute one between what writes the "
                           "registers and the first product",
                           name),
               where);
  const std::size_t number = member.issued++;
  if (number == group.over + group.jobs.size())
    group.jobs.push_back(std::make_shared<WarpgroupJob>(product, where));
  WarpgroupJob& job = group.job(number);
  require_alike(block, job, product, name, where);
  if (a_registers) take_a(block, member, job, a_registers, name);
  take_sums(block, group, job, sums, name);
  if (++job.came < kWarpgroupSize) return;
  complete(block, group, job, name); // other threads may run in between
  job.issued = true;
  if (computes_at_once(block)) group.execute(number + 1);
  block.state_changed();
}

void warpgroup_fence(const char* name, Location where) {
  Block& block = running_block(name, where);
  require_whole(block, name, where);
  used = true;
  WarpgroupMember& member = group_of(block).members[member_of(block)];
  member.has_fenced = true;
  member.know_anew();
}

void warpgroup_commit(const char* name, Location where) {
  Block& block = running_block(name, where);
  require_whole(block, name, where);
  WarpgroupMember& member = group_of(block).members[member_of(block)];
  member.groups.push_back(member.issued);
}

void warpgroup_wait(std::size_t pending, const char* name, Location where) {
  Block& block = running_block(name, where);
  require_whole(block, name, where);
  block.perturb(name, where);
  Warpgroup& group = group_of(block);
  WarpgroupMember& member = group.members[member_of(block)];
  if (member.groups.size() <= pending) return;
  const std::size_t end = member.groups[member.groups.size() - 1 - pending];
  member.groups.erase(member.groups.begin(),
                      member.groups.end() - static_cast<std::ptrdiff_t>(pending));
  if (end <= member.retired) return;
  block.wait_until(&issued_or_never, &group, static_cast<unsigned>(end), name, where);
  for (std::size_t number = member.retired; number < end; ++number) {
    const WarpgroupJob& job = group.job(number);
    if (!job.issued) block.trap(incomplete(job), where);
  }
  // Other threads may run first and overwrite the operands.
  if (!group.job(end - 1).executed) block.preempt(name, where);
  bool first = false;
  for (std::size_t number = member.retired; number < end; ++number) {
    WarpgroupJob& job = group.job(number);
    if (job.waited_for) continue;
    job.waited_for = first = true;
    for (const WarpgroupJob::Range& range : job.reads)
      if (warpgroup_observer)
        warpgroup_observer->warpgroup_has_read(&group, reinterpret_cast<void*>(range.begin),
                                               range.bytes);
  }
  if (observer && first) observer->barrier_completed(&group);
  if (observer) observer->barrier_passed(&group);
  group.execute(end);
  while (member.retired < end) retire(block, member, group.job(member.retired), where);
  group.drop_retired();
}

void warpgroup_sum_copied(void* to, const void* from) {
  if (!used) return;
  const Block& block = *current_block;
  Warpgroup& group = group_of(block);
  const unsigned thread = member_of(block);
  if (group.members[thread].issued == group.members[thread].retired) return;
  const Warpgroup::Owner overwritten = group.owner(thread, to);
  if (overwritten.copy) Warpgroup::release(overwritten);
  if (word_at(from) != kPendingSum) return; // an overwritten sum is detected at the wait
  const Warpgroup::Owner source = group.owner(thread, from);
  if (!source.job) return;
  if (overwritten.job && !overwritten.copy) Warpgroup::release(overwritten);
  source.job->copies.push_back({thread, to, source.word});
}

void warpgroup_sum_read(const void* sum, Location where) {
  if (!used) return;
  Block& block = *current_block;
  const Warpgroup::Owner owner = group_of(block).owner(member_of(block), sum);
  if (owner.job)
    block.trap(fmt::format("a sum of the wgmma at {} is read while that is pending; wait for its "
                           "group (wgmma.commit_group, wgmma.wait_group) first",
                           place(owner.job->where)),
               where);
}

void warpgroups_reset() {
  if (!used) return;
  for (Warpgroup& group : warpgroups()) group = {};
  used = false;
}

void warpgroups_finish() {
  if (!used) return;
  for (const Warpgroup& group : warpgroups()) {
    for (const auto& job : group.jobs) {
      if (job->came < kWarpgroupSize) fail(incomplete(*job), job->where);
      if (!job->waited_for)
        fail("the block has ended while this wgmma is pending; commit it and wait for its group "
             "(wgmma.commit_group, wgmma.wait_group)",
             job->where);
    }
  }
}

} // namespace kg::host
