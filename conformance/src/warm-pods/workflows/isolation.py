"""Tasks that run a text of Python, and tell what another one observes in the same process."""

import json
import os

from flytekit import Resources, task, workflow

SIZE = {"requests": Resources(cpu="100m", mem="600Mi"), "limits": Resources(cpu="2", mem="600Mi")}


def act(attack: str, look: str) -> str:
    names: dict = {}
    exec(attack, names)
    return json.dumps({"pod": os.uname().nodename, "seen": repr(eval(look, names))})


@task(environment={"FLYTE_TS_WARM_PODS": "prewarmed"}, **SIZE)
def in_prewarmed(attack: str, look: str) -> str:
    return act(attack, look)


@task(environment={"FLYTE_TS_WARM_PODS": "reused"}, **SIZE)
def in_reused(attack: str, look: str) -> str:
    return act(attack, look)


@workflow
def prewarmed(attack: str, look: str) -> str:
    return in_prewarmed(attack=attack, look=look)


@workflow
def reused(attack: str, look: str) -> str:
    return in_reused(attack=attack, look=look)
