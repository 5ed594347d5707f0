// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/concat.h"

namespace kg::vendor {

const Table<ConcatVariant> concat_table = {{"memcpy", nullptr}, {"thrust", nullptr}};

} // namespace kg::vendor
