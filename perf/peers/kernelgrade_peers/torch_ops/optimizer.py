# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers over all parameters of a model, and what clips its gradients."""

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.adamw import adamw
from torch.optim.sgd import sgd

from kernelgrade_peers.case import Case
from kernelgrade_peers.torch_ops.operation import DEVICE, Function, Inputs, Results, operation


def arrays(t: Inputs, name: str) -> list[Tensor]:
    """value0, value1 and so on."""
    found = []
    while f"{name}{len(found)}" in t:
        found.append(t[f"{name}{len(found)}"])
    return found


def lion(masters: list[Tensor], gradients: list[Tensor], first: list[Tensor], case: Case) -> None:
    """Chen et al., arXiv 2302.06675; PyTorch has none of its own."""
    rate, decay, beta1, beta2 = (case.scalars[name] for name in ("rate", "decay", "beta1", "beta2"))
    signs = torch._foreach_lerp(first, gradients, 1 - beta1)
    torch._foreach_sign_(signs)
    torch._foreach_lerp_(first, gradients, 1 - beta2)
    torch._foreach_mul_(masters, 1 - rate * decay)
    torch._foreach_add_(masters, signs, alpha=-rate)


@operation()
def optimizer(case: Case) -> Function:
    """By the fused kernels, or by steps of whole lists, which a compiler fuses."""
    kind, scalars, number = case.shape.split("_")[0], case.scalars, case.number("t", 1)
    rate, decay, momentum = scalars["rate"], scalars["decay"], scalars.get("beta1", 0.0)

    def fused(t: Inputs, masters: list[Tensor], gradients: list[Tensor]) -> None:
        first, second, found_inf = arrays(t, "first"), arrays(t, "second"), t["found_inf"].float()
        if second:
            update = torch._fused_adamw_ if kind == "adamw" else torch._fused_adam_
            update(
                masters, gradients, first, second, [], [step] * len(masters), lr=rate, beta1=momentum,
                beta2=scalars["beta2"], weight_decay=decay, eps=scalars["epsilon"], amsgrad=False, maximize=False,
                found_inf=found_inf,
            )  # fmt: skip
        else:
            torch._fused_sgd_(
                masters, gradients, first, weight_decay=decay, momentum=momentum, lr=rate, dampening=0.0,
                nesterov=kind == "nesterov", maximize=False, is_first_step=False, found_inf=found_inf,
            )  # fmt: skip

    def listed(t: Inputs, masters: list[Tensor], gradients: list[Tensor]) -> None:
        first, second = arrays(t, "first"), arrays(t, "second")
        how = {"foreach": True, "maximize": False, "lr": rate, "weight_decay": decay}
        if second:
            steps = [torch.full((), number - 1.0, device=DEVICE) for _ in masters]  # incremented by the update
            update = adamw if kind == "adamw" else adam
            update(
                masters, gradients, first, second, [], steps, amsgrad=False, beta1=momentum, beta2=scalars["beta2"],
                eps=scalars["epsilon"], capturable=True, **how,
            )  # fmt: skip
        else:
            sgd(
                masters, gradients, first or [None] * len(masters), momentum=momentum, dampening=0.0,
                nesterov=kind == "nesterov", **how,
            )  # fmt: skip

    step = torch.full((), float(number), device=DEVICE)

    def stepped(t: Inputs) -> Results:
        values, masters = arrays(t, "value"), arrays(t, "master")
        gradients = torch._foreach_mul([each.float() for each in arrays(t, "gradient")], t["scale"].view(()))
        if kind == "lion":
            lion(masters or values, gradients, arrays(t, "first"), case)
        else:
            (listed if torch.compiler.is_compiling() else fused)(t, masters or values, gradients)
        if masters:
            torch._foreach_copy_(values, masters)
        return {name: t[name] for name in case.outputs}

    return stepped


@operation()
def grad_norm(case: Case) -> Function:
    limit = case.scalars["limit"]

    def clipped(t: Inputs) -> Results:
        norms = torch._foreach_norm(arrays(t, "gradient"), 2, torch.float32)
        norm, scale = torch.linalg.vector_norm(torch.stack(norms)), torch.ones((), device=DEVICE)
        if "unscale" in t:
            scale = t["unscale"].view(())
            norm = norm * scale.abs()
        scale = scale * (limit / (norm + 1e-6)).clamp(max=1.0)
        return {"norm": norm, "scale": scale, "found_inf": norm.isfinite().logical_not()}

    return clipped
