# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The models as a user of JAX would write them: functions of the weights, by the names that files have."""

import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn

from kernelgrade_peers.case import Case

Weights = dict[str, jax.Array]
Inputs = dict[str, jax.Array]
Model = Callable[[Weights, Inputs], jax.Array]
Loss = Callable[[jax.Array, Inputs], jax.Array]


def linear(w: Weights, name: str, x: jax.Array) -> jax.Array:
    y = x @ w[f"{name}.weight"].T
    return y + w[f"{name}.bias"] if f"{name}.bias" in w else y


def mlp(w: Weights, t: Inputs) -> jax.Array:
    x = t["x"]
    for layer in range(sum(name.endswith(".weight") for name in w)):
        x = nn.gelu(linear(w, f"layers.{layer}", x), approximate=False)
    return x


def convolution(w: Weights, name: str, x: jax.Array, stride: int = 1, pad: int = 0) -> jax.Array:
    y = lax.conv_general_dilated(x, w[f"{name}.weight"], (stride, stride), [(pad, pad)] * 2)  # NCHW, OIHW
    return y + w[f"{name}.bias"][:, None, None]


def max_pool(x: jax.Array, kernel: int, stride: int, pad: int = 0) -> jax.Array:
    pads = [(0, 0), (0, 0), (pad, pad), (pad, pad)]
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, kernel, kernel), (1, 1, stride, stride), pads)


def images(t: Inputs) -> jax.Array:
    size = int((t["x"].shape[1] / 3) ** 0.5)
    return t["x"].reshape(-1, 3, size, size)


def resnet(w: Weights, t: Inputs) -> jax.Array:
    """He et al., arXiv 1512.03385, with torchvision's names; each batchnorm is in its convolution."""

    def block(name: str, x: jax.Array, stride: int) -> jax.Array:
        shortcut = convolution(w, f"{name}.downsample.0", x, stride) if f"{name}.downsample.0.weight" in w else x
        if f"{name}.conv3.weight" in w:  # 1 x 1, 3 x 3, 1 x 1
            y = nn.relu(convolution(w, f"{name}.conv1", x))
            y = nn.relu(convolution(w, f"{name}.conv2", y, stride, 1))
            return nn.relu(convolution(w, f"{name}.conv3", y) + shortcut)
        y = nn.relu(convolution(w, f"{name}.conv1", x, stride, 1))
        return nn.relu(convolution(w, f"{name}.conv2", y, 1, 1) + shortcut)

    x = max_pool(nn.relu(convolution(w, "conv1", images(t), 2, 3)), 3, 2, 1)
    for stage in range(1, 5):
        blocks = {name.split(".")[1] for name in w if name.startswith(f"layer{stage}.")}
        for index in range(len(blocks)):
            x = block(f"layer{stage}.{index}", x, 2 if stage > 1 and index == 0 else 1)
    return linear(w, "fc", x.mean(axis=(2, 3)))


def alexnet(w: Weights, t: Inputs) -> jax.Array:
    """Krizhevsky, arXiv 1404.5997, for images of 224 x 224."""
    x = max_pool(nn.relu(convolution(w, "features.0", images(t), 4, 2)), 3, 2)
    x = max_pool(nn.relu(convolution(w, "features.3", x, 1, 2)), 3, 2)
    x = nn.relu(convolution(w, "features.6", x, 1, 1))
    x = nn.relu(convolution(w, "features.8", x, 1, 1))
    x = max_pool(nn.relu(convolution(w, "features.10", x, 1, 1)), 3, 2)
    x = x.reshape(x.shape[0], -1)
    x = nn.relu(linear(w, "classifier.1", x))
    return linear(w, "classifier.6", nn.relu(linear(w, "classifier.4", x)))


def rms_norm(x: jax.Array, weight: jax.Array, epsilon: float) -> jax.Array:
    return x * lax.rsqrt(jnp.square(x).mean(axis=-1, keepdims=True) + epsilon) * weight


