"""Placeholders for variables that differ between containers: finds where modules have stored them, and replaces them after a fork."""

import contextlib
import functools
import gc
import os
import pathlib
import types

#: Part of each placeholder. A name in /tmp that others cannot guess.
MARK = f"-of-{os.getpid()}-{os.urandom(8).hex()}"
#: No folder has this path. The others exist during the import of flytekit.
PLACEHOLDERS = {"HOME": f"/proc/self/HOME{MARK}", **{name: f"/tmp/{name}{MARK}" for name in ("PWD", "TMPDIR")}}
#: Variables that flyte sets for each attempt.
for name in (
    "FLYTE_ATTEMPT_NUMBER",
    *(f"FLYTE_INTERNAL_EXECUTION_{name}" for name in ("ID", "PROJECT", "DOMAIN", "WORKFLOW", "LAUNCHPLAN")),
    *(f"FLYTE_INTERNAL_TASK_{name}" for name in ("PROJECT", "DOMAIN", "NAME", "VERSION")),
    *(f"FLYTE_INTERNAL_{name}" for name in ("PROJECT", "DOMAIN", "NAME", "VERSION")),
):
    PLACEHOLDERS[name] = f"{name}{MARK}"
CONTAINERS = (tuple, list, dict, set, frozenset)
#: Variables of this process, which are replaced as a whole.
ENVIRONMENT = os.environ._data
#: Objects whose referents are examined at once.
CHUNK = 1 << 9


class UnsupportedPlace(Exception):
    """A placeholder is stored where it cannot be replaced."""


def contains_placeholder(value):
    """Tells whether a value contains a placeholder, directly or in a container of plain values, which the garbage collector does not know."""
    kind = type(value)
    if kind is str:
        return MARK in value
    if kind is bytes:
        return MARK.encode() in value
    if kind not in CONTAINERS or gc.is_tracked(value) or value is ENVIRONMENT:
        return False
    return any(map(contains_placeholder, gc.get_referents(value)))


def find_holders():
    """Returns the objects of the garbage collector that refer to a value with a placeholder."""
    gc.collect()
    ignored = {id(globals()), id(PLACEHOLDERS), id(ENVIRONMENT)}
    objects = gc.get_objects()
    containers, found = CONTAINERS, []
    mark, mark_bytes = MARK, MARK.encode()
    for start in range(0, len(objects), CHUNK):
        chunk = objects[start : start + CHUNK]
        for part in gc.get_referents(*chunk):
            kind = type(part)
            # Most objects are of other kinds: calls would take most of the time.
            if (kind is str and mark in part) or (kind is bytes and mark_bytes in part) or (kind in containers and contains_placeholder(part)):
                found += [holder for holder in chunk if id(holder) not in ignored and any(map(contains_placeholder, gc.get_referents(holder)))]
                break
    return found


def find_placeholders():
    """
    Finds all places where modules store placeholders; returns setters with the stored values.

    Raises UnsupportedPlace.
    """
    holders = find_holders()
    if not holders:
        return []
    owners = {}
    for owner in gc.get_referrers(*holders):
        if isinstance(owner, (type, types.FunctionType, pathlib.PurePath)):
            for part in gc.get_referents(owner):
                owners.setdefault(id(part), owner)
    found = {}
    for holder in holders:
        owner = owners.get(id(holder))
        # The dictionary of a class, the defaults of a function and the parts of a path are set through their owner.
        target = owner if isinstance(owner, type) and type(holder) is dict else owner if type(holder) in (tuple, list) and owner is not None else holder
        found.setdefault(id(target), target)
    return [place for target in found.values() for place in places_in(target)]


def places_in(holder):
    if isinstance(holder, pathlib.PurePath):
        return [(functools.partial(set_path, holder), str(holder))]
    places = [place for place in values_of(holder) if contains_deep(place[1])]
    known = {id(value) for _, value in places}
    for part in filter(contains_placeholder, gc.get_referents(holder)):
        if type(part) is dict and not isinstance(holder, dict):
            places += [place for place in items_of(part) if contains_deep(place[1])]
        elif id(part) not in known:
            raise UnsupportedPlace(f"{type(holder).__name__} {holder!r:.100} stores a placeholder in an unsupported place")
    if not places or not all(is_replaceable(value) for _, value in places):
        raise UnsupportedPlace(f"{type(holder).__name__} {holder!r:.100} stores a placeholder in an unsupported place")
    return places


def values_of(holder):
    """Yields the values that an object refers to by a name or an index, with functions that set them."""
    if isinstance(holder, type):
        for name, value in vars(holder).items():
            yield functools.partial(setattr, holder, name), value
    elif isinstance(holder, types.FunctionType):
        yield functools.partial(setattr, holder, "__defaults__"), holder.__defaults__
        yield from items_of(holder.__kwdefaults__ or {})
    elif type(holder) is dict:
        yield from items_of(holder)
    elif type(holder) is list:
        for index, value in enumerate(holder):
            yield functools.partial(holder.__setitem__, index), value
    else:
        yield from slots_of(holder)
        if isinstance(getattr(holder, "__dict__", None), dict):
            yield from items_of(vars(holder))


def items_of(values):
    return [(functools.partial(values.__setitem__, name), value) for name, value in values.items()]


def slots_of(holder):
    for member in slot_members(type(holder)):
        try:
            yield functools.partial(member.__set__, holder), member.__get__(holder)
        except (AttributeError, TypeError):  # Unset, or readable by C code alone.
            pass


def slot_members(kind):
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and name != "__dict__":
                yield member


def set_path(path, text):
    """Gives a path the state of a new one."""
    fresh = type(path)(text)
    for member in slot_members(type(path)):
        try:
            member.__set__(path, member.__get__(fresh))
        except AttributeError:
            with contextlib.suppress(AttributeError):
                member.__delete__(path)


def contains_deep(value):
    return any(map(contains_deep, value)) if type(value) is tuple else contains_placeholder(value)


def is_replaceable(value):
    return all(map(is_replaceable, value)) if type(value) is tuple else type(value) not in (list, dict, set, frozenset) and (type(value) is not bytes or not contains_placeholder(value))


def replace_placeholders(value):
    """Replaces placeholders in a value by the container's values."""
    if type(value) is tuple:
        return tuple(map(replace_placeholders, value))
    if type(value) is not str or MARK not in value:
        return value
    for name, placeholder in PLACEHOLDERS.items():
        if placeholder in value:
            end = os.sep if value.endswith(os.sep) else ""
            value = value.replace(placeholder, os.environ.get(name, ""))
            # A folder may be given with a separator at its end.
            value = os.path.normpath(value) + end if placeholder.startswith(os.sep) else value
    return value
