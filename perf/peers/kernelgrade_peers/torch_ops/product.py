# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""

import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Unsupported
from kernelgrade_peers.torch_ops.elementwise import ACTIVATIONS, gelu_of, slope
from kernelgrade_peers.torch_ops.operation import DTYPES, Function, Inputs, Results, operation

LAYOUTS = {"nn", "nt", "tn", "tt"}
# Wide tiles, or parts of k: selects our kernel.
ROUTES = {"wide", "split"}
EPILOGUES = {"acc", "bias", "relu", "gelu", "tanh", "z", "dgelu", "drelu", "dbias", "a", "b"}
KNOWN = LAYOUTS | ROUTES | EPILOGUES


@operation()
def gemm(case: Case) -> Function:
    words, batch = case.words(), case.number("b", 1)
    if words - KNOWN:
        raise Unsupported(f"gemm does not support {', '.join(sorted(words - KNOWN))}")
    layout = (words & LAYOUTS).pop()

    def operands(t: Inputs) -> tuple[Tensor, Tensor]:
        a, b = (each.reshape(batch, -1, each.shape[-1]) if batch > 1 else each for each in (t["a"], t["b"]))
        return a.mT if layout[0] == "t" else a, b.mT if layout[1] == "t" else b

    def epilogue(t: Inputs, c: Tensor) -> Results:
        if "z" in case.inputs:  # the gradient of the activation
            c = slope("relu" if "drelu" in words else gelu_of(case), c, t["z"])
        if "relu" in words:
            c = F.relu(c)
        return ACTIVATIONS[gelu_of(case)](c) if "gelu" in words else c

    def product(t: Inputs) -> Results:
        a, b = operands(t)
        if "c0" in t:
            z = t["c0"].reshape(*a.shape[:-1], -1) + torch.matmul(a, b)
        elif "bias" in t:
            z = torch.addmm(t["bias"], a, b) if batch == 1 else torch.matmul(a, b) + t["bias"]
        else:
            z = torch.matmul(a, b)
        c = epilogue(t, z)
        results = {"c": c} | ({"z": z} if "z" in case.outputs else {})
        if "dbias" in case.outputs:
            results["dbias"] = a.sum(-1) if "a" in words else b.sum(-2) if "b" in words else c.sum(-2)
        return results

    return product


def weights_of(t: Inputs) -> Tensor:
    """Of groups with a scale each; of 4 bits two in a byte, as their values plus 8, the first in the lower half."""
    w, scale = t["w"], t["scale"].float()
    if t["x"].shape[1] == 2 * w.shape[1]:
        bits = w.view(torch.uint8)
        w = torch.stack([bits & 15, bits >> 4], dim=-1).view(torch.int8) - 8
    grouped = w.reshape(*scale.shape, -1) * scale[..., None]
    return grouped.reshape(len(scale), -1)


@operation()
def quantised_matmul(case: Case) -> Function:
    dtype = DTYPES[case.dtype]
    if "scale" in case.inputs:
        # 16 bits are not enough for weights times scales.
        return lambda t: F.linear(t["x"].float(), weights_of(t)).to(dtype)

    def scaled(t: Inputs) -> Results:
        x, rows = t["x8"], t["x8"].shape[0]
        if x.dtype == torch.int8:
            # The minimum number of rows of its kernel.
            sums = torch._int_mm(F.pad(x, (0, 0, 0, max(0, 32 - rows))), t["w"].t())[:rows].float()
        else:
            one = torch.ones((), device=x.device)
            sums = torch._scaled_mm(x, t["w"].t(), one, one, out_dtype=torch.float32)
        return (sums * t["x_scale"][:, None] * t["w_scale"]).to(dtype)

    return scaled