def rotated(x: jax.Array, theta: float) -> jax.Array:
    """Su et al., arXiv 2104.09864; the pairs are a head's first and second half. x: batch, tokens, heads, dim."""
    half = x.shape[-1] // 2
    frequencies = theta ** (-jnp.arange(half) / half)
    angles = jnp.arange(x.shape[1])[:, None, None] * frequencies
    a, b = x[..., :half], x[..., half:]
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def transformer(config: dict[str, Any]) -> Model:
    """Touvron et al., arXiv 2302.13971, with grouped heads, arXiv 2305.13245."""
    epsilon, theta, heads = config["rms_norm_eps"], config["rope_theta"], config["num_attention_heads"]

    def attention(w: Weights, name: str, x: jax.Array) -> jax.Array:
        batch, tokens, _ = x.shape
        q, k, v = (linear(w, f"{name}.{part}_proj", x) for part in "qkv")
        dim = q.shape[-1] // heads
        q, k, v = (each.reshape(batch, tokens, -1, dim) for each in (q, k, v))
        y = nn.dot_product_attention(rotated(q, theta), rotated(k, theta), v, is_causal=True)
        return linear(w, f"{name}.o_proj", y.reshape(batch, tokens, -1))

    def model(w: Weights, t: Inputs) -> jax.Array:
        x = w["model.embed_tokens.weight"][t["tokens"]]
        for layer in range(config["num_hidden_layers"]):
            name = f"model.layers.{layer}"
            x = x + attention(w, f"{name}.self_attn", rms_norm(x, w[f"{name}.input_layernorm.weight"], epsilon))
            y = rms_norm(x, w[f"{name}.post_attention_layernorm.weight"], epsilon)
            gated = nn.silu(linear(w, f"{name}.mlp.gate_proj", y)) * linear(w, f"{name}.mlp.up_proj", y)
            x = x + linear(w, f"{name}.mlp.down_proj", gated)
        head = "model.embed_tokens" if config["tie_word_embeddings"] else "lm_head"
        logits = rms_norm(x, w["model.norm.weight"], epsilon) @ w[f"{head}.weight"].T
        return logits.reshape(-1, logits.shape[-1])

    return model


def mean_square_error(output: jax.Array, t: Inputs) -> jax.Array:
    return jnp.square(output - t["target"]).mean()


def cross_entropy(output: jax.Array, t: Inputs) -> jax.Array:
    right = jnp.take_along_axis(output, t["targets"].reshape(-1, 1), axis=-1)[:, 0]
    return (nn.logsumexp(output, axis=-1) - right).mean()


def make(case: Case) -> tuple[Model, Loss]:
    name = case.shape.split("_")[0]
    if name == "transformer":
        return transformer(json.loads(case.input_bytes("config"))), cross_entropy
    return resnet if name.startswith("resnet") else {"mlp": mlp, "alexnet": alexnet}[name], mean_square_error


def training(model: Model, loss_of: Loss, steps: int) -> Model:
    """The losses of so many steps of AdamW (Loshchilov and Hutter, arXiv 1711.05101)."""
    rate, first, second, epsilon, decay = 1e-3, 0.9, 0.999, 1e-8, 0.01

    def losses(w: Weights, t: Inputs) -> jax.Array:
        gradient = jax.value_and_grad(lambda weights: loss_of(model(weights, t), t))

        def step(state: tuple[Weights, Weights, Weights], number: jax.Array) -> tuple[Any, jax.Array]:
            weights, m, v = state
            loss, g = gradient(weights)
            m = jax.tree.map(lambda m, g: first * m + (1 - first) * g, m, g)
            v = jax.tree.map(lambda v, g: second * v + (1 - second) * g * g, v, g)

            def updated(w: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
                deviation = jnp.sqrt(v / (1 - second**number)) + epsilon
                return w - rate * (m / (1 - first**number) / deviation + decay * w)

            return (jax.tree.map(updated, weights, m, v), m, v), loss

        zeros = jax.tree.map(jnp.zeros_like, w)
        return lax.scan(step, (w, zeros, zeros), jnp.arange(1, steps + 1, dtype=jnp.float32))[1]

    return losses


def prepared(case: Case) -> Model:
    """What computes the case's output from its weights and inputs."""
    model, loss_of = make(case)
    return training(model, loss_of, case.number("steps", 1)) if "training" in case.words() else model
