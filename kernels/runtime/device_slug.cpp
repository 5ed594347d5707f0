// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

namespace kg {
namespace {

// ASCII only, whatever the locale: a slug is a path and a key in committed files.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

} // namespace

std::string device_slug(const std::string& name) {
  std::string slug;
  bool separate = false;
  for (char c : name) {
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
    if (!is_lower(c) && !is_digit(c)) {
      separate = !slug.empty();
      continue;
    }
    if (separate) slug += '-';
    separate = false;
    slug += c;
  }
  return slug;
}

} // namespace kg
