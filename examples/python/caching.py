"""Results that are computed once."""

import time

from flytekit import Cache, task, workflow
from flytekit.core.hash import HashMethod
from typing_extensions import Annotated


@task(cache=True, cache_version="1")
def stamp(name: str) -> float:
    """The same answer as the first time, for the same name."""
    return time.time()


@task(cache=True, cache_version="1", cache_serialize=True)
def stamp_one_at_a_time(name: str) -> float:
    """Of callers at the same time one computes, and the others wait for its result."""
    time.sleep(2)
    return time.time()


@task(cache=Cache(version="1", ignored_inputs=("comment",)))
def stamp_ignoring(name: str, comment: str) -> float:
    return time.time()


def first_letter(text: str) -> str:
    return text[:1]


@task
def word(text: str) -> Annotated[str, HashMethod(first_letter)]:
    """Two words with the same first letter count as the same input."""
    return text


@task(cache=True, cache_version="1")
def stamp_word(text: str) -> float:
    return time.time()


@workflow
def stamped(name: str) -> float:
    return stamp(name=name)


@workflow
def serialized(name: str) -> float:
    return stamp_one_at_a_time(name=name)


@workflow
def ignoring(name: str, comment: str) -> float:
    return stamp_ignoring(name=name, comment=comment)


@workflow
def by_hash(text: str) -> float:
    return stamp_word(text=word(text=text))
