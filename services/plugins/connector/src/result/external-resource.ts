import { create } from "@bufbuild/protobuf";
import type { Resource } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type ExternalResourceInfo, ExternalResourceInfoSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { reportedState } from "./task-phase.js";

/**
 * Returns the job of a connector as an external resource of the attempt. Its id is the generated
 * name of the attempt: the connector's own id is opaque and may hold credentials.
 */
export function externalResource({ request }: { readonly request: TaskRequest }, resource: Resource): ExternalResourceInfo {
  return create(ExternalResourceInfoSchema, { externalId: request.generatedName, phase: phaseOf(resource), logs: resource.logLinks });
}

function phaseOf(resource: Resource): Phase {
  const state = reportedState(resource);
  switch (state.kind) {
    case "progress":
      return Phase[state.phase];
    case "succeeded":
      return Phase.SUCCEEDED;
    case "failed":
      return resource.phase === Phase.ABORTED ? Phase.ABORTED : Phase.FAILED;
    case "noNews":
      return Phase.UNDEFINED;
  }
}
