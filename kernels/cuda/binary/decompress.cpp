// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/decompress.h"

#include "runtime/error.h"

#include <cstdint>
#include <fmt/format.h>
#include <string_view>
#include <zstd.h>

namespace kg::emulate {
namespace {

std::string from_zstd(std::string_view data, std::size_t bytes) {
  // Before allocating memory, because the size may be corrupt.
  require(ZSTD_getFrameContentSize(data.data(), data.size()) == bytes,
          "its PTX: the frame's size is not the header's");
  std::string text(bytes, '\0');
  // Zeros pad the entry after the frame.
  const std::size_t frame = ZSTD_findFrameCompressedSize(data.data(), data.size());
  const std::size_t got =
      ZSTD_isError(frame) != 0 ? frame : ZSTD_decompress(text.data(), bytes, data.data(), frame);
  require(ZSTD_isError(got) == 0, fmt::format("its PTX: {}", ZSTD_getErrorName(got)));
  return text;
}

// One block of LZ4 (github.com/lz4/lz4, "LZ4 Block Format Description"): sequences of a token,
// literals, and a match that copies earlier output. The last sequence ends with its literals.
class Lz4Block {
 public:
  Lz4Block(std::string_view data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::string text() {
    constexpr std::size_t kMost = 255; // most output bytes for an input byte
    demand(bytes_ / kMost <= data_.size());
    std::string text;
    while (text.size() < bytes_) {
      const std::uint8_t token = next();
      const std::size_t literals = length(token >> 4);
      demand(literals <= data_.size() - at_ && literals <= bytes_ - text.size());
      text.append(data_.substr(at_, literals));
      at_ += literals;
      if (text.size() == bytes_) break;
      const std::size_t low = next();
      const std::size_t back = low | std::size_t{next()} << 8;
      const std::size_t match = length(token & 15) + 4;
      demand(back != 0 && back <= text.size() && match <= bytes_ - text.size());
      for (std::size_t i = 0; i < match; ++i) text += text[text.size() - back]; // may overlap
    }
    return text;
  }

 private:
  static void demand(bool whole) { require(whole, "its PTX, compressed by LZ4, is broken"); }
  std::uint8_t next() {
    demand(at_ < data_.size());
    return static_cast<std::uint8_t>(data_[at_++]);
  }
  std::size_t length(std::size_t begin) {
    std::size_t all = begin;
    if (begin != 15) return all;
    for (std::uint8_t more = 255; more == 255; all += more) more = next();
    return all;
  }

  std::string_view data_;
  std::size_t bytes_, at_ = 0;
};

} // namespace

std::string text_of(const FatbinEntry& entry) {
  using Compression = FatbinEntry::Compression;
  if (entry.compression == Compression::none) return std::string(entry.ptx());
  const std::string text = entry.compression == Compression::zstd
                               ? from_zstd(entry.contents, entry.whole_bytes)
                               : Lz4Block(entry.contents, entry.whole_bytes).text();
  return text.substr(0, text.find('\0'));
}

} // namespace kg::emulate
