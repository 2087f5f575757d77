"""Types beyond numbers and text."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Dict, List, Optional, Union

from flytekit import task, workflow


class Colour(Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Point:
    x: int
    y: int


@dataclass
class Shape:
    name: str
    colour: Colour
    points: List[Point] = field(default_factory=list)


class Opaque:
    """No type that flytekit knows: it travels pickled."""

    def __init__(self, secret: int):
        self.secret = secret


@task
def draw(colour: Colour) -> Shape:
    return Shape(name="line", colour=colour, points=[Point(x=1, y=2), Point(x=3, y=4)])


@task
def add(x: int, y: int) -> int:
    return x + y


@task
def describe(value: Union[int, str, List[int]]) -> str:
    return type(value).__name__


@task
def maybe(value: Optional[int] = None) -> bool:
    return value is None


@task
def hide(secret: int) -> Opaque:
    return Opaque(secret)


@task
def reveal(box: Opaque) -> int:
    return box.secret


@task
def later(start: datetime, by: timedelta, table: Dict[str, List[int]]) -> str:
    return f"{(start + by).isoformat()} {sorted(table)}"


@workflow
def point_sum(colour: Colour = Colour.GREEN) -> int:
    """Fields of a dataclass are bound one by one."""
    shape = draw(colour=colour)
    return add(x=shape.points[0].x, y=shape.points[1].y)


@workflow
def unions(text: str = "a", numbers: List[int] = [1]) -> (str, str, bool):
    return describe(value=text), describe(value=numbers), maybe()


@workflow
def pickled(secret: int = 42) -> int:
    return reveal(box=hide(secret=secret))


@workflow
def times(
    start: datetime = datetime(2026, 1, 1),
    by: timedelta = timedelta(days=1),
    table: Dict[str, List[int]] = {"b": [1], "a": []},
) -> str:
    return later(start=start, by=by, table=table)
