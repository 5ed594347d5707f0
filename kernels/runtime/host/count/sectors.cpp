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

Wavefronts wavefronts(const Request& request, unsigned width) {
  constexpr unsigned kBanks = 32;
  const unsigned together = width == 16 ? 8 : width == 8 ? 16 : 32; // lanes
  const unsigned words = std::max(width / 4, 1u);                   // per lane
  Wavefronts result;
  for (unsigned first = 0; first < kLanes; first += together) {
    const std::uint32_t all = together == 32 ? ~0u : (1u << together) - 1;
    std::uint32_t rest = request.lanes >> first & all;
    if (rest == 0) continue;
    std::uintptr_t wanted[kBanks][kLanes]; // different words, by bank
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
