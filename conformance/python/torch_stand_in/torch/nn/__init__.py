class Module:
    """Type of models; flytekit registers a transformer for it."""
