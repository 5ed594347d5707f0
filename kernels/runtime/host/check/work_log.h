// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records which stream work accessed which bytes of memory. For each byte it keeps the accesses
// that later work can still conflict with; bytes with the same accesses share one entry.
#pragma once

#include "runtime/host/check/stream_order.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace kg::check {

// Two atomic accesses do not conflict, nor do two reads. Allocating or freeing memory counts as a
// write.
enum class TouchKind : unsigned char { read, atomic, write, allocate, free };
inline bool conflict(TouchKind a, TouchKind b) {
  return a != b || (a != TouchKind::read && a != TouchKind::atomic);
}

// An access of some work to contiguous bytes.
struct Touched {
  std::uintptr_t begin;
  std::uintptr_t end;
  TouchKind kind;
  Site site; // first access of a kernel; 0: the whole of a copy
};

class WorkLog {
 public:
  struct Entry {
    StreamWorkPointer work;
    TouchKind kind;
    Site site;
    bool operator==(const Entry&) const = default;
  };
  using Known = std::function<bool(const StreamWork&)>;
  using Found = std::function<void(const Touched& part, const Entry& earlier)>;

  // Records an access of `work`, which happens after all that it `knows`. Reports each conflicting
  // earlier access with the bytes that both touch.
  void enter(const Touched& access, const StreamWorkPointer& work, const Known& knows,
             const Found& found);
  // Reports the accesses that an access of the host would conflict with.
  void find(const Touched& access, const Known& knows, const Found& found) const;
  void forget(std::uintptr_t address, std::size_t bytes);
  void clear() { parts_.clear(); }

 private:
  struct Part {
    std::uintptr_t end;
    std::vector<Entry> entries;
  };
  using Parts = std::map<std::uintptr_t, Part>; // by start address

  Parts::iterator cut(std::uintptr_t address); // returns the first part from there on

  Parts parts_;
};

} // namespace kg::check
