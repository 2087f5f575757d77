import { nodeUniqueId, rawOutputShard, taskUniqueId } from "@flyte-ts/domain";
import type { BlobStore } from "@flyte-ts/blobstore";
import type { AdminConfig } from "../config.js";
import type { ExecutionName } from "../execution/state.js";

type Storage = Pick<AdminConfig["storage"], "container" | "metadataPrefix" | "propellerPrefix">;

/**
 * Folders of an execution's metadata, with a slash at the end: what the engine wrote, and inputs that a Go FlyteAdmin
 * kept beside it.
 */
export function metadataFolders(
  blobs: Pick<BlobStore, "join">,
  storage: Storage,
  { project, domain, name }: ExecutionName,
): readonly string[] {
  const { container, metadataPrefix, propellerPrefix } = storage;
  return [
    `${blobs.join(container, propellerPrefix, `${project}-${domain}-${name}`)}/`,
    ...ownInputs(blobs.join(container, metadataPrefix, project, domain, name)),
  ];
}

/** Blobs themselves: the folder's name could be that of something else. */
const ownInputs = (folder: string): readonly string[] => [`${folder}/inputs`, `${folder}/user_inputs`];

/**
 * Other executions, existing or not, whose metadata stands in the same folder: its name joins project, domain and name with
 * dashes, which all three may contain.
 */
export function sameFolder({ project, domain, name }: ExecutionName): readonly ExecutionName[] {
  const parts = `${project}-${domain}-${name}`.split("-");
  const found: ExecutionName[] = [];
  for (let first = 1; first < parts.length - 1; first++) {
    for (let second = first + 1; second < parts.length; second++) {
      const other = {
        project: parts.slice(0, first).join("-"),
        domain: parts.slice(first, second).join("-"),
        name: parts.slice(second).join("-"),
      };
      if (other.project !== project || other.domain !== domain) found.push(other);
    }
  }
  return found;
}

export interface Attempt {
  /** Name of the execution. */
  readonly execution: string;
  readonly nodeId: string;
  readonly attempt: number;
  /** Of an array's attempt, each with the last attempt of it. */
  readonly items: readonly { readonly index: number; readonly attempt: number }[];
}

/**
 * Folders, with a slash at the end, of what an attempt and those of its items wrote by themselves. Where the prefix ends in a
 * slash engines differ in whether another one follows.
 */
export function rawOutputFolders(prefix: string, { execution, nodeId, attempt, items }: Attempt): readonly string[] {
  const prefixes = new Set([prefix, prefix.replace(/\/+$/, "")]);
  const folders = (node: string, of: number) => {
    const uniqueId = taskUniqueId({ execution, nodeUniqueId: node, attempt: of });
    return [...prefixes].map((each) => `${each}/${rawOutputShard(uniqueId)}/${uniqueId}/`);
  };
  const parent = { uniqueId: nodeId, attempt };
  const ofItems = items.flatMap(({ index, attempt: last }) => {
    const node = nodeUniqueId({ parent, nodeId: `n${index}` });
    return Array.from({ length: last + 1 }, (_, of) => folders(node, of)).flat();
  });
  return [...new Set([...folders(nodeId, attempt), ...ofItems])];
}
