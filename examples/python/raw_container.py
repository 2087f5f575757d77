"""Containers without flytekit: inputs come as files, outputs are read from files."""

import json

from flytekit import ContainerTask, kwtypes, task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile

ellipse = ContainerTask(
    name="python.raw_container.ellipse",
    image="alpine:3.22",
    input_data_dir="/var/inputs",
    output_data_dir="/var/outputs",
    inputs=kwtypes(a=int, b=int),
    outputs=kwtypes(area=float, metadata=str),
    command=[
        "sh",
        "-c",
        "awk -v a={{.inputs.a}} -v b=$(cat /var/inputs/b) 'BEGIN { print atan2(0, -1) * a * b }' > /var/outputs/area;"
        " echo 'from shell' > /var/outputs/metadata",
    ],
)

count = ContainerTask(
    name="python.raw_container.count",
    image="alpine:3.22",
    input_data_dir="/var/inputs",
    output_data_dir="/var/outputs",
    inputs=kwtypes(text=FlyteFile, words=list[str]),
    outputs=kwtypes(lines=int, parts=FlyteDirectory, seen=bool, report=FlyteFile),
    command=[
        "sh",
        "-ec",
        """
        grep -c '' /var/inputs/text > /var/outputs/lines
        mkdir -p /var/outputs/parts/by-word
        for word in /var/inputs/words/*; do grep "$(cat $word)" /var/inputs/text > /var/outputs/parts/by-word/$(cat $word).txt; done
        echo true > /var/outputs/seen
        cp /var/inputs/inputs.json /var/outputs/report.json
        """,
    ],
)

made = ContainerTask(
    name="python.raw_container.made",
    image="alpine:3.22",
    output_data_dir="/var/outputs",
    outputs=kwtypes(value=int),
    command=["sh", "-c", "echo 5 > /var/outputs/value"],
)

refuses = ContainerTask(
    name="python.raw_container.refuses",
    image="alpine:3.22",
    output_data_dir="/var/outputs",
    outputs=kwtypes(value=int),
    command=["sh", "-c", "echo 'no value today' > /var/outputs/_ERROR"],
)

breaks = ContainerTask(
    name="python.raw_container.breaks",
    image="alpine:3.22",
    output_data_dir="/var/outputs",
    outputs=kwtypes(value=int),
    command=["sh", "-c", "echo 'out of paper' >&2; exit 3"],
)


@task
def write(text: str) -> FlyteFile:
    with open("text.txt", "w") as out:
        out.write(text)
    return FlyteFile("text.txt")


@task
def summary(lines: int, parts: FlyteDirectory, seen: bool, report: FlyteFile) -> str:
    with open(f"{parts.download()}/by-word/b.txt") as part, open(report) as inputs:
        return f"{lines} {part.read().strip()} {seen} {sorted(json.load(inputs))}"


@workflow
def area(a: int = 2, b: int = 3) -> tuple[float, str]:
    return ellipse(a=a, b=b)


@workflow
def counted(text: str = "a\nb b\nc\n") -> str:
    lines, parts, seen, report = count(text=write(text=text), words=["a", "b"])
    return summary(lines=lines, parts=parts, seen=seen, report=report)


@workflow
def from_nothing() -> int:
    return made()


@workflow
def refused() -> int:
    return refuses()


@workflow
def broken() -> int:
    return breaks()
