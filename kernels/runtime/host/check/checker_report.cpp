// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The texts of the checkers' findings.
#include "runtime/host/check/checker.h"

#include "runtime/host/virtual_device.h"
#include "runtime/ptx/library.h"

#include <cstring>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace kg::check {
namespace {

// Describes `offset` bytes from the start of these variables, inside or next to one of them.
std::string shared_variable(const std::vector<SharedVariable>& variables, std::uintptr_t offset) {
  const SharedVariable* before = nullptr;
  const SharedVariable* after = nullptr;
  for (const SharedVariable& variable : variables) {
    if (variable.guard) continue;
    if (variable.offset <= offset) before = &variable;
    if (variable.offset > offset && !after) after = &variable;
  }
  if (before && offset < before->offset + before->bytes)
    return fmt::format("byte {} of __shared__ {}", offset - before->offset, before->name);
  const std::uintptr_t behind = before ? offset - before->offset - before->bytes : ~0ull;
  if (after && after->offset - offset < behind)
    return fmt::format("{} bytes before __shared__ {}", after->offset - offset, after->name);
  if (before)
    return fmt::format("{} bytes behind the end of __shared__ {}, {} bytes long", behind,
                       before->name, before->bytes);
  return "static shared memory";
}

// Describes an offset in a block's shared memory, where PTX kernels have their variables first.
std::string shared_memory(std::size_t offset, std::size_t bytes, const void* kernel) {
  const ptx_run::StaticShared& fixed = ptx_run::static_shared(kernel);
  if (offset < fixed.bytes || (fixed.bytes > 0 && fixed.bytes == bytes)) {
    std::vector<SharedVariable> variables;
    for (const ptx_run::SharedVariable& one : fixed.variables)
      variables.push_back({one.offset, one.bytes, demangled(one.name.c_str()), false});
    return shared_variable(variables, offset);
  }
  offset -= fixed.bytes;
  bytes -= fixed.bytes;
  return offset < bytes
             ? fmt::format("byte {} of the {} bytes of dynamic shared memory", offset, bytes)
             : fmt::format("{} bytes behind the end of the {} bytes of dynamic shared memory",
                           offset - bytes, bytes);
}

} // namespace

