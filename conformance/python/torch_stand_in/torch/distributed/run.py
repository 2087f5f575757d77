def parse_min_max_nnodes(nnodes: str) -> tuple[int, int]:
    """Reads `MIN:MAX`, or one number for both."""
    bounds = [int(part) for part in nnodes.split(":")]
    return bounds[0], bounds[-1]
