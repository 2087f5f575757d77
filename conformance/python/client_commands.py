"""What the tests of client commands register: workflows that succeed, fail and wait, and one that is scheduled."""

from datetime import datetime, timedelta

from flytekit import CronSchedule, LaunchPlan, task, wait_for_input, workflow


@task
def double(x: int) -> int:
    return 2 * x


@task
def fail_at(x: int) -> int:
    if x > 1:
        raise ValueError(f"{x} is too many")
    return x


@task
def hour_of(at: datetime) -> int:
    return at.hour


@workflow
def twice(x: int = 3) -> int:
    return double(x=double(x=x))


@workflow
def fails(x: int = 1) -> int:
    return fail_at(x=double(x=x))


@workflow
def waits() -> int:
    return double(x=wait_for_input("number", timeout=timedelta(hours=1), expected_type=int))


@workflow
def daily(at: datetime) -> int:
    return hour_of(at=at)


daily_plan = LaunchPlan.get_or_create(
    daily,
    name="daily_plan",
    schedule=CronSchedule(schedule="0 4 * * *", kickoff_time_input_arg="at"),
)


@task(cache=True, cache_version="1")
def triple(x: int) -> int:
    return 3 * x


@workflow
def cached(x: int = 3) -> int:
    return triple(x=x)
