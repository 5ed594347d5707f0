// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the host does wrong: copies of what nothing has written.
#include "runtime/event_file.h"
#include "runtime/host/check/checker.h"

#include <cstdio>
#include <fmt/format.h>

namespace kg::check {
namespace {

std::uintptr_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

} // namespace

void Checker::copied_to_host(const void* from, std::size_t bytes) {
  const auto [first, unwritten] = shadow_.unwritten(number_of(from), bytes);
  if (unwritten == 0) return;
  const Site site = calling_site();
  if (!is_new_of_host(site, first)) return;
  host_finding(fmt::format("[uninitialised] the copy to the host{} takes {} of its {} bytes from "
                           "where nothing has written, the first from {}\n  hint: look at the "
                           "sizes of the launch that should write them, or copy only what is "
                           "written",
                           site ? " at " + source_line(site) : "", unwritten, bytes,
                           memory_.describe(first, nullptr)));
}

bool Checker::is_new_of_host(Site site, std::uintptr_t address) {
  const std::lock_guard lock(host_mutex_); // the host may have several threads
  return host_found_.emplace(site, memory_.buffer_in(address, 1).begin).second;
}

void Checker::host_finding(const std::string& text) {
  host_failed_ = true;
  if (!write_event(kFaultEvent, text)) fmt::print(stderr, "kernelgrade: {}\n", text);
}

} // namespace kg::check
