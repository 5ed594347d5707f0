// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/kind.h"

namespace kg {

std::string_view name(Kind kind) {
  switch (kind) {
  case Kind::memory: return "memory";
  case Kind::compute: return "compute";
  case Kind::sync: return "sync";
  case Kind::launch: return "launch";
  }
  return "";
}

} // namespace kg
