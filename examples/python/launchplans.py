"""Launch plans with default and fixed inputs, as nodes of other workflows, and entities by reference."""

from flytekit import LaunchPlan, reference_launch_plan, reference_task, task, workflow


@task
def power(base: int, exponent: int) -> int:
    return base**exponent


@workflow
def raise_to(base: int, exponent: int = 2) -> int:
    return power(base=base, exponent=exponent)


cube = LaunchPlan.get_or_create(raise_to, "python.launchplans.cube", fixed_inputs={"exponent": 3})
square = LaunchPlan.get_or_create(raise_to, "python.launchplans.square", default_inputs={"base": 4})


@workflow
def child_executions(base: int = 2) -> int:
    """Each launch plan is an execution of its own."""
    return power(base=cube(base=base), exponent=square(base=1))


@task
def refuse(base: int) -> int:
    if base > 0:
        raise ValueError(f"{base} is not welcome")
    return base


@workflow
def refuses(base: int) -> int:
    return refuse(base=base)


broken_plan = LaunchPlan.get_or_create(refuses, "python.launchplans.broken")


@workflow
def failing_child(base: int = 2) -> int:
    return broken_plan(base=base)


@reference_task(project="flytesnacks", domain="development", name="python.launchplans.power", version="v1")
def registered_power(base: int, exponent: int) -> int:
    """Known by its name alone."""
    ...


@reference_launch_plan(project="flytesnacks", domain="development", name="python.launchplans.cube", version="v1")
def registered_cube(base: int) -> int:
    """Known by its name alone."""
    ...


@workflow
def by_reference(base: int = 2) -> int:
    return registered_power(base=registered_cube(base=base), exponent=2)
