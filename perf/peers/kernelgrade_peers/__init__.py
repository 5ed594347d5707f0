# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernelgrade's models in PyTorch: the same weights, the same inputs."""