std::string Checker::who_and_where(const host::Block& block) const {
  const host::LaunchContext& launch = block.launch();
  return fmt::format("kernel {}, block ({},{},{}), thread ({},{},{})", kernel_name(launch.kernel),
                     blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
}

std::string Checker::global_memory(std::uintptr_t address) const {
  const std::string buffer = memory_.describe(address, nullptr);
  return buffer.empty() ? data_symbol(address) : buffer;
}

std::string Checker::variable(std::uintptr_t address, const BlockState& state,
                              const host::LaunchContext& launch) const {
  const std::uintptr_t in_dynamic = address - state.dynamic_shared;
  if (in_dynamic < host::kMostSharedBytes + kPageBytes)
    return shared_memory(in_dynamic, state.dynamic_shared_bytes, launch.kernel);
  if (const std::string buffer = memory_.describe(address, &launch); !buffer.empty()) return buffer;
  for (const SharedModule& module : modules_)
    if (address - module.begin < module.bytes)
      return shared_variable(module.variables, address - module.begin);
  if (const std::string name = data_symbol(address); !name.empty()) return name;
  if (address < kPageBytes) return fmt::format("the null pointer + {}", address);
  return fmt::format("0x{:x}, which is not device memory", address);
}

std::string Checker::accesses(const char* verb, const Passage& passage, const char* how) const {
  return fmt::format("{} {} {} byte{}{} at {}", who_and_where(passage.block), verb, passage.bytes,
                     passage.bytes == 1 ? "" : "s", how, source_line(site_of(passage.instruction)));
}

std::string Checker::other_thread(Who who, const Passage& passage) const {
  const host::LaunchContext& launch = passage.block.launch();
  const unsigned rank = who & kThreadMask;
  const dim3 b = launch.block;
  std::string text =
      fmt::format("thread ({},{},{})", rank % b.x, rank / b.x % b.y, rank / (b.x * b.y));
  if ((who & kBlockMask) != passage.state.order.block()) {
    std::uint64_t number = (who & kBlockMask) >> 10;
    if (!begun_.empty()) number = begun_[number];
    const dim3 g = launch.grid;
    text +=
        fmt::format(" of block ({},{},{})", number % g.x, number / g.x % g.y, number / (g.x * g.y));
  }
  return text;
}

// For an access that conflicts with a copy that was not waited for; `write` is null for cp.async
// and bulk reductions.
Hint Checker::copy_hint(const Access& other, const BulkWrite* write, bool other_writes, Site site) {
  const bool reduces = (other.who & kAtomic) != 0; // in bulk
  const char* text =
      !other_writes
          ? "wait for the bulk copy{copy} (commit_group, wait_group.read by the thread that "
            "issued it, then a barrier) before {use}"
      : !write && !reduces
          ? "wait for the asynchronous copy{copy} (wait_group, then a barrier) before {use}"
      : write && write->barrier
          ? "wait for the phase of the mbarrier at which the bulk copy{copy} completes, by its "
            "parity, before {use}"
          : "wait for the bulk copy{copy} (commit_group, wait_group by the thread that issued it) "
            "before {use}";
  return {3, text, other.site, site};
}

Hint Checker::race_hint(Who flags, const Access& other, const Passage& passage,
                        bool other_writes) const {
  const bool atomic = (flags & kAtomic) != 0;
  const BlockState& state = passage.state;
  const Who me = state.order.block() | passage.thread;
  const Site site = site_of(passage.instruction);
  if (other.time >= kInFlight) {
    const auto behind = bulk_writes_.upper_bound(passage.address);
    const BulkWrite* const write =
        behind == bulk_writes_.begin() ? nullptr : &std::prev(behind)->second;
    const bool within = write && passage.address - std::prev(behind)->first < write->bytes;
    constexpr std::size_t kLargestAccess = 16; // bytes; a bulk copy's may be as small
    if (!other_writes && warpgroup_notes_.sites.contains(other.site))
      return {3,
              "wait for the group of the wgmma{copy} (wgmma.commit_group, wgmma.wait_group), and "
              "hand its tiles over behind that, before {use}",
              other.site, site};
    if (other.time > kInFlight && flags == 0 && passage.bytes > kLargestAccess && other_writes)
      return {
          3,
          "let those who read the bulk copy{copy} arrive at an mbarrier behind their reads, and "
          "wait for its phase before {use}",
          other.site, site};
    return copy_hint(other, within ? write : nullptr, other_writes, site);
  }
  if (atomic != ((other.who & kAtomic) != 0)) {
    // A fence is already there: another one would not help.
    const bool fenced = state.order.has_fence(passage.thread);
    const bool is_volatile = ((atomic ? flags : other.who) & kVolatile) != 0;
    return {3,
            is_volatile ? "only {first} is volatile: make {second} volatile or atomic, or put a "
                          "barrier {between}"
            : fenced    ? "only {first} is atomic: make {second} atomic; a fence orders nothing "
                          "for a plain access"
                        : "only {first} is atomic: make {second} atomic, or put a barrier or a "
                          "fence {between}",
            atomic ? site : other.site, atomic ? other.site : site, state.barrier};
  }
  if (((other.who ^ me) & kBlockMask) != 0)
    return {2,
            "blocks of a launch run in any order: use atomics{at}, give each block its own memory, "
            "or make two launches of it",
            other.site, site};
  if (same_warp(other.who, me))
    return {0, "the lanes of a warp do not run in step: put __syncwarp() {between}", other.site,
            site, state.warp_barriers[passage.thread / 32]};
  return {1,
          state.uses_mbarrier
              ? "order {both} by the mbarrier: arrive after the first, wait before the second"
              : "put __syncthreads() {between}",
          other.site, site, state.barrier};
}

template <Kind kind>
void Checker::conflict(const Access& other, const Passage& passage, bool other_writes) {
  if (other.time == 0) return;
  const Aside aside(aside_);
  const bool in_flight = other.time >= kInFlight;
  const bool may_be_equal = kind == Kind::write && other_writes && !in_flight &&
                            !(other.who & kAtomic) && passage.bytes <= sizeof(pending_.before);
  const Site site = site_of(passage.instruction);
  const Who me = passage.state.order.block() | passage.thread;
  const Hint hint = race_hint(flags(kind), other, passage, other_writes);
  if (std::exchange(passage.counted, true) ||
      !findings_.is_new(Fault::race, site, other.site, hint))
    return;
  if (!is_kernel_code(site) || !is_kernel_code(other.site)) return;
  constexpr bool kVolatileKind = kind == Kind::volatile_read || kind == Kind::volatile_write;
  const char* verb = kind == Kind::atomic_write  ? "updates atomically"
                     : kind == Kind::atomic_read ? "reads atomically"
                     : is_write(kind)            ? "writes"
                                                 : "reads";
  const bool other_volatile = (other.who & kVolatile) != 0;
  const bool other_atomic = (other.who & kAtomic) != 0 && !other_volatile;
  const bool by_wgmma = !other_writes && warpgroup_notes_.sites.contains(other.site);
  const char* other_verb = by_wgmma && in_flight        ? "is reading by wgmma"
                           : other.time > kInFlight     ? "has copied to in bulk"
                           : in_flight && !other_writes ? "is still copying from"
                           : in_flight && other_atomic  ? "is still reducing into"
                           : in_flight                  ? "is still copying to"
                           : !other_writes              ? "read"
                           : other_atomic               ? "updated atomically"
                                                        : "wrote";
  std::string text = fmt::format("{}: {}, which {} {}{} at {}; nothing orders the two",
                                 accesses(verb, passage, kVolatileKind ? " (volatile)" : ""),
                                 variable(passage.address, passage.owner, passage.block.launch()),
                                 other_thread(other.who, passage), other_verb,
                                 other_volatile ? " (volatile)" : "", source_line(other.site));
  const auto guess = [&](Who who, Site plain_read) {
    guesses_.push_back({who & (kBlockMask | kThreadMask), passage.address, plain_read, site,
                        other.site, std::move(text), hint});
  };
  // A volatile read of data stored by another lane is valid if an atomic operation confirms it, as
  // in a lock per lane.
  if ((kind == Kind::read && (other.who & kAtomic) && !in_flight) ||
      (kind == Kind::volatile_read && other_volatile))
    return guess(me, kind == Kind::read ? site : 0);
  if ((kind == Kind::atomic_write && !other_writes && !(other.who & kAtomic)) ||
      (kind == Kind::volatile_write && !other_writes && other_volatile))
    return guess(other.who, kind == Kind::atomic_write ? other.site : 0);
  if (!may_be_equal) return findings_.add(Fault::race, site, other.site, std::move(text), hint);
  pending_.address = passage.address;
  pending_.bytes = passage.bytes;
  std::memcpy(pending_.before, reinterpret_cast<const void*>(passage.address), passage.bytes);
  pending_.text = std::move(text);
  pending_.hint = hint;
  pending_.site = site;
  pending_.other = other.site;
}

template void Checker::conflict<Kind::read>(const Access&, const Passage&, bool);
template void Checker::conflict<Kind::write>(const Access&, const Passage&, bool);
template void Checker::conflict<Kind::atomic_read>(const Access&, const Passage&, bool);
template void Checker::conflict<Kind::atomic_write>(const Access&, const Passage&, bool);
template void Checker::conflict<Kind::volatile_read>(const Access&, const Passage&, bool);
template void Checker::conflict<Kind::volatile_write>(const Access&, const Passage&, bool);

namespace {

// f32 arithmetic on a GPU produces a single NaN, 0x7fffffff; a CPU produces 0xffc00000 or its
// operand, in most programs the compiler's 0x7fc00000. Threads that write these write equal values.
// Other words that would be NaN as floats may be any data, such as -1.
bool is_usual_nan(std::uint32_t word) {
  return (word & 0x7fffffffu) == 0x7fc00000u || word == 0x7fffffffu;
}

bool same_value(const unsigned char* a, const unsigned char* b, std::size_t bytes) {
  if (std::memcmp(a, b, bytes) == 0) return true;
  if (bytes % sizeof(std::uint32_t) != 0) return false;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t x, y;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    if (x != y && !(is_usual_nan(x) && is_usual_nan(y))) return false;
  }
  return true;
}

} // namespace

