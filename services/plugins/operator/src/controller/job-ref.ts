import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { objectName } from "@flyte-ts/pod-task";
import type { Job, Operator } from "../operator.js";

/** Identifies a job among those of all operators. */
export interface JobRef {
  readonly operator: Operator;
  /** `namespace/name` of the resource. */
  readonly jobKey: string;
  /** Unique over all kinds. */
  readonly key: string;
}

export function refOf(operator: Operator, jobKey: string): JobRef {
  return { operator, jobKey, key: `${operator.taskType} ${jobKey}` };
}

/** The job of an attempt. */
export function refOfRequest(operator: Operator, { namespace, generatedName }: TaskRequest): JobRef {
  return refOf(operator, `${namespace}/${objectName(generatedName, operator.maxNameLength)}`);
}

export function jobKeyOf({ metadata: { namespace = "", name } }: Job): string {
  return `${namespace}/${name}`;
}

/** Namespace and name of the resource. */
export function nameOf({ jobKey }: JobRef): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = jobKey.split("/");
  return { namespace, name };
}
