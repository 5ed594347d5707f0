// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The checkers' handling of executor events.
#include "runtime/host/check/access_check.h"

#include "runtime/event_file.h"
#include "runtime/host/block_group.h"
#include "runtime/host/grid_window.h"
#include "runtime/host/virtual_device.h"
#include "runtime/memory.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <new>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace kg::check {
namespace {

// Average number of accesses between two preemptions in random order.
constexpr unsigned kPreemptionDistance = 64;

unsigned next_distance(std::uint64_t& random) {
  random = random * 6364136223846793005ULL + 1442695040888963407ULL; // Knuth's MMIX generator
  return 1 + static_cast<unsigned>(random >> 33) % (2 * kPreemptionDistance);
}

Span stack_of_this_thread() {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  return {address_of(bottom), size};
}

// Cached: for the main thread, the C library reads all of /proc/self/maps.
const Span& this_stack() {
  static thread_local const Span stack = stack_of_this_thread();
  return stack;
}

} // namespace

constinit CheckerStorage checker_storage;

namespace {
// Constructed before main, so that no allocation is missed.
const struct Lifetime {
  Lifetime() { new (&checker_storage.checker) Checker; }
  ~Lifetime() { checker_storage.checker.~Checker(); }
} lifetime;
} // namespace

Checker::Checker() {
  for (const DataSegment& segment : data_segments()) {
    shadow_.add(segment.begin, segment.bytes, segment.writable ? Space::global : Space::local,
                kHostWrote);
  }
  host::observer = this;
  host::warpgroup_observer = this;
  const char* const strict = std::getenv("KERNELGRADE_UNINITIALISED_LOADS"); // cannot throw here
  if (!strict || *strict != '1') host::undefined_values = this;
}

Checker::~Checker() {
  memory_.for_each_live([this](Span buffer) {
    fill_.ended(buffer, shadow_);
    note_unread(buffer);
  });
  fill_.write_results();
  host::observer = nullptr;
  host::warpgroup_observer = nullptr;
  host::undefined_values = nullptr;
  const std::string leak = fmt::format("[leak] {}; free what was allocated before the program ends",
                                       memory_.describe_live());
  if (memory_.live_count() != 0 && !write_event(kLeakEvent, leak)) {
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", leak);
  }
  if (!host_failed_) return;
  std::fflush(nullptr);
  _exit(1);
}

// A kernel's own calls are part of its launch, which already holds the lock for all its threads.
std::unique_lock<std::recursive_mutex> Checker::between_launches() {
  if (host::current_block) return {};
  return std::unique_lock(launching_);
}

void Checker::launch_began(const host::LaunchContext&) {
  launching_.lock();
  launch_runs_ = true;
  begun_.clear();
  blocks_begun_ = 0;
  if (now_ > kInFlight / 4) { // the next launch may be long
    shadow_.forget_moments();
    now_ = kFirstMoment;
    quads_.forget();
    for (auto& [block, state] : blocks_) state->memos = {};
    pending_launches_.clear();
  }
  launching_stack_ = this_stack();
  launch_floor_ = now_++;
  judged_pages_.clear();
  guessed_ = {};
  undefined_.forget();
  read_enough_ = kReadEnough | (read_enough_ + 1);
  objects_.clear();
  group_objects_.clear();
  forget_copies();
  forget_bulk_copies(nullptr);
  proxy_fences_.forget();
  numbers_ = 0;
  reads_.open(launch_floor_);
}

void Checker::launch_ended(const host::LaunchContext& launch, const std::exception_ptr& failure) {
  if (pending_.bytes != 0) resolve_pending();
  settle_undefined_load();
  const std::string found = findings_.text();
  findings_.clear();
  launch_touched(launch);
  launch_runs_ = false;
  launching_.unlock();
  if (found.empty()) return;
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const Stopped&) { // its fault is in the findings
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}\n{}", error.what(), found));
  }
  throw Error(found);
}

// Numbers a grid's blocks by index, or in order of their start if the grid exceeds Who's range.
Who Checker::block_number(const host::LaunchContext& launch, uint3 index) {
  const dim3 g = launch.grid;
  std::uint64_t number = index.x + std::uint64_t{g.x} * (index.y + std::uint64_t{g.y} * index.z);
  if (std::uint64_t{g.x} * g.y * g.z > kMostBlocks) {
    begun_.resize(kMostBlocks);
    begun_[blocks_begun_ % kMostBlocks] = number;
    number = blocks_begun_++;
  }
  return static_cast<Who>(number << 10) & kBlockMask;
}

