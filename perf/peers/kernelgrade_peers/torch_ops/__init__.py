# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations as a user of PyTorch would write them."""

from kernelgrade_peers.torch_ops import (  # noqa: F401
    attention,
    convolution,
    elementwise,
    layout,
    loss,
    normalization,
    optimizer,
    primitive,
    product,
    rows,
)
from kernelgrade_peers.torch_ops.operation import DEVICE, DTYPES, OPERATIONS  # noqa: F401
