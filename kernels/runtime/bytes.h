// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads little-endian numbers and byte ranges from a file in memory, with bounds checks.
#pragma once

#include "runtime/error.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace kg {

class Bytes {
 public:
  // `name` appears in error messages. The memory must outlive the views taken from it.
  Bytes(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  std::size_t size() const { return bytes_.size(); }
  const std::string& name() const { return name_; }

  // Throws Error that names `what` if the range extends past the end of the file.
  std::string_view range(std::uint64_t offset, std::uint64_t size, const char* what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      throw Error(name_ + ": " + what + " lies at " + std::to_string(offset) + ", " +
                  std::to_string(size) + " bytes long, but the file has " +
                  std::to_string(bytes_.size()) + "; it is truncated or no such file");
    return bytes_.substr(offset, size);
  }

  template <class T>
  T number(std::uint64_t offset, const char* what) const {
    T value;
    std::memcpy(&value, range(offset, sizeof value, what).data(), sizeof value);
    return value;
  }

  // Returns the text from `offset` up to the next zero byte.
  std::string_view text(std::uint64_t offset, const char* what) const {
    range(offset, 0, what);
    const std::string_view rest = bytes_.substr(offset);
    const std::size_t end = rest.find('\0');
    if (end == rest.npos) throw Error(name_ + ": " + what + " does not end; it is truncated");
    return rest.substr(0, end);
  }

 private:
  std::string_view bytes_;
  std::string name_;
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read as the processor is");

} // namespace kg