void Checker::block_began(host::Block& block) {
  const Aside aside(aside_);
  auto& state = blocks_[&block];
  if (!state) state = std::make_unique<BlockState>();
  block.observed = state.get();
  const host::LaunchContext& launch = block.launch();
  state->order.begin(block_number(launch, blockIdx), launch_floor_, now_++);
  state->objects.clear();
  state->together = block.groups().beside_others();
  const host::Groups& groups = block.groups();
  state->in_group = groups.grid || groups.cluster;
  // Clusters run one after another, in the same memory; the first block of each begins first.
  if (groups.cluster && !groups.grid && groups.cluster->rank(blockIdx) == 0) group_objects_.clear();
  state->running = true;
  state->uses_mbarrier = false;
  state->barrier = {};
  state->warp_barriers.fill({});

  const auto address = address_of(block.shared_memory());
  if (state->dynamic_shared != address) { // a new executor of blocks
    shadow_.add(address, host::kMostSharedBytes, Space::dynamic_shared, kUninitialised);
    state->dynamic_shared = address;
  }
  state->dynamic_shared_bytes = launch.shared_bytes;

  if (state->built_in_variables != &threadIdx) add_thread_local_storage(*state);
  state->built_in_variables = &threadIdx;

  state->random = launch.schedule.seed + state->order.block();
  state->until_preemption =
      launch.schedule.order == ThreadOrder::random ? next_distance(state->random) : 0;
  quads_.open(state->order, address, launch.shared_bytes, shadow_);
  local_ = {}; // the previous pages may be gone
  // The log holds only finished blocks and this one; its reads do not count towards preemption.
  if (state->together || state->until_preemption != 0) judge_from_now_on(*state);
}

void Checker::block_ended(host::Block& block) {
  const Aside aside(aside_);
  resolve_guesses();
  if (pending_.bytes != 0) resolve_pending();
  resolve_guesses();
  if (!state_of(block).together) forget_copies();
  forget_bulk_copies(&block);
  if (!state_of(block).together) numbers_ = 0;
  if (block.groups().grid) { // its OS thread ends, and stacks may take the place of its storage
    remove_thread_local_storage(state_of(block));
    state_of(block).built_in_variables = nullptr;
  }
  state_of(block).running = false;
  block.observed = nullptr;
}

// The assumptions for a block that runs alone no longer hold.
void Checker::block_stands_aside(host::Block& block) {
  BlockState& state = state_of(block);
  if (std::exchange(state.together, true)) return;
  const Aside aside(aside_);
  if (pending_.bytes != 0) resolve_pending();
  judge_from_now_on(state);
}

void Checker::block_destroyed(host::Block& block) {
  const auto alone = between_launches();
  const Aside aside(aside_);
  shadow_.remove(address_of(block.shared_memory()), host::kMostSharedBytes + kPageBytes);
  if (const auto state = blocks_.find(&block); state != blocks_.end()) {
    remove_thread_local_storage(*state->second);
    blocks_.erase(state);
  }
}

void Checker::add_thread_local_storage(BlockState& state) {
  remove_thread_local_storage(state);
  for (SharedModule& module : shared_modules()) {
    shadow_.add(module.begin, module.bytes, Space::static_shared, kNotShadowed);
    for (const SharedVariable& variable : module.variables) {
      shadow_.mark(module.begin + variable.offset, variable.bytes,
                   variable.guard ? kGuard : kUninitialised);
    }
    state.thread_local_storage.push_back({module.begin, module.bytes});
    modules_.push_back(std::move(module));
  }
}

// An OS thread has ended or is about to end: its storage will be reused.
void Checker::remove_thread_local_storage(BlockState& state) {
  for (const Span& storage : state.thread_local_storage) {
    const std::uintptr_t begin = storage.begin / kPageBytes * kPageBytes;
    shadow_.remove(begin, storage.begin + storage.bytes + kPageBytes - begin);
    std::erase_if(modules_, [&](const auto& module) { return module.begin == storage.begin; });
  }
  state.thread_local_storage.clear();
}

// An unknown address: on a stack, in a module loaded later, or invalid (null).
Page* Checker::unknown_page(std::uintptr_t address, host::Block& block) {
  const bool executor =
      address - address_of(&block) < sizeof(block); // data that it inlines into kernels
  if (executor || block.owns_stack(address) || launching_stack_.contains(address) ||
      this_stack().contains(address)) {
    shadow_.add(address, 1, Space::local, kNotShadowed);
    return shadow_.find(address);
  }
  for (const DataSegment& segment : data_segments()) {
    if (address - segment.begin >= segment.bytes) continue;
    shadow_.add(segment.begin, segment.bytes, segment.writable ? Space::global : Space::local,
                kHostWrote);
    return shadow_.find(address);
  }
  return nullptr;
}

