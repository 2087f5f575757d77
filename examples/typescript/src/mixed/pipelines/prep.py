"""Entities of Python that references.ts calls."""

from enum import Enum
from statistics import mean, pstdev

from flytekit import task, workflow


class Method(Enum):
    MINMAX = "minmax"
    ZSCORE = "zscore"


@task
def normalise(values: list[float], method: Method) -> list[float]:
    if method is Method.MINMAX:
        least, most = min(values), max(values)
        return [(value - least) / (most - least) for value in values]
    centre, deviation = mean(values), pstdev(values)
    return [(value - centre) / deviation for value in values]


@task
def largest(values: list[float]) -> float:
    return max(values)


@workflow
def peak(values: list[float], method: Method = Method.ZSCORE) -> float:
    return largest(values=normalise(values=values, method=method))
