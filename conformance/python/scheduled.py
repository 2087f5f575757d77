"""Launch plans with schedules, for `pyflyte register --activate-launchplans`."""

from datetime import datetime, timedelta

from flytekit import Annotations, CronSchedule, FixedRate, LaunchPlan, task, workflow


@task
def tell(kickoff: datetime, greeting: str) -> str:
    return f"{greeting} {kickoff.isoformat()}"


@workflow
def scheduled(kickoff: datetime, greeting: str = "hello") -> str:
    return tell(kickoff=kickoff, greeting=greeting)


by_cron = LaunchPlan.get_or_create(
    workflow=scheduled,
    name="scheduled.by_cron",
    schedule=CronSchedule(schedule="* * * * *", kickoff_time_input_arg="kickoff"),
    annotations=Annotations({"flyte-ts.org/schedule-catch-up": "all"}),
)
by_rate = LaunchPlan.get_or_create(
    workflow=scheduled,
    name="scheduled.by_rate",
    schedule=FixedRate(duration=timedelta(minutes=1), kickoff_time_input_arg="kickoff"),
    fixed_inputs={"greeting": "good day"},
)