void Checker::resolve_pending() {
  const bool changed = !same_value(
      pending_.before, reinterpret_cast<const unsigned char*>(pending_.address), pending_.bytes);
  pending_.bytes = 0;
  if (changed && findings_.is_new(Fault::race, pending_.site, pending_.other, pending_.hint))
    findings_.add(Fault::race, pending_.site, pending_.other, std::move(pending_.text),
                  pending_.hint);
}

bool Checker::is_kernel_code(Site site) {
  const auto [at, is_new] = kernel_code_.try_emplace(site, false);
  if (is_new) at->second = !is_library_code(site);
  return at->second;
}

bool Checker::is_common_code(Site site) {
  const auto [at, is_new] = common_code_.try_emplace(site, false);
  if (is_new) at->second = check::is_common_code(site);
  return at->second;
}

void Checker::confirm_guess(Who who, std::uintptr_t address, std::size_t bytes) {
  std::erase_if(guesses_, [&](const Guess& guess) {
    const bool confirmed = guess.who == who && guess.address - address < bytes;
    if (confirmed && guess.plain_read != 0) confirmed_.insert(guess.plain_read);
    return confirmed;
  });
}

void Checker::resolve_guesses() {
  for (Guess& guess : guesses_) {
    if (!confirmed_.contains(guess.plain_read) &&
        findings_.is_new(Fault::race, guess.site, guess.other, guess.hint))
      findings_.add(Fault::race, guess.site, guess.other, std::move(guess.text), guess.hint);
  }
  guesses_.clear();
}

