// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that CUDA leaves undefined. Those of uninitialized memory are tracked to their use in code
// made from PTX, as in Valgrind's memcheck: a branch, an address, global memory, another thread. In
// other code the load itself is the finding, unless `kernelgrade check` tries whether a result
// depends on the value (undefined_fill.h).
#include "runtime/event_file.h"
#include "runtime/host/check/checker.h"

#include <fmt/format.h>
#include <utility>

namespace kg::check {
namespace {

std::string text_of(const UndefinedReads::Origin& origin) {
  return fmt::format("{}: {}, which nothing has written\n  hint: {}", origin.reads, origin.variable,
                     origin.hint);
}

} // namespace

void Checker::uninitialised(const Passage& passage, Span cell, bool may_be_followed) {
  const Site site = site_of(passage.instruction);
  const bool again = std::exchange(passage.counted, true);
  if (fill_.is_on()) {
    if (!is_kernel_code(site) || !fill_.load(cell, site)) return;
    const Aside aside(aside_);
    write_event(kUndefinedEvent, "[uninitialised] " + text_of(undefined_load(passage, site)));
    return;
  }
  const bool followed = host::undefined_values == this && may_be_followed;
  if (again && !followed) return;
  std::uint32_t origin = undefined_.find(site);
  if (origin == 0) {
    if (!is_kernel_code(site)) return;
    const Aside aside(aside_);
    origin = undefined_.add(undefined_load(passage, site));
  }
  if (!followed) return loads_undefined(origin);
  if (!again) {
    settle_undefined_load();
    undefined_.begin(passage.address, origin);
  }
  if (!undefined_.goes_on(passage.address, origin)) return;
  undefined_.add_bytes(passage.address, cell.bytes);
}

UndefinedReads::Origin Checker::undefined_load(const Passage& passage, Site site) const {
  const bool shared = passage.page->space != Space::global;
  return {site, accesses("reads", passage),
          variable(passage.address, passage.owner, passage.block.launch()),
          shared ? "shared memory begins with arbitrary values in every block; write all that is "
                   "read, a barrier in between"
                 : "fill the buffer first, or guard the access by the size"};
}

void Checker::loads_undefined(std::uint32_t number) {
  const UndefinedReads::Origin& origin = undefined_[number];
  if (findings_.is_new(Fault::uninitialised, origin.site, 0))
    findings_.add(Fault::uninitialised, origin.site, 0, text_of(origin));
}

// The last load was not from code that tracks its value.
void Checker::settle_undefined_load() {
  if (const std::uint32_t origin = undefined_.drop(); origin != 0) loads_undefined(origin);
}

std::uint32_t Checker::loaded(const void* from, std::size_t bytes) {
  std::uint32_t origin = 0;
  if (undefined_.pends() && !undefined_.take(address_of(from), bytes, origin))
    settle_undefined_load();
  return origin == 0 && undefined_.stores() ? undefined_.stored(address_of(from), bytes) : origin;
}

std::uint32_t Checker::shuffled(unsigned lane, const char* name, Location where) {
  const Aside aside(aside_);
  const Site site = site_of(&remembered(where));
  if (const std::uint32_t known = undefined_.find(site)) return known;
  return undefined_.add(
      {site,
       fmt::format("{} reads lane {} by {} at {}", who_and_where(*host::current_block), lane, name,
                   source_line(site)),
       "that lane takes no part",
       "read only lanes that the mask names and that execute the shuffle, too",
       "an undefined value"});
}

void Checker::stored(const void* to, std::size_t bytes, std::uint32_t origin,
                     const void* instruction) {
  if (origin == 0 && !undefined_.stores()) return;
  const Aside aside(aside_);
  const Page* const page = shadow_.find(address_of(to));
  if (origin == 0)
    undefined_.overwrite(address_of(to), bytes);
  else if (page && page->space == Space::global)
    used(origin, "writes to global memory", instruction);
  else
    undefined_.store(address_of(to), bytes, origin);
}

void Checker::used(std::uint32_t number, const char* how, const void* instruction) {
  UndefinedReads::Origin& origin = undefined_[number];
  if (std::exchange(origin.reported, true)) return;
  const Aside aside(aside_);
  const Site site = site_of(instruction);
  if (findings_.is_new(Fault::uninitialised, site, origin.site))
    findings_.add(Fault::uninitialised, site, origin.site,
                  fmt::format("{} {} {}, at {}; {}: {}\n  hint: {}",
                              who_and_where(*host::current_block), how, origin.value,
                              source_line(site), origin.reads, origin.variable, origin.hint));
}

// Only where `kernelgrade check` tries the value: many a kernel shuffles from lanes beyond its data
// and ignores what it gets.
void Checker::shuffles_from_absent(void* value, std::size_t bytes, unsigned lane, const char* name,
                                   Location where) {
  if (!fill_.is_on() || aside_) return;
  const Aside aside(aside_);
  const Site site = site_of(&remembered(where));
  if (fill_.load({address_of(value), bytes}, site))
    write_event(kUndefinedEvent,
                fmt::format("[uninitialised] {} reads {} bytes of lane {} by {} at {}: the lane "
                            "takes no part, so the value is undefined\n  hint: read only lanes "
                            "that the mask names and that call {}, too",
                            who_and_where(*host::current_block), bytes, lane, name,
                            source_line(site), name));
}

void Checker::reads_only(const void* from, std::size_t bytes, Location where) {
  host::Block* const block = host::current_block;
  if (!block || aside_) return;
  const Aside aside(aside_);
  const std::uintptr_t address = address_of(from);
  Page* const page = shadow_.find(address);
  if (!page || page->space != Space::global || !page->has_cells()) return;
  const Cell& cell = page->cells[page->cell_of(address % kPageBytes)];
  if (cell.written <= launch_floor_ || cell.written >= kInFlight) return;
  BlockState& state = state_of(*block);
  const Passage passage{
      *block, state, state, page, address, bytes, &remembered(where), block->thread_rank()};
  const Site site = site_of(passage.instruction);
  if (findings_.is_new(Fault::read_only, site, cell.write_site))
    findings_.add(Fault::read_only, site, cell.write_site,
                  fmt::format("{}: {}, which {} wrote at {} in the same launch\n  hint: the cache "
                              "may still hold what was there before the launch; use a plain load",
                              accesses("reads", passage, " through the read-only cache"),
                              variable(address, state, block->launch()),
                              other_thread(cell.writer, passage), source_line(cell.write_site)));
}

} // namespace kg::check
