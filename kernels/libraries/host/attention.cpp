// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/attention.h"

namespace kg::vendor {

const Table<AttentionVariant> attention_table = {
    {"openblas", "openblas", "onednn"},
    {"onednn", "onednn", "onednn"},
};

} // namespace kg::vendor
