// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The checkers. Every access of a kernel to memory that threads share passes through access(),
// which checks four things for each word: may the launch access it, is it aligned, has it been
// written, and is it ordered after all conflicting accesses. Kernels are compiled with
// -fsanitize=thread, which inserts a call before each access; hooks.cpp receives the calls.
//
// In programs linked with the checkers, launches run one at a time and their blocks one after the
// other, so that the same seed gives the same findings.
#pragma once

#include "runtime/host/block.h"
#include "runtime/host/check/block_state.h"
#include "runtime/host/check/bulk_notes.h"
#include "runtime/host/check/findings.h"
#include "runtime/host/check/memory_map.h"
#include "runtime/host/check/order.h"
#include "runtime/host/check/proxy_fences.h"
#include "runtime/host/check/quad_notes.h"
#include "runtime/host/check/read_log.h"
#include "runtime/host/check/shadow.h"
#include "runtime/host/check/shared_variables.h"
#include "runtime/host/check/source_line.h"
#include "runtime/host/check/undefined_fill.h"
#include "runtime/host/check/undefined_reads.h"
#include "runtime/host/check/work_log.h"
#include "runtime/host/observer.h"
#include "runtime/host/undefined_values.h"
#include "runtime/host/warpgroup_observer.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kg::check {

// Thrown by a block whose fault has been recorded in the findings.
struct Stopped {};

