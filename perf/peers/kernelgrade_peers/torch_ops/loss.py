# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Losses and their gradients."""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Unsupported
from kernelgrade_peers.torch_ops.operation import Function, Inputs, Results, operation, wide

aten = torch.ops.aten


@operation()
def cross_entropy(case: Case) -> Function:
    smoothing, z = case.scalars["label_smoothing"], case.scalars["z_loss"]

    def loss(t: Inputs) -> Tensor:
        x = t["x"].float()  # the loss is f32 for all types
        result = F.cross_entropy(x, t["target"].long(), reduction="none", label_smoothing=smoothing)
        return result + z * torch.logsumexp(x, dim=-1).square() if z else result

    return loss


@operation()
def cross_entropy_backward(case: Case) -> Function:
    if "ignored" in case.words():
        raise Unsupported("ignored rows are not supported")
    smoothing, z = case.scalars["label_smoothing"], case.scalars["z_loss"]

    def gradient(t: Inputs) -> Results:
        x, dloss, sums = t["x"], t["dloss"][:, None], t["log_sum"][:, None]
        dx = (x.float() - sums).exp_()
        if z:
            dx *= 1 + 2 * z * sums
        if smoothing:
            dx -= smoothing / x.shape[1]
        dx.scatter_add_(1, t["target"].long()[:, None], torch.full_like(dloss, smoothing - 1))
        dx *= dloss
        return dx.to(x.dtype)

    return gradient


LOSSES = {
    "mse": partial(F.mse_loss, reduction="none"),
    "huber": partial(F.huber_loss, reduction="none"),
    "bce": partial(F.binary_cross_entropy_with_logits, reduction="none"),
    "kl": partial(F.kl_div, reduction="none"),
}


@operation()
def pointwise_loss(case: Case) -> Function:
    kind = case.shape.split("_")[0]
    delta = {"delta": case.scalars["delta"]} if kind == "huber" else {}
    if "back" not in case.words():
        loss = LOSSES[kind]
        return lambda t: loss(wide(t["x"]), wide(t["target"]), **delta).to(t["x"].dtype)

    def gradient(t: Inputs) -> Results:
        x, target, dloss = (wide(t[name]) for name in ("x", "target", "dloss"))
        match kind:
            case "mse":
                dx = aten.mse_loss_backward(dloss, x, target, 0)
            case "huber":
                dx = aten.huber_loss_backward(dloss, x, target, 0, delta["delta"])
            case "bce":
                dx = (torch.sigmoid(x) - target) * dloss
            case _:
                dx = -target * dloss
        return dx.to(t["x"].dtype)

    return gradient
