"""A page that a task shows beside its outputs."""

from flytekit import Deck, task, workflow


@task(enable_deck=True)
def show(name: str) -> str:
    Deck("greeting", f"<h1>Hello {name}</h1>")
    return name


@workflow
def shown(name: str = "Flyte") -> str:
    return show(name=name)
