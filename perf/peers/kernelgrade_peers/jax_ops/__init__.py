# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations as a user of JAX would write them."""

from kernelgrade_peers.jax_ops import (  # noqa: F401
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
from kernelgrade_peers.jax_ops.operation import DTYPES, OPERATIONS  # noqa: F401
