// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/attention_backward.h"

namespace kg::vendor {

const Table<AttentionBackwardVariant> attention_backward_table = {
    {"openblas", "openblas", "onednn"},
    {"onednn", "onednn", "onednn"},
};

} // namespace kg::vendor
