"""A condition decides which way a workflow takes."""

from flytekit import conditional, task, workflow


@task
def half(n: int) -> int:
    return n // 2


@task
def triple_plus_one(n: int) -> int:
    return 3 * n + 1


@task
def is_even(n: int) -> bool:
    return n % 2 == 0


@workflow
def collatz_step(n: int) -> int:
    """One step of the Collatz sequence."""
    even = is_even(n=n)
    return (
        conditional("parity")
        .if_(even.is_true())
        .then(half(n=n))
        .else_()
        .then(triple_plus_one(n=n))
    )


@workflow
def sized(n: int) -> int:
    """Numbers in range take an arm; others fail with a message."""
    return (
        conditional("size")
        .if_((n > 0) & (n < 10))
        .then(half(n=n))
        .elif_(n < 100)
        .then(triple_plus_one(n=n))
        .else_()
        .fail("n is too large")
    )


@workflow
def nested(n: int, strict: bool) -> int:
    """A condition inside an arm, with both `and` and `or`."""
    return (
        conditional("outer")
        .if_(((n > 0) & (n < 10)) | (n == 100))
        .then(
            conditional("inner")
            .if_(strict.is_true())
            .then(half(n=n))
            .else_()
            .then(triple_plus_one(n=n))
        )
        .else_()
        .fail("n is too large")
    )