// Does not preempt inside the executor or this checker: another thread would change the history
// while a finding about it is being written.
void Checker::preempt(BlockState& state, host::Block& block, Site site) {
  if (is_common_code(site)) {
    state.until_preemption = 1; // at the next access
    return;
  }
  state.until_preemption = next_distance(state.random);
  block.preempt("the scheduler (preempted)", Location::here());
}

BlockState& Checker::owner_of(std::uintptr_t address, const Page* page, BlockState& state) {
  if (!state.together || !page || page->space != Space::dynamic_shared) return state;
  for (auto& [block, other] : blocks_)
    if (address - other->dynamic_shared < host::kMostSharedBytes) return *other;
  return state;
}

const host::Block* Checker::block_of(std::uintptr_t address, const host::Block& block) const {
  if (block.groups().cluster)
    for (const auto& [other, state] : blocks_)
      if (address - state->dynamic_shared < host::kMostSharedBytes) return other;
  return &block;
}

// Moves a noted read that lies within a page into the shadow.
void Checker::enter(std::uintptr_t address, std::size_t bytes, const Access& reader,
                    const BlockOrder& order) {
  Page& page = *shadow_.find(address);
  const std::size_t offset = address % kPageBytes;
  page.make_cells(offset, bytes);
  const std::size_t last = page.cell_of(offset + bytes - 1);
  for (std::size_t cell = page.cell_of(offset); cell <= last; ++cell) {
    Cell& last = page.cells[cell];
    History& history = page.history[cell];
    if (last.reads == 2 * reader.time + 1 || last.reads == read_enough_) continue;
    if (last.reads == 0) history.others[0] = history.others[1] = {};
    enter_read(last, history, reader, order, page.space != Space::global);
  }
}

void Checker::enter(const std::vector<ReadRun>& reads, const BlockOrder& order) {
  for (const ReadRun& run : reads) {
    // One thread reads one word repeatedly.
    const bool repeated = (run.stride | run.row_stride | run.thread_step) == 0;
    const std::uint32_t count = repeated ? 1 : run.count;
    for (std::uint32_t i = 0; i < count; ++i)
      enter(run.address(i), run.bytes, run.reader_of(i), order);
  }
}

void Checker::enter_note(std::size_t quad, const BlockOrder& order) {
  for (const Access& reader : quads_.take(quad))
    if (reader.time != 0) enter(quads_.begin() + quad * kQuadBytes, kQuadBytes, reader, order);
}

void Checker::judge_from_now_on(Page& page, const BlockOrder& order) {
  if (std::exchange(page.judged_in, launch_floor_) == launch_floor_) return;
  if (page.space != Space::global) return;
  if (has_streams_) judged_pages_.push_back(page.number << kPageBits);
  enter(reads_.close(page.number << kPageBits, kPageBytes), order);
}

void Checker::judge_from_now_on(BlockState& state) {
  enter(reads_.close(), state.order);
  enter_notes(quads_.begin(), quads_.bytes(), state.order);
  quads_.close();
}

void Checker::block_synchronised(host::Block& block, Location where) {
  const Aside aside(aside_);
  resolve_guesses();
  if (pending_.bytes != 0) resolve_pending();
  resolve_guesses();
  BlockState& state = state_of(block);
  state.barrier = where;
  state.warp_barriers.fill(where);
  BlockOrder& order = state.order;
  order.block_synchronised(now_++);
  quads_.synchronised(order);
}

void Checker::warp_synchronised(host::Block& block, unsigned warp, unsigned lanes, Location where) {
  const Aside aside(aside_);
  if (pending_.bytes != 0) resolve_pending();
  const bool all = lanes == block.alive_lanes(warp);
  if (!all) judge_from_now_on(state_of(block));
  state_of(block).warp_barriers[warp] = where;
  state_of(block).order.warp_synchronised(warp, lanes, all, now_++);
}

void Checker::fence(host::Block& block, bool block_scope) {
  const Aside aside(aside_);
  judge_from_now_on(state_of(block));
  state_of(block).order.fence(block.thread_rank(), block_scope, now_++);
}

// CUDA's own atomic functions, the executor's, and all PTX code (in a library, thus far away) are
// sequentially consistent here without the program requesting it: they must not count as fences.
void Checker::ordered(int order, const void* instruction) {
  host::Block* const block = host::current_block;
  if (!block || aside_) return;
  const Site site = site_of(instruction);
  const auto [at, is_new] = releases_.try_emplace(site, false);
  if (is_new)
    at->second = order == __ATOMIC_SEQ_CST ? is_near(instruction) && is_cuda_library_code(site)
                                           : !is_common_code(site);
  if (at->second) fence(*block, false);
}

} // namespace kg::check