class Checker final : public host::Observer,
                      public host::WarpgroupObserver,
                      public host::UndefinedValues {
 public:
  Checker();
  ~Checker() override; // reports leaks; exits with code 1 after faults of the host

  bool is_aside() const { return aside_; }

  // Called before each kernel access, which must be aligned to `alignment` bytes.
  template <Kind kind>
  void access(std::uintptr_t address, std::size_t bytes, std::size_t alignment,
              const void* instruction);
  // Called before an atomic or volatile access; also applies its release and acquire.
  template <Kind kind>
  void atomic_access(std::uintptr_t address, std::size_t bytes, const void* instruction);

  // An atomic operation or a fence with a memory order, as in cuda::atomic_ref: a release.
  void ordered(int order, const void* instruction);

  // A fault in arithmetic or in an index at `instruction`; an index fault ends its thread.
  void arithmetic(const std::string& what, const void* instruction);
  void trapping_arithmetic(const std::string& what, const void* instruction); // ends its thread
  [[noreturn]] void index_out_of_bounds(const std::string& what, const void* instruction);

  void allocated(void* block, std::size_t block_bytes, std::size_t bytes) override;
  bool freed(void* block) override;
  void written(void* to, std::size_t bytes) override;
  void poisoned(void* to, std::size_t bytes) override;
  void copied(void* to, const void* from, std::size_t bytes) override;
  void copied_to_host(const void* from, std::size_t bytes) override;
  void shared_with_host(void* memory, std::size_t bytes) override;
  void freed_wrongly(const void* memory, const char* function) override;
  void host_frees(const void* memory, std::size_t bytes) override;
  std::uint32_t call_site(Location known) override;
  void stream_created() override;
  void work_begins(const host::Work& work) override;
  void work_ends() override;
  void work_tells_host() override;
  void work_touches(const void* memory, std::size_t bytes, host::Touch touch) override;
  host::Moment recorded(const host::WorkStream& stream) override;
  void stream_waits(const host::WorkStream& stream, const host::Moment& moment) override;
  void host_waits(const host::WorkStream& stream) override;
  void host_waits(const host::Moment& moment) override;
  void host_waits_for_all() override;
  void launch_began(const host::LaunchContext& launch) override;
  void launch_ended(const host::LaunchContext& launch, const std::exception_ptr& failure) override;
  void block_began(host::Block& block) override;
  void block_ended(host::Block& block) override;
  void block_stands_aside(host::Block& block) override;
  void block_destroyed(host::Block& block) override;
  bool holds_to_cuda() const override { return true; }
  void block_synchronised(host::Block& block, Location where) override;
  void warp_synchronised(host::Block& block, unsigned warp, unsigned lanes,
                         Location where) override;
  void fence(host::Block& block, bool block_scope) override;
  void barrier_arrived(const void* object) override;
  void barrier_arrived_relaxed(const void* object) override;
  void barrier_completed(const void* object) override;
  void barrier_passed(const void* object) override;
  void reads_only(const void* from, std::size_t bytes, Location where) override;
  void shuffles_from_absent(void* value, std::size_t bytes, unsigned lane, const char* name,
                            Location where) override;
  void async_copy_issued(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
                         Location where) override;
  void async_copy_arrived(void* to, std::size_t bytes, bool handed_over) override;
  void mbarrier_initialised(const void* barrier, Location where) override;
  void proxy_fenced(host::Block& block, host::Proxy covered) override;
  void bulk_load_reads(const void* from, std::size_t bytes, Location where) override;
  void bulk_load_issued(void* to, std::size_t bytes, const void* barrier, Location where) override;
  void bulk_load_landed(void* to, const void* barrier) override;
  void bulk_store_issued(const void* from, std::size_t bytes, Location where) override;
  void bulk_store_writes(void* to, std::size_t bytes, Location where) override;
  void bulk_store_read(const void* from, std::size_t bytes) override;
  void bulk_store_written(void* to, std::size_t bytes) override;
  void warpgroup_reads(const void* group, const void* from, std::size_t bytes,
                       host::Swizzle swizzle, Location where) override;
  void warpgroup_has_read(const void* group, const void* from, std::size_t bytes) override;
  void tiles_swizzled(std::optional<host::Swizzle> swizzle) override;
  void bulk_store_not_awaited(std::size_t bytes, unsigned thread, Location where) override;
  void bulk_reduction_updates(void* to, std::size_t bytes, Location where) override;
  void bulk_reduction_updated(void* to, std::size_t bytes) override;
  void bulk_send_issued(const void* from, std::size_t bytes, const void* barrier,
                        Location where) override;
  void bulk_send_read(const void* from, std::size_t bytes, unsigned sender,
                      const void* barrier) override;
  void bulk_send_updated(void* to, std::size_t bytes, unsigned sender,
                         const void* barrier) override;
  std::uint32_t loaded(const void* from, std::size_t bytes) override;
  std::uint32_t shuffled(unsigned lane, const char* name, Location where) override;
  void stored(const void* to, std::size_t bytes, std::uint32_t origin, const void* at) override;
  void used(std::uint32_t origin, const char* how, const void* instruction) override;

 private:
  // An access while its cells are being checked.
  struct Passage {
    host::Block& block;
    BlockState& state;
    BlockState& owner; // of the shared memory; may be another block of the cluster
    Page* page;        // null: unknown address
    std::uintptr_t address;
    std::size_t bytes;
    const void* instruction;
    unsigned thread;
    mutable bool counted = false; // in the findings, which count accesses
  };
  // A write unordered after another write. It is a fault only if it changes the value, which is
  // known only after the write.
  struct Pending {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
    unsigned char before[16];
    std::string text;
    Hint hint;
    Site site = 0;
    Site other = 0;
  };

  struct Copy {
    std::size_t bytes;
    Time issued;
  };
  // A plain read of data that others update atomically. It is not a fault if the value is only a
  // guess that the thread's own atomic operation then confirms (the usual loop around atomicCAS).
  // Threads that leave such a loop early, say at a sufficient maximum, confirm nothing. Thus a
  // plain read by an instruction with one confirmed guess counts as a guess.
  struct Guess {
    Who who;
    std::uintptr_t address;
    Site plain_read; // 0: a volatile read
    Site site;
    Site other;
    std::string text;
    Hint hint;
  };

  static BlockState& state_of(const host::Block& block) {
    return *static_cast<BlockState*>(block.observed);
  }
  template <Kind kind>
  [[gnu::noinline]] void access_cells(host::Block& block, std::uintptr_t address, std::size_t bytes,
                                      std::size_t alignment, const void* instruction);
  void found_local(const Page& page);
  // For dynamic shared memory (quad_notes.h).
  bool read_again(std::size_t quad, const void* instruction, const host::Block& block);
  void read_first(host::Block& block, std::uintptr_t address, const void* instruction);
  template <std::size_t kBytes>
  bool words_written(std::uintptr_t address, const void* instruction, const host::Block& block);
  void enter_notes(std::uintptr_t address, std::size_t bytes, const BlockOrder& order);
  void enter_note(std::size_t quad, const BlockOrder& order);
  bool is_own(const Cell& cell, const History& history, bool settled, Time to,
              const Access& me) const;
  bool entered(Cell& last, History& history, Time to, const Access& me) const;
  template <Kind kind>
  void access_slowly(std::uintptr_t address, std::size_t bytes, std::size_t alignment,
                     const void* instruction);
  template <Kind kind>
  bool cell_accessed(Page& page, std::size_t cell, const Passage& passage);
  void enter_read(Cell& last, History& history, const Access& me, const BlockOrder& order,
                  bool shared) const;
  void enter(std::uintptr_t address, std::size_t bytes, const Access& reader,
             const BlockOrder& order);
  void enter(const std::vector<ReadRun>& reads, const BlockOrder& order);
  void judge_from_now_on(Page& page, const BlockOrder& order); // check all accesses to it
  void judge_from_now_on(BlockState& state);                   // check all accesses
  template <Kind kind>
  bool usable(Page& page, std::size_t cell, const Passage& passage);
  Page* unknown_page(std::uintptr_t address, host::Block& block);
  void preempt(BlockState& state, host::Block& block, Site site);
  void add_thread_local_storage(BlockState& state);
  void remove_thread_local_storage(BlockState& state);
  BlockState& owner_of(std::uintptr_t address, const Page* page, BlockState& state);
  // The block of `block`'s cluster whose dynamic shared memory contains the address; else `block`.
  const host::Block* block_of(std::uintptr_t address, const host::Block& block) const;
  SyncObjects& objects_of(const void* object, BlockState& state);

  [[gnu::noinline]] void host_accessed(Kind kind, std::uintptr_t address, std::size_t bytes,
                                       const void* instruction);
  bool is_new_of_host(Site site, std::uintptr_t address);
  void host_finding(const std::string& text);

  // Two unordered accesses of streams, for all their bytes together.
  struct StreamRace {
    WorkLog::Entry earlier;
    Touched access; // starting at its first byte
    std::size_t bytes = 0;
  };
  struct PendingLaunch {
    Time from, to;
    StreamWorkPointer work;
  };
  void launch_touched(const host::LaunchContext& launch);
  void enter_pending_launches();
  StreamWorkPointer launch_at(Time time) const;
  void enter_touches(const std::vector<Touched>& touches);
  void stream_race(const StreamRace& race);
  void settle();
  // Lock for host operations: one host thread at a time, and none during a launch.
  std::unique_lock<std::recursive_mutex> between_launches();
  static bool in_work(); // whether this OS thread runs work of a stream
  void uninitialised(const Passage& passage, Span cell, bool may_be_followed);
  UndefinedReads::Origin undefined_load(const Passage& passage, Site site) const;
  void loads_undefined(std::uint32_t origin);
  void settle_undefined_load();
  Hint race_hint(Who flags, const Access& other, const Passage& passage, bool other_writes) const;
  static Hint copy_hint(const Access& other, const BulkWrite* write, bool other_writes, Site site);
  template <Kind kind>
  void conflict(const Access& other, const Passage& passage, bool other_writes);
  // Does nothing unless the access is the kernel's own.
  void stop(Fault fault, const Passage& passage, bool writes, const char* hint);
  bool is_kernel_code(Site site);
  // Whether the site is in a function that the executor or this checker may also call. An inline
  // function with instrumented and plain copies ends up once in the program, often as the
  // instrumented copy. Its accesses are then not attributed to the kernel.
  bool is_common_code(Site site);
  [[noreturn]] void stop(Fault fault, Site site, std::string text);
  void resolve_pending();
  void confirm_guess(Who who, std::uintptr_t address, std::size_t bytes);
  void resolve_guesses(); // guesses that were not confirmed
  void forget_copies();   // copies that were not waited for
  void set_write_time(std::uintptr_t address, std::size_t bytes, Time time);
  // For bulk copies (checker_bulk.cpp).
  template <class Visit>
  void for_each_cell(std::uintptr_t address, std::size_t bytes, const Visit& visit);
  void settle_writes(std::uintptr_t address, std::size_t bytes, Time time);
  void bulk_reads(const void* from, std::size_t bytes, const Location* site);
  void bulk_writes(void* to, const Location* site, const BulkWrite& copy);
  void begin_reading(std::uintptr_t address, std::size_t bytes, const Access& reader);
  void end_reading(std::uintptr_t address, std::size_t bytes, Who who, Time time);
  void note_unread(Span buffer);
  void settle_accesses(std::uintptr_t address, std::size_t bytes);
  void updated(std::uintptr_t address, std::size_t bytes, Who who, Time time);
  void end_updating(std::uintptr_t address, std::size_t bytes, Who who, Time time);
  Time landed_at(const void* barrier);
  void check_proxy(std::uintptr_t address, std::size_t bytes, const Passage& passage);
  void check_swizzle(std::uintptr_t address, host::Swizzle swizzle, const Passage& passage);
  void forget_warpgroup_reads(const host::Block* block);
  void check_initialised(const SyncObject& barrier, const Passage& passage);
  SyncObject& numbered(const void* barrier, host::Block& block, Location where);
  void phase_ended(const void* barrier, SyncObject& object);
  void forget_bulk_copies(const host::Block* block);

  std::string who_and_where(const host::Block& block) const;
  std::string global_memory(std::uintptr_t address) const; // a buffer or a variable; "" if neither
  std::string variable(std::uintptr_t address, const BlockState& state,
                       const host::LaunchContext& launch) const;
  std::string accesses(const char* verb, const Passage& passage, const char* how = "") const;
  std::string other_thread(Who who, const Passage& passage) const;
  Who block_number(const host::LaunchContext& launch, uint3 index);

  // Set while the checker calls functions that may be instrumented: ignores their accesses.
  class Aside {
   public:
    explicit Aside(bool& aside) : aside_(aside), before_(std::exchange(aside, true)) {}
    ~Aside() { aside_ = before_; }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    bool& aside_;
    bool before_;
  };
  bool aside_ = false;

  Time now_ = kFirstMoment;
  Time launch_floor_ = 0;
  QuadNotes quads_; // of the running block
  Span launching_stack_{};
  Span local_{};                    // pages that are Space::local
  Reads read_enough_ = kReadEnough; // plus the number of the launch
  Shadow shadow_;
  MemoryMap memory_{shadow_};
  ReadLog reads_{memory_, shadow_};
  Findings findings_;
  UndefinedReads undefined_;
  UndefinedFill fill_;
  Pending pending_;
  std::vector<Guess> guesses_;
  struct PlainRead {
    std::uintptr_t address;
    Who who;
    Site site;
  };
  PlainRead guessed_{};                // the last one followed by an atomic of its thread
  std::unordered_set<Site> confirmed_; // plain reads
  std::unordered_map<host::Block*, std::unique_ptr<BlockState>> blocks_;
  std::vector<std::uint64_t> begun_; // in a large grid, the last blocks that began, by number
  std::uint64_t blocks_begun_ = 0;
  std::unordered_map<std::uintptr_t, Copy> copies_; // in flight, by destination
  std::map<std::uintptr_t, BulkWrite> bulk_writes_; // by first byte
  std::map<std::uintptr_t, BulkRead> bulk_reads_;
  std::multimap<std::uintptr_t, BulkUpdate> bulk_updates_;
  std::map<std::uintptr_t, SentRange> sent_;                  // by first byte
  std::unordered_map<std::uintptr_t, LastStore> last_stores_; // by first byte, in this launch
  std::unordered_map<Who, std::uintptr_t> storing_from_;      // sources of the latest bulk stores
  WarpgroupNotes warpgroup_notes_;
  ProxyFences proxy_fences_;
  unsigned numbers_ = 0;      // of mbarriers so far
  SyncObjects objects_;       // in global memory
  SyncObjects group_objects_; // of the running cluster or cooperative grid, as BlockState::objects
  std::vector<SharedModule> modules_;          // of the OS threads seen so far
  std::unordered_map<Site, bool> kernel_code_; // cache by instruction
  std::unordered_map<Site, bool> common_code_; // cache by instruction
  std::unordered_map<Site, bool> releases_;    // by atomic operation with a memory order
  // Streams: their vector clocks and the memory they have touched. Kernels are included if the
  // program has a second stream.
  StreamOrder stream_order_;
  WorkLog work_log_;
  std::vector<PendingLaunch> pending_launches_; // possibly unknown to the host, in time order
  std::map<std::uintptr_t, std::shared_ptr<StreamClock>> released_; // by launches, keyed by address
  std::vector<std::uintptr_t> judged_pages_;                        // in this launch
  std::atomic<bool> has_streams_ = false;
  std::atomic<bool> work_pends_ = false; // work that the host does not know to be done
  std::set<Site> unread_found_;          // instructions that write buffers which nothing reads
  Span shared_{};                        // covers all memory shared with the host
  std::set<std::tuple<Site, Site, Site, Site>> stream_found_;
  std::set<std::pair<Site, std::uintptr_t>> host_found_; // by accessing site and address
  std::atomic<bool> host_failed_ = false;
  std::atomic<bool> launch_runs_ = false;
  std::recursive_mutex launching_; // guards all of these members
};

// The program's only checker: compiler-inserted calls carry no context. In storage of its own,
// whose address is a link-time constant, because every access needs it.
union CheckerStorage {
  constexpr CheckerStorage() : none() {}
  ~CheckerStorage() {}
  char none;
  Checker checker;
};
extern constinit CheckerStorage checker_storage;
inline Checker& the_checker() { return checker_storage.checker; }

} // namespace kg::check
