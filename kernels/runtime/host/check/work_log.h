// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which work of streams touched which bytes of memory. Of each byte it keeps the accesses that
// later work can still conflict with; bytes with the same accesses share one entry.
#pragma once

#include "runtime/host/check/stream_order.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace kg::check {

// Two atomic accesses do not conflict, nor do two reads. Memory is written, too, by the work that
// allocates or frees it.
enum class TouchKind : unsigned char { read, atomic, write, allocate, free };
inline bool conflict(TouchKind a, TouchKind b) {
  return a != b || (a != TouchKind::read && a != TouchKind::atomic);
}

// An access of some work to bytes next to each other.
struct Touched {
  std::uintptr_t begin;
  std::uintptr_t end;
  TouchKind kind;
  Site site; // of a kernel's first one; 0: all of a copy
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

  // Enters an access of `work`, which happens after all that it `knows`; names each earlier one
  // that it conflicts with by the bytes that both touch.
  void enter(const Touched& access, const StreamWorkPointer& work, const Known& knows,
             const Found& found);
  // Names those that an access of the host would conflict with.
  void find(const Touched& access, const Known& knows, const Found& found) const;
  void forget(std::uintptr_t address, std::size_t bytes);
  void clear() { parts_.clear(); }

 private:
  struct Part {
    std::uintptr_t end;
    std::vector<Entry> entries;
  };
  using Parts = std::map<std::uintptr_t, Part>; // by where they begin

  Parts::iterator cut(std::uintptr_t address); // the first part from there on

  Parts parts_;
};

} // namespace kg::check
