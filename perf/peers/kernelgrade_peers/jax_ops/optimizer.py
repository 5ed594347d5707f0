# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers over all parameters of a model, and what clips its gradients."""

import jax
import jax.numpy as jnp

from kernelgrade_peers.case import Case
from kernelgrade_peers.jax_ops.operation import Function, Inputs, Results, operation, wide


def numbers(t: Inputs, name: str) -> list[str]:
    """What stands behind the names gradient0, gradient1 and so on."""
    return [each.removeprefix(name) for each in t if each.startswith(name)]


@operation()
def optimizer(case: Case) -> Function:
    """As Optax writes its steps: element by element, for a compiler to fuse."""
    kind, scalars, number = case.shape.split("_")[0], case.scalars, case.number("t", 1)
    rate, decay, beta1, beta2 = (scalars.get(name, 0.0) for name in ("rate", "decay", "beta1", "beta2"))

    def step(p: jax.Array, g: jax.Array, m: jax.Array | None, v: jax.Array | None) -> tuple[jax.Array | None, ...]:
        if kind == "lion":
            sign = jnp.sign(beta1 * m + (1 - beta1) * g)
            return (1 - rate * decay) * p - rate * sign, beta2 * m + (1 - beta2) * g, None
        if kind != "adamw":
            g = g + decay * p
        if v is not None:
            m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
            deviation = jnp.sqrt(v / (1 - beta2**number)) + scalars["epsilon"]
            kept = (1 - rate * decay) * p if kind == "adamw" else p
            return kept - rate * (m / (1 - beta1**number)) / deviation, m, v
        if m is None:
            return p - rate * g, None, None
        m = beta1 * m + g
        return p - rate * (g + beta1 * m if kind == "nesterov" else m), m, None

    def stepped(t: Inputs) -> Results:
        results: dict[str, jax.Array] = {}
        for each in numbers(t, "gradient"):
            state = {"p": "master" if f"master{each}" in t else "value", "m": "first", "v": "second"}
            old = {part: t.get(f"{name}{each}") for part, name in state.items()}
            new = step(old["p"], t["scale"][0] * wide(t[f"gradient{each}"]), old["m"], old["v"])
            for (part, name), array in zip(state.items(), new, strict=True):
                if array is not None:
                    results[f"{name}{each}"] = jnp.where(t["found_inf"][0] != 0, old[part], array)
            if f"master{each}" in t:
                results[f"value{each}"] = results[f"master{each}"].astype(t[f"value{each}"].dtype)
        return results

    return stepped


@operation()
def grad_norm(case: Case) -> Function:
    def clipped(t: Inputs) -> Results:
        squares = [jnp.square(wide(t[f"gradient{each}"])).sum() for each in numbers(t, "gradient")]
        scale = t["unscale"] if "unscale" in t else jnp.ones(1)
        norm = jnp.sqrt(jnp.stack(squares).sum()) * jnp.abs(scale)
        factor = jnp.minimum(1.0, case.scalars["limit"] / (norm + 1e-6))
        return {"norm": norm, "scale": scale * factor, "found_inf": ~jnp.isfinite(norm)}

    return clipped
