# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The models as a user of JAX would write them: functions of the weights, by the names that files have."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn

from kernelgrade_peers.case import Case

Weights = dict[str, jax.Array]
Inputs = dict[str, jax.Array]
Model = Callable[[Weights, Inputs], jax.Array]
State = tuple[jax.Array, jax.Array]  # an optimiser's state of a parameter
Loss = Callable[[jax.Array, Inputs], jax.Array]
Computed = Callable[[Weights, Inputs], Any]
Finish = Callable[[Any, Inputs], jax.Array]
Optimiser = Callable[[jax.Array, jax.Array, jax.Array, State], tuple[jax.Array, State]]


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
    return y + w[f"{name}.bias"][:, None, None] if f"{name}.bias" in w else y


def max_pool(x: jax.Array, kernel: int, stride: int, pad: int = 0) -> jax.Array:
    pads = [(0, 0), (0, 0), (pad, pad), (pad, pad)]
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, kernel, kernel), (1, 1, stride, stride), pads)


def images(t: Inputs) -> jax.Array:
    size = int((t["x"].shape[1] / 3) ** 0.5)
    return t["x"].reshape(-1, 3, size, size)


def normed(w: Weights, name: str, x: jax.Array, stride: int = 1, pad: int = 0) -> jax.Array:
    """A convolution and the batchnorm behind it, by the batch; one that was folded into it is its bias."""
    y = convolution(w, name, x, stride, pad)
    norm = name.replace("conv", "bn").replace("downsample.0", "downsample.1")
    if f"{norm}.weight" not in w:
        return y
    centred = y - y.mean(axis=(0, 2, 3), keepdims=True)
    deviation = jnp.sqrt(jnp.square(centred).mean(axis=(0, 2, 3), keepdims=True) + 1e-5)
    return centred / deviation * w[f"{norm}.weight"][:, None, None] + w[f"{norm}.bias"][:, None, None]


def resnet(w: Weights, t: Inputs) -> jax.Array:
    """He et al., arXiv 1512.03385, with torchvision's names."""

    def block(name: str, x: jax.Array, stride: int) -> jax.Array:
        shortcut = normed(w, f"{name}.downsample.0", x, stride) if f"{name}.downsample.0.weight" in w else x
        if f"{name}.conv3.weight" in w:  # 1 x 1, 3 x 3, 1 x 1
            y = nn.relu(normed(w, f"{name}.conv1", x))
            y = nn.relu(normed(w, f"{name}.conv2", y, stride, 1))
            return nn.relu(normed(w, f"{name}.conv3", y) + shortcut)
        y = nn.relu(normed(w, f"{name}.conv1", x, stride, 1))
        return nn.relu(normed(w, f"{name}.conv2", y, 1, 1) + shortcut)

    x = max_pool(nn.relu(normed(w, "conv1", images(t), 2, 3)), 3, 2, 1)
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


def llama(config: dict[str, Any]) -> Model:
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


def gpt2(config: dict[str, Any]) -> Model:
    """Radford et al., 2019; its matrices lie by inputs."""
    epsilon, heads = config["layer_norm_epsilon"], config["n_head"]

    def dense(w: Weights, name: str, x: jax.Array) -> jax.Array:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def layer_norm(w: Weights, name: str, x: jax.Array) -> jax.Array:
        return nn.standardize(x, epsilon=epsilon) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def attention(w: Weights, name: str, x: jax.Array) -> jax.Array:
        batch, tokens, width = x.shape
        qkv = dense(w, f"{name}.c_attn", x).reshape(batch, tokens, 3, heads, -1)
        y = nn.dot_product_attention(*jnp.moveaxis(qkv, 2, 0), is_causal=True)
        return dense(w, f"{name}.c_proj", y.reshape(batch, tokens, width))

    def model(w: Weights, t: Inputs) -> jax.Array:
        words, tokens = w["transformer.wte.weight"], t["tokens"]
        x = words[tokens] + w["transformer.wpe.weight"][: tokens.shape[1]]
        for layer in range(config["n_layer"]):
            name = f"transformer.h.{layer}"
            x = x + attention(w, f"{name}.attn", layer_norm(w, f"{name}.ln_1", x))
            inner = nn.gelu(dense(w, f"{name}.mlp.c_fc", layer_norm(w, f"{name}.ln_2", x)), approximate=True)
            x = x + dense(w, f"{name}.mlp.c_proj", inner)
        return (layer_norm(w, "transformer.ln_f", x) @ words.T).reshape(-1, len(words))

    return model


