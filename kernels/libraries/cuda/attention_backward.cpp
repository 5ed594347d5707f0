// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/attention_backward.h"

namespace kg::vendor {

const Table<AttentionBackwardVariant> attention_backward_table = {{"cublas", "cublas", "cudnn"}};

} // namespace kg::vendor
