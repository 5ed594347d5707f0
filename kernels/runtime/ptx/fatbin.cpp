// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/fatbin.h"

#include "runtime/bytes.h"

namespace kg {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;
constexpr std::uint64_t kSpecific = 0x100000;

FatbinEntry::Kind kind_of(std::uint16_t word) {
  if (word == 1) return FatbinEntry::Kind::ptx;
  return word == 2 ? FatbinEntry::Kind::elf : FatbinEntry::Kind::other;
}

// Appends the entries of one container's payload.
void read_entries(const Bytes& payload, std::vector<FatbinEntry>& entries) {
  for (std::uint64_t at = 0; at < payload.size();) {
    FatbinEntry entry;
    entry.kind = kind_of(payload.number<std::uint16_t>(at, "an entry"));
    const auto header = payload.number<std::uint32_t>(at + 4, "an entry");
    const auto size = payload.number<std::uint64_t>(at + 8, "an entry");
    entry.arch = static_cast<int>(payload.number<std::uint32_t>(at + 28, "an entry"));
    const auto flags = payload.number<std::uint64_t>(at + 40, "an entry");
    entry.specific = (flags & kSpecific) != 0;
    entry.compression = (flags & kZstd) != 0  ? FatbinEntry::Compression::zstd
                        : (flags & kLz4) != 0 ? FatbinEntry::Compression::lz4
                                              : FatbinEntry::Compression::none;
    entry.whole_bytes = payload.number<std::uint64_t>(at + 56, "an entry");
    if (header < 64) throw Error(payload.name() + ": an entry's header is too short; it is broken");
    entry.contents = payload.range(at + header, size, "an entry's code");
    entries.push_back(entry);
    at += header + size;
  }
}

void require_plain(const FatbinEntry& entry) {
  if (entry.compression != FatbinEntry::Compression::none)
    throw Error("the code for " + entry.arch_name() +
                " is compressed; compile with nvcc's option --no-compress");
}

} // namespace

std::string FatbinEntry::arch_name() const {
  return "sm_" + std::to_string(arch) + (specific ? "a" : "");
}

std::string_view FatbinEntry::cubin() const {
  require_plain(*this);
  if (kind != Kind::elf)
    throw Error("the code for " + arch_name() +
                " is not machine code; compile for real architectures (80-real)");
  return contents;
}

std::string_view FatbinEntry::ptx() const {
  require_plain(*this);
  if (kind != Kind::ptx)
    throw Error("the code for " + arch_name() + " is not PTX; compile for compute_* as well");
  return contents.substr(0, contents.find('\0')); // zeros fill the entry
}

std::vector<FatbinEntry> read_fatbin(std::string_view section, const std::string& name) {
  const Bytes bytes(section, name);
  std::vector<FatbinEntry> entries;
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto magic = bytes.number<std::uint32_t>(at, "a container");
    if (magic == 0) { // the linker pads containers with zeros
      at += sizeof magic;
      continue;
    }
    if (magic != kMagic)
      throw Error(name + ": no container at " + std::to_string(at) +
                  "; the file was made by another kind of compiler");
    const auto header = bytes.number<std::uint16_t>(at + 6, "a container");
    const auto size = bytes.number<std::uint64_t>(at + 8, "a container");
    if (header < 16) throw Error(name + ": a container's header is too short; it is broken");
    read_entries({bytes.range(at + header, size, "a container's entries"), name}, entries);
    at += header + size;
  }
  return entries;
}

} // namespace kg
