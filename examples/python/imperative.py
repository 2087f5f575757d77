"""A workflow put together by calls instead of a function body."""

from flytekit import Workflow, task


@task
def greet(name: str) -> str:
    return f"hello {name}"


@task
def shout(text: str) -> str:
    return text.upper()


greeting = Workflow(name="python.imperative.greeting")
greeting.add_workflow_input("name", str)
first = greeting.add_entity(greet, name=greeting.inputs["name"])
second = greeting.add_entity(shout, text=first.outputs["o0"])
greeting.add_workflow_output("text", second.outputs["o0"])