void Checker::stop(Fault fault, const Passage& passage, bool writes, const char* hint) {
  const Site site = site_of(passage.instruction);
  if (!is_kernel_code(site) || (!passage.page && is_executor_code(site))) return;
  stop(fault, site_of(passage.instruction),
       fmt::format("{}: {}\n  hint: {}", accesses(writes ? "writes" : "reads", passage),
                   variable(passage.address, passage.owner, passage.block.launch()), hint));
}

void Checker::stop(Fault fault, Site site, std::string text) {
  if (findings_.is_new(fault, site, 0)) findings_.add(fault, site, 0, std::move(text));
  aside_ = false; // no destructor runs on exit
  host::current_block->stop(std::make_exception_ptr(Stopped()));
}

void Checker::arithmetic(const std::string& what, const void* instruction) {
  const Site site = site_of(instruction);
  if (!host::current_block || !findings_.is_new(Fault::arithmetic, site, 0)) return;
  findings_.add(Fault::arithmetic, site, 0,
                fmt::format("{} at {}: {}\n  hint: use a wider or unsigned type, or guard the "
                            "operands",
                            who_and_where(*host::current_block), source_line(site), what));
}

void Checker::trapping_arithmetic(const std::string& what, const void* instruction) {
  if (!host::current_block) return;
  arithmetic(what, instruction);
  aside_ = false; // no destructor runs on exit
  host::current_block->stop(std::make_exception_ptr(Stopped()));
}

void Checker::index_out_of_bounds(const std::string& what, const void* instruction) {
  const Site site = site_of(instruction);
  if (!host::current_block) throw Error(fmt::format("{}: {}", source_line(site), what));
  stop(Fault::out_of_bounds, site,
       fmt::format("{} at {}: {}\n  hint: fix the index, or index a pointer to the whole where the "
                   "rows of an array are meant to run on",
                   who_and_where(*host::current_block), source_line(site), what));
}

} // namespace kg::check
