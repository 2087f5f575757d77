"""A task that is a shell script."""

from flytekit import kwtypes, task, workflow
from flytekit.extras.tasks.shell import OutputLocation, ShellTask
from flytekit.types.file import FlyteFile

count_words = ShellTask(
    name="python.shell.count_words",
    script="""
    set -e
    wc -w < {inputs.text} | tr -d ' \\n' > {outputs.count}
    """,
    inputs=kwtypes(text=FlyteFile),
    output_locs=[OutputLocation(var="count", var_type=FlyteFile, location="count.txt")],
)


@task
def write(text: str) -> FlyteFile:
    with open("words.txt", "w") as out:
        out.write(text)
    return FlyteFile("words.txt")


@task
def read(file: FlyteFile) -> int:
    with open(file) as text:
        return int(text.read())


@workflow
def words(text: str = "one two three") -> int:
    return read(file=count_words(text=write(text=text)))
