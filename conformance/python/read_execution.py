"""Reads an execution with stock FlyteRemote: `read_execution.py ENDPOINT NAME`; prints what it saw as JSON."""

import json
import sys

from flytekit.configuration import Config, PlatformConfig
from flytekit.remote import FlyteRemote

endpoint, name = sys.argv[1:3]
remote = FlyteRemote(
    Config(platform=PlatformConfig(endpoint=endpoint, insecure=True)),
    default_project="flytesnacks",
    default_domain="development",
)
execution = remote.sync_execution(remote.fetch_execution(name=name), sync_nodes=True)
print(
    json.dumps(
        {
            "phase": execution.closure.phase,
            "done": execution.is_done,
            "successful": execution.is_successful,
            "nodes": {
                node: {
                    "tasks": [task.closure.phase for task in run.task_executions],
                    "outputs": sorted(run.outputs.literals) if run.outputs else [],
                }
                for node, run in sorted(execution.node_executions.items())
            },
            "outputs": execution.outputs.get("o0", dict[str, float]),
        }
    )
)