def mean_square_error(output: jax.Array, t: Inputs) -> jax.Array:
    return jnp.square(output - t["target"]).mean()


def cross_entropy(output: jax.Array, t: Inputs) -> jax.Array:
    right = jnp.take_along_axis(output, t["targets"].reshape(-1, 1), axis=-1)[:, 0]
    return (nn.logsumexp(output, axis=-1) - right).mean()


def adamw(rate: float, number: jax.Array, w: jax.Array, g: jax.Array, state: State) -> tuple[jax.Array, State]:
    """Loshchilov and Hutter, arXiv 1711.05101."""
    first, second, epsilon, decay = 0.9, 0.999, 1e-8, 0.01
    m, v = first * state[0] + (1 - first) * g, second * state[1] + (1 - second) * g * g
    deviation = jnp.sqrt(v / (1 - second**number)) + epsilon
    return w - rate * (m / (1 - first**number) / deviation + decay * w), (m, v)


def momentum(rate: float, _: jax.Array, w: jax.Array, g: jax.Array, state: State) -> tuple[jax.Array, State]:
    """Sutskever et al., ICML 2013, as PyTorch and torchvision's recipes have it."""
    velocity = 0.9 * state[0] + g + 1e-4 * w
    return w - rate * velocity, (velocity, state[1])


def make(case: Case) -> tuple[Model, Loss, Optimiser]:
    name = case.shape.split("_")[0]
    if name == "mlp":
        return mlp, mean_square_error, partial(adamw, 1e-3)
    if name == "transformer":
        config = json.loads(case.input_bytes("config"))
        return (gpt2 if config["model_type"] == "gpt2" else llama)(config), cross_entropy, partial(adamw, 1e-3)
    return alexnet if name == "alexnet" else resnet, cross_entropy, partial(momentum, 0.1 * case.number("batch") / 256)


def training(model: Model, loss_of: Loss, optimiser: Optimiser, steps: int) -> tuple[Computed, Finish]:
    """So many steps: the losses before each, and weights and the optimiser's state, without which a compiler
    would leave out the last step's gradients. The loss of these weights is added behind the work."""

    def trained(w: Weights, t: Inputs) -> Any:
        gradient = jax.value_and_grad(lambda weights: loss_of(model(weights, t), t))

        def step(carried: tuple[Weights, dict[str, State]], number: jax.Array) -> tuple[Any, jax.Array]:
            weights, states = carried
            loss, g = gradient(weights)
            after = {name: optimiser(number, weights[name], g[name], states[name]) for name in weights}
            return tuple({name: each[part] for name, each in after.items()} for part in (0, 1)), loss

        zeros = {name: (jnp.zeros_like(each),) * 2 for name, each in w.items()}
        return lax.scan(step, (w, zeros), jnp.arange(1, steps + 1, dtype=jnp.float32))

    def losses(result: Any, t: Inputs) -> jax.Array:
        (weights, _), before = result
        return jnp.append(before, loss_of(model(weights, t), t))

    return trained, losses


def prepared(case: Case) -> tuple[Computed, Finish]:
    """What computes the case from its weights and inputs, and what makes its output of that."""
    model, loss_of, optimiser = make(case)
    if "training" in case.words():
        return training(model, loss_of, optimiser, case.number("steps", 1))
    return model, lambda output, _: output
