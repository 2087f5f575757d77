"""Chains of tasks that write a journal of their starts and ends."""

import os
import time
import urllib.request

from flytekit import Resources, map_task, task, workflow

SIZE = {"requests": Resources(cpu="50m", mem="250Mi"), "limits": Resources(cpu="2", mem="500Mi")}


def write(url: str, what: str, place: str) -> None:
    """Retries until the journal has the line: it must know each start."""
    names = ("FLYTE_INTERNAL_EXECUTION_ID", "FLYTE_ATTEMPT_NUMBER")
    line = "/".join([what, *(os.environ[name] for name in names), place])
    urllib.request.urlopen(f"{url}/{line}", timeout=10).read()


def work(url: str, place: str, seconds: float) -> str:
    write(url, "start", place)
    time.sleep(seconds)
    write(url, "end", place)
    return url


@task(environment={"FLYTE_TS_WARM_PODS": "prewarmed"}, **SIZE)
def prewarmed_step(url: str, place: str, seconds: float) -> str:
    return work(url, place, seconds)


@task(environment={"FLYTE_TS_WARM_PODS": "reused"}, **SIZE)
def reused_step(url: str, place: str, seconds: float) -> str:
    return work(url, place, seconds)


@workflow
def prewarmed(url: str, seconds: float) -> str:
    first = prewarmed_step(url=url, place="a", seconds=seconds)
    second = prewarmed_step(url=first, place="b", seconds=seconds)
    return prewarmed_step(url=second, place="c", seconds=seconds)


@workflow
def reused(url: str, seconds: float) -> str:
    first = reused_step(url=url, place="a", seconds=seconds)
    second = reused_step(url=first, place="b", seconds=seconds)
    return reused_step(url=second, place="c", seconds=seconds)


@task(environment={"FLYTE_TS_WARM_PODS": "reused"}, **SIZE)
def item(text: str) -> str:
    for part in range(3):
        print(f"item {text} part {part}", flush=True)
        time.sleep(0.2)
    return text


@workflow
def items(texts: list[str]) -> list[str]:
    return map_task(item, concurrency=2)(text=texts)
