"""Stands in for PyTorch where tasks are only serialised: the names that flytekit and its plugin import."""

from torch import distributed, nn, optim


class Tensor:
    """Type of arrays; flytekit registers a transformer for it."""
