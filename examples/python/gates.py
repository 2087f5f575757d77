"""Workflows that wait for a time, for a value, or for an approval."""

import datetime

from flytekit import approve, sleep, task, wait_for_input, workflow


@task
def draft() -> str:
    return "a draft"


@task
def publish(text: str, title: str) -> str:
    return f"{title}: {text}"


@workflow
def review() -> str:
    title = wait_for_input("title", timeout=datetime.timedelta(minutes=10), expected_type=str)
    text = approve(draft(), "consent", timeout=datetime.timedelta(minutes=10))
    return publish(text=text, title=title)


@workflow
def pause() -> str:
    before = draft()
    rest = sleep(datetime.timedelta(seconds=1))
    after = publish(text=before, title="rested")
    rest >> after
    return after


@workflow
def nobody_answers() -> str:
    return publish(text="x", title=wait_for_input("never", timeout=datetime.timedelta(seconds=2), expected_type=str))
