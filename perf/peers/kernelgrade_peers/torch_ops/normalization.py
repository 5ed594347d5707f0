# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalizations and their gradients."""

import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.torch_ops.operation import DEVICE, Function, Inputs, Results, operation, wide

aten = torch.ops.aten


@operation()
def layernorm(case: Case) -> Function:
    epsilon = case.scalars["epsilon"]
    return lambda t: F.layer_norm(t["x"], t["x"].shape[-1:], t["gamma"], t["beta"], epsilon)


@operation()
def layernorm_backward(case: Case) -> Function:
    shape = case.inputs["x"].extents[-1:]

    def gradients(t: Inputs) -> Results:
        mean, rstd = t["mean"][:, None], t["rstd"][:, None]
        # On a CPU it does not accept f32 statistics with 16-bit inputs.
        dy, x, gamma = (t[name] if DEVICE == "cuda" else wide(t[name]) for name in ("dy", "x", "gamma"))
        # It only uses the shape of beta.
        found = aten.native_layer_norm_backward(dy, x, shape, mean, rstd, gamma, gamma, [True, True, True])
        dtype = t["x"].dtype
        return {name: each.to(dtype) for name, each in zip(("dx", "dgamma", "dbeta"), found, strict=True)}

    return gradients


@operation()
def rmsnorm(case: Case) -> Function:
    epsilon = case.scalars["epsilon"]
    return lambda t: F.rms_norm(t["x"], t["x"].shape[-1:], t["gamma"], epsilon)


@operation()
def residual_rmsnorm(case: Case) -> Function:
    epsilon = case.scalars["epsilon"]

    def normalised(t: Inputs) -> Results:
        z = t["x"] + t["residual"]
        return {"z": z, "y": F.rms_norm(z, z.shape[-1:], t["gamma"], epsilon)}

    return normalised


@operation()
def rmsnorm_backward(case: Case) -> Function:
    shape = case.inputs["x"].extents[-1:]

    def fused(t: Inputs) -> Results:
        dx, dgamma = aten._fused_rms_norm_backward(t["dy"], t["x"], shape, t["rstd"][:, None], t["gamma"], [True, True])
        return {"dx": dx, "dgamma": dgamma}

    def composed(t: Inputs) -> Results:
        dy, rstd = t["dy"].float(), t["rstd"][:, None]
        scaled, gradient = t["x"].float() * rstd, dy * t["gamma"].float()
        dx = rstd * (gradient - scaled * (gradient * scaled).mean(dim=-1, keepdim=True))
        return {"dx": dx.to(t["x"].dtype), "dgamma": (dy * scaled).sum(0).to(t["gamma"].dtype)}

    return fused if DEVICE == "cuda" else composed  # it has a kernel on GPUs only


def images(x: Tensor, case: Case) -> Tensor:
    """As N, C, H, W; NHWC is PyTorch's channels_last: a view of the same memory."""
    return x[:, :, None, :].permute(0, 3, 1, 2) if "nhwc" in case.words() else x[:, :, :, None]


def as_stored(y: Tensor, case: Case) -> Tensor:
    return y.permute(0, 2, 3, 1) if "nhwc" in case.words() else y


@operation()
def batchnorm(case: Case) -> Function:
    epsilon = case.scalars["epsilon"]

    def given(t: Inputs) -> tuple[Tensor, ...]:
        return images(t["x"], case), t["gamma"], t["beta"], t["running_mean"], t["running_variance"]

    if "infer" in case.words():
        return lambda t: as_stored(aten.batch_norm(*given(t), False, 0.0, epsilon, True), case)
    momentum = case.scalars["momentum"]

    def training(t: Inputs) -> Results:
        # Called by F.batch_norm, which selects a library's kernel or its own; the statistics are for the backward pass.
        y, mean, rstd, _ = aten._batch_norm_with_update(*given(t), momentum, epsilon)
        running = {name: t[name] for name in ("running_mean", "running_variance")}
        return {"y": as_stored(y, case), "mean": mean, "rstd": rstd, **running}

    return training


@operation()
def batchnorm_backward(case: Case) -> Function:
    def gradients(t: Inputs) -> Results:
        dx, dgamma, dbeta = aten.native_batch_norm_backward(
            images(t["dy"], case), images(t["x"], case), t["gamma"], None, None, t["mean"], t["rstd"], True, 1e-5,
            [True, True, True],
        )  # fmt: skip
        return {"dx": as_stored(dx, case), "dgamma": dgamma, "dbeta": dbeta}

    return gradients
