import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { notFound } from "./rpc-errors.js";

/** Error NOT_FOUND for a version of a task, workflow or launch plan. */
export function missingEntity(type: "TASK" | "WORKFLOW" | "LAUNCH_PLAN", id: Identifier): Error {
  const { project, domain, name, version } = id;
  return notFound(
    `missing entity of type ${type} with identifier project:"${project}" domain:"${domain}" name:"${name}" version:"${version}"`,
  );
}
