"""Python's half of the tests that mix languages."""
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Dict, List, Optional, Union

from flytekit import task, workflow


class Method(Enum):
    MINMAX = "minmax"
    ZSCORE = "zscore"


@dataclass
class Config:
    epochs: int = 3
    rate: float = 0.1
    layers: List[int] = field(default_factory=list)


@task
def normalise(values: List[float], method: Method) -> List[float]:
    """Scales values."""
    most = max(values)
    return [value / most for value in values]


@task
def describe(config: Config, at: Optional[datetime], extra: Dict[str, Union[int, str]]) -> str:
    names = ",".join(sorted(extra))
    return f"{config.epochs * config.rate:g} {len(config.layers)} {at is None} {names}"


@task
def nothing() -> object:
    return object()


@workflow
def train(config: Config = Config(), n: int = 3) -> str:
    return describe(config=config, at=None, extra={"a": 1, "b": "x"})
