// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/count/sectors.h"

#include <algorithm>
#include <bit>

namespace kg::count {

std::span<const std::uintptr_t> sorted_addresses(const Request& request,
                                                 std::uintptr_t (&sorted)[kLanes]) {
  std::size_t count = 0;
  for (std::uint32_t rest = request.lanes; rest != 0; rest &= rest - 1)
    sorted[count++] = request.address[std::countr_zero(rest)];
  if (!std::is_sorted(sorted, sorted + count)) std::sort(sorted, sorted + count);
  return {sorted, count};
}

std::uint64_t least_sectors(std::span<const std::uintptr_t> addresses, unsigned width) {
  std::uint64_t bytes = 0;
  std::uintptr_t end = 0;
  for (const std::uintptr_t address : addresses) {
    bytes += address + width - std::max(address, std::min(end, address + width));
    end = address + width;
  }
  return (bytes + 31) >> kSectorBits;
}

namespace {

// Whether all participating lanes access the same address as their participating partners.
bool alike(const Request& request, unsigned partner) {
  for (std::uint32_t rest = request.lanes; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(rest)), other = lane ^ partner;
    if ((request.lanes >> other & 1) != 0 && request.address[lane] != request.address[other])
      return false;
  }
  return true;
}

unsigned lanes_together(const Request& request, unsigned width) {
  if (width < 8) return kLanes;
  const unsigned lanes = width == 8 ? kLanes / 2 : kLanes / 4;
  return alike(request, 1) || alike(request, 2) ? 2 * lanes : lanes;
}

} // namespace

Wavefronts wavefronts(const Request& request, unsigned width) {
  const unsigned together = lanes_together(request, width);
  constexpr unsigned kBanks = 32;
  const unsigned words = std::max(width / 4, 1u); // per lane
  Wavefronts result;
  for (unsigned first = 0; first < kLanes; first += together) {
    const std::uint32_t all = together == 32 ? ~0u : (1u << together) - 1;
    std::uint32_t rest = request.lanes >> first & all;
    if (rest == 0) continue;
    std::uintptr_t wanted[kBanks][kLanes]; // unique words, by bank
    unsigned char count[kBanks] = {};
    unsigned most = 0;
    for (; rest != 0; rest &= rest - 1) {
      const std::uintptr_t word = request.address[first + std::countr_zero(rest)] / 4;
      for (std::uintptr_t w = word; w < word + words; ++w) {
        std::uintptr_t* const in_bank = wanted[w % kBanks];
        unsigned char& n = count[w % kBanks];
        if (std::find(in_bank, in_bank + n, w) != in_bank + n) continue;
        in_bank[n++] = w;
        most = std::max<unsigned>(most, n);
      }
    }
    result.count += most;
    ++result.least;
  }
  return result;
}

std::uint64_t l1_passes(const Request& request, std::span<const std::uintptr_t> sorted,
                        unsigned width) {
  constexpr unsigned kLineBits = 7, kLinesAPass = 4;
  std::uint64_t lines = 0;
  std::uintptr_t next = 0; // first line not yet looked up
  for (const std::uintptr_t address : sorted) {
    const std::uintptr_t last = (address + width - 1) >> kLineBits;
    const std::uintptr_t first = std::max(address >> kLineBits, next);
    if (first > last) continue;
    lines += last - first + 1;
    next = last + 1;
  }
  return std::max(wavefronts(request, width).count, (lines + kLinesAPass - 1) / kLinesAPass);
}

std::uint64_t SectorSet::size() const {
  std::uint64_t sectors = 0;
  for (const auto& [group, bits] : groups_) sectors += static_cast<unsigned>(std::popcount(bits));
  return sectors;
}

void SectorSet::clear() {
  groups_.clear();
  last_ = nullptr;
}

} // namespace kg::count
