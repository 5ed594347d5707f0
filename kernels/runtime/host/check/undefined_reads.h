// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tracking of values that nothing has written (runtime/host/undefined_values.h): the last load,
// until its value is taken, and the bytes of shared and local memory that hold such values.
#pragma once

#include "runtime/host/check/access.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kg::check {

class UndefinedReads {
 public:
  struct Origin {
    Site site;
    std::string reads;    // "kernel k, block (0,0,0), thread (1,0,0) reads 4 bytes at k.cu:17"
    std::string variable; // "byte 4 of __shared__ s"
    const char* hint;
    const char* value = "a value that nothing has written";
    bool reported = false; // reports each load once, however often its value is used
  };

  // Called for each launch: no values of earlier launches remain.
  void forget() {
    origins_.clear();
    by_site_.clear();
    pending_ = {};
    stored_.clear();
  }

  // The number of a load's origin, from 1 on; 0 if it has none yet.
  std::uint32_t find(Site site) const {
    const auto found = by_site_.find(site);
    return found == by_site_.end() ? 0 : found->second;
  }
  std::uint32_t add(Origin origin) {
    const auto number = static_cast<std::uint32_t>(origins_.size() + 1);
    by_site_[origin.site] = number;
    origins_.push_back(std::move(origin));
    return number;
  }
  Origin& operator[](std::uint32_t origin) { return origins_[origin - 1]; }

  // Whether these bytes belong to the current load, all within kWindow bytes.
  bool goes_on(std::uintptr_t address, std::uint32_t origin) const {
    return pending_.origin == origin && address - pending_.window < kWindow && !pending_.taken;
  }
  void begin(std::uintptr_t address, std::uint32_t origin) {
    pending_ = {address / kLargest * kLargest, origin, 0, false};
  }
  void add_bytes(std::uintptr_t address, std::size_t bytes) {
    pending_.bytes |= mask(address, bytes);
  }
  // Returns the origin of the pending load and clears it; 0 if there is none.
  std::uint32_t drop() {
    const Pending pending = std::exchange(pending_, {});
    return pending.taken ? 0 : pending.origin;
  }
  bool pends() const { return pending_.origin != 0; }
  // Takes bytes of the pending load, with its origin if one is undefined. False if not its bytes.
  bool take(std::uintptr_t address, std::size_t bytes, std::uint32_t& origin) {
    if (bytes == 0 || address - pending_.window >= kWindow) return false;
    pending_.taken = true;
    origin = (pending_.bytes & mask(address, bytes)) != 0 ? pending_.origin : 0;
    pending_.bytes &= ~mask(address, bytes); // after a store the compiler need not reload
    return true;
  }

  bool stores() const { return !stored_.empty(); }
  void store(std::uintptr_t address, std::size_t bytes, std::uint32_t origin) {
    for (std::size_t i = 0; i < bytes; ++i) stored_[address + i] = origin;
  }
  void overwrite(std::uintptr_t address, std::size_t bytes) {
    if (bytes <= stored_.size()) {
      for (std::size_t i = 0; i < bytes; ++i) stored_.erase(address + i);
    } else {
      std::erase_if(stored_, [&](const auto& byte) { return byte.first - address < bytes; });
    }
  }
  std::uint32_t stored(std::uintptr_t address, std::size_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i)
      if (const auto found = stored_.find(address + i); found != stored_.end())
        return found->second;
    return 0;
  }

 private:
  static constexpr std::size_t kLargest = 16; // bytes of an access
  static constexpr std::size_t kWindow = 32;  // range of an unaligned access

  struct Pending {
    std::uintptr_t window = 0;
    std::uint32_t origin = 0;
    std::uint32_t bytes = 0; // undefined ones, one bit each
    bool taken = false;
  };

  std::uint32_t mask(std::uintptr_t address, std::size_t bytes) const {
    const std::size_t at = address - pending_.window;
    const std::size_t count = std::min(bytes, kWindow - at);
    return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << at);
  }

  std::vector<Origin> origins_;
  std::unordered_map<Site, std::uint32_t> by_site_;
  Pending pending_;
  std::unordered_map<std::uintptr_t, std::uint32_t> stored_; // by byte
};

} // namespace kg::check
