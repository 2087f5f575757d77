"""A task that goes on where its last attempt stopped."""

from flytekit import current_context, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException


@task(retries=2)
def count(steps: int) -> int:
    """Loses its machine after every second step."""
    checkpoint = current_context().checkpoint
    saved = checkpoint.read()
    done = int(saved.decode()) if saved else 0
    for step in range(done, steps):
        checkpoint.write(str(step + 1).encode())
        if step + 1 < steps and (step + 1) % 2 == 0:
            raise FlyteRecoverableException(f"interrupted after step {step + 1}")
    return done


@workflow
def counted(steps: int = 5) -> int:
    """The last attempt began where the one before had stopped."""
    return count(steps=steps)
