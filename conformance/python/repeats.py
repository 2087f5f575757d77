"""What flytekit makes of connections that break: repeats.py ENDPOINT FOLDER, where FOLDER holds client_commands.py.

Before each step it prints `cut N`, the answer of the step that is not to arrive, and waits for a line. At the end it prints one JSON
object: how each step ended, OK or the error.
"""

import json
import pathlib
import sys
import time

from flytekit.configuration import Config, ImageConfig, PlatformConfig, SerializationSettings
from flytekit.exceptions.system import FlyteSystemUnavailableException
from flytekit.models.core.identifier import Identifier, ResourceType
from flytekit.models.launch_plan import LaunchPlanState
from flytekit.remote import FlyteRemote

endpoint, folder = sys.argv[1:3]
sys.path.insert(0, folder)
import client_commands as flows  # noqa: E402

scope = {"project": "flytesnacks", "domain": "development"}
remote = FlyteRemote(
    Config(platform=PlatformConfig(endpoint=endpoint, insecure=True)),
    default_project=scope["project"],
    default_domain=scope["domain"],
)
plan = Identifier(ResourceType.LAUNCH_PLAN, **scope, name="daily_plan", version="v1")
steps = {}


def settings(version):
    return SerializationSettings(image_config=ImageConfig.auto_default_image(), version=version, **scope)


def step(name, act, lost=1):
    # gRPC reconnects immediately only when the previous connection lasted for at least a second.
    time.sleep(2)
    print(f"cut {lost}", flush=True)
    sys.stdin.readline()
    steps[name] = "OK"
    try:
        try:
            return act()
        except FlyteSystemUnavailableException:
            # flytekit retries three times without delay, sometimes before gRPC has noticed that the
            # connection is closed. Retry as its user would.
            time.sleep(2)
            return act()
    except Exception as error:  # Whatever flytekit makes of it is what a user sees.
        steps[name] = f"{type(error).__name__}: {error} {error.__cause__ or ''}"[:600]


# A workflow is registered by a task, itself and its launch plan.
for lost, version in enumerate(["v1", "v2", "v3"], start=1):
    workflow = step(f"register {version}", lambda: remote.register_workflow(flows.twice, settings(version)), lost)
step("register again", lambda: remote.register_workflow(flows.twice, settings("v3")))
step("register a launch plan", lambda: remote.register_launch_plan(flows.daily_plan, version="v1", serialization_settings=settings("v1")), 3)
step("activate", lambda: remote.client.update_launch_plan(plan, LaunchPlanState.ACTIVE))
step("upload", lambda: remote.upload_file(pathlib.Path(folder) / "client_commands.py"))


def execute():
    return remote.execute(workflow, inputs={"x": 1}, execution_name="broken-line", version="v3")


execution = step("execute", execute)
step("execute under the same name", execute)
step("set a signal", lambda: remote.set_input("number", "broken-line", value=4, python_type=int))
step("terminate", lambda: remote.terminate(execution, "enough"))
step("fetch", lambda: remote.fetch_execution(name="broken-line"))
print(json.dumps(steps))
