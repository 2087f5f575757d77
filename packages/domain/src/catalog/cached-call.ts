import { create, toJson } from "@bufbuild/protobuf";
import { type VariableMap, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { hashInputs } from "./literal-hash.js";
import { objectHash } from "./object-hash.js";

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
      name: `flyte_task-${id.name}`,
      version: `${cacheVersion}-${signature(types?.inputs)}-${signature(types?.outputs)}`,
    },
    tag: `flyte_cached-${hashInputs(inputs, metadata?.cacheIgnoreInputVars)}`,
  };
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
