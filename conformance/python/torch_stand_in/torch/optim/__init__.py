class Optimizer:
    """Type of a field of flytekit's checkpoints."""
