// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults of the host: copies of uninitialized data, and accesses to memory that the device may
// still access.
#include "runtime/event_file.h"
#include "runtime/host/check/checker.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <thread>

namespace kg::check {
void Checker::copied_to_host(const void* from, std::size_t bytes) {
  const auto alone = between_launches();
  if (Page* const page = shadow_.find(address_of(from))) page->was_read = true;
  work_touches(from, bytes, host::Touch::read);
  fill_.copied_to_host({address_of(from), bytes}, shadow_);
  const auto [first, unwritten] = shadow_.unwritten(address_of(from), bytes);
  if (unwritten == 0 || fill_.is_on()) return;
  const Site site = calling_site();
  if (!is_new_of_host(site, first)) return;
  host_finding(fmt::format("[uninitialised] the copy to the host{} takes {} of its {} bytes from "
                           "where nothing has written, the first from {}\n  hint: look at the "
                           "sizes of the launch that should write them, or copy only what is "
                           "written",
                           site ? " at " + source_line(site) : "", unwritten, bytes,
                           global_memory(first)));
}

void Checker::freed_wrongly(const void* memory, const char* function) {
  if (host::current_block) return;
  const auto alone = between_launches();
  const std::uintptr_t address = address_of(memory);
  const Site site = calling_site();
  if (!is_new_of_host(site, address)) return;
  const std::string known = global_memory(address);
  host_finding(
      fmt::format("[freed] {}{} gets an address that it cannot free: {}\n"
                  "  hint: free what an allocation has returned, once, by the function "
                  "that belongs to it",
                  function, site ? " at " + source_line(site) : "",
                  known.empty() ? fmt::format("{}, which no allocation contains", memory) : known));
}

// Memory that the host has registered is not known yet. It has no guards: what else is on its first
// and last page counts as a part of it.
void Checker::shared_with_host(void* memory, std::size_t bytes) {
  const auto alone = between_launches();
  shadow_.add(address_of(memory), bytes, Space::global, kHostWrote);
  const std::uintptr_t begin =
      shared_.bytes == 0 ? address_of(memory) : std::min(shared_.begin, address_of(memory));
  const std::uintptr_t end = std::max(shared_.begin + shared_.bytes, address_of(memory) + bytes);
  shared_ = {begin, end - begin};
}

// A host waits for flags by volatile or atomic accesses; since the writer is unknown, they count as
// waiting for all work. Code that runs in a stream's turn counts as work of the stream.
void Checker::host_accessed(Kind kind, std::uintptr_t address, std::size_t bytes,
                            const void* instruction) {
  std::unique_lock alone(launching_, std::defer_lock); // a running kernel may wait for this access
  while (!launch_runs_ && !alone.try_lock()) std::this_thread::yield();
  const Site site = site_of(instruction);
  if (launch_runs_ || aside_ || !is_kernel_code(site)) return;
  const bool writes = is_write(kind);
  const Touched access{address, address + bytes, writes ? TouchKind::write : TouchKind::read, site};
  if (in_work()) return enter_touches({access});
  if (is_atomic(kind)) return host_waits_for_all();
  std::string other;
  const auto known = [this](const StreamWork& work) { return stream_order_.host_knows(work); };
  work_log_.find(access, known, [&](const Touched&, const WorkLog::Entry& earlier) {
    const char* verb = earlier.kind == TouchKind::read ? "reads" : "writes";
    other =
        earlier.work->kernel
            ? fmt::format("which kernel {} {} at {}", kernel_name(earlier.work->kernel), verb,
                          source_line(earlier.site))
            : fmt::format("which the asynchronous copy{} {}",
                          earlier.work->call ? " at " + source_line(earlier.work->call) : "", verb);
  });
  Page* const page = shadow_.find(address);
  if (other.empty() && page && page->has_cells()) {
    const Cell& cell = page->cells[page->cell_of(address % kPageBytes)];
    const StreamWorkPointer launch = launch_at(cell.written);
    if (launch && !known(*launch))
      other = fmt::format("which kernel {} writes at {}", kernel_name(launch->kernel),
                          source_line(cell.write_site));
  }
  if (other.empty() || runs_in_thrust() || !is_new_of_host(site, address)) return;
  host_finding(fmt::format("[race] the host {} {} bytes at {}: {}, {}; nothing has waited for it\n"
                           "  hint: wait for the stream or for an event behind it "
                           "(cudaStreamSynchronize, cudaEventSynchronize) before the host {}",
                           writes ? "writes" : "reads", bytes, source_line(site),
                           global_memory(address), other,
                           writes ? "reuses the memory" : "looks at it"));
}

bool Checker::is_new_of_host(Site site, std::uintptr_t address) {
  return host_found_.emplace(site, memory_.buffer_in(address, 1).begin).second;
}

void Checker::host_finding(const std::string& text) {
  host_failed_ = true;
  if (write_event(kFaultEvent, text)) return;
  write_note(kPrintedEvent, text);
  fmt::print(stderr, "kernelgrade: {}\n", text);
}

} // namespace kg::check
