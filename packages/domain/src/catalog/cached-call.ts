import { create, toJson } from "@bufbuild/protobuf";
import { type VariableMap, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { hashInputs } from "./literal-hash.js";
import { objectHash } from "./object-hash.js";

/** Begins the names of datasets of tasks (Go Flyte 1.16). */
const TASK_PREFIX = "flyte_task-";

/** Address of a call's outputs in the data catalog (Go Flyte 1.16's names). */
export interface CacheKey {
  readonly dataset: { readonly project: string; readonly domain: string; readonly name: string; readonly version: string };
  readonly tag: string;
}

/**
 * Returns the catalog address of a task's call with these inputs. The template is the one in the
 * workflow resource: descriptions and type metadata are gone from its interface.
 *
 * @returns undefined when the task has no cache version, which is required.
 */
export function cacheKeyOf(template: TaskTemplate, inputs: LiteralMap): CacheKey | undefined {
  const { id, metadata, interface: types } = template;
  const cacheVersion = trimSpaces(metadata?.discoveryVersion ?? "");
  if (id === undefined || cacheVersion === "") return undefined;
  return {
    dataset: {
      project: id.project,
      domain: id.domain,
      name: `${TASK_PREFIX}${id.name}`,
      version: `${cacheVersion}-${signature(types?.inputs)}-${signature(types?.outputs)}`,
    },
    tag: `flyte_cached-${hashInputs(inputs, metadata?.cacheIgnoreInputVars)}`,
  };
}

/**
 * Returns the address under which an execution looks up and stores outputs. Outputs of a task of
 * another project or domain stay in the dataset of the execution: a task's template and overrides
 * decide which code runs, so the author of a workflow could otherwise read and replace what the
 * task's own project has cached. No project and no domain has a colon in its name, so the name
 * collides with no task of the execution's project.
 */
export function keyForExecution({ dataset, tag }: CacheKey, execution: { readonly project: string; readonly domain: string }): CacheKey {
  const { project, domain, name, version } = dataset;
  if (project === execution.project && domain === execution.domain) return { dataset, tag };
  const task = name.slice(TASK_PREFIX.length);
  const own = { project: execution.project, domain: execution.domain, name: `${TASK_PREFIX}${project}:${domain}:${task}`, version };
  return { dataset: own, tag };
}

const SIGNATURE_LENGTH = 8;

function signature(variables: VariableMap | undefined): string {
  const json = toJson(VariableMapSchema, variables ?? create(VariableMapSchema));
  return objectHash(json).toString("base64url").slice(0, SIGNATURE_LENGTH);
}

/**
 * Trims only spaces, as Go Flyte does. Searches from both ends, because a regular expression for
 * trailing spaces would be tried at each space within the text.
 */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === " ") start++;
  while (end > start && text[end - 1] === " ") end--;
  return text.slice(start, end);
}
