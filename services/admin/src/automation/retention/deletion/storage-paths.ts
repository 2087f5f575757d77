import { nodeUniqueId, rawOutputShard, taskUniqueId } from "@flyte-ts/domain/name";
import type { BlobStore } from "@flyte-ts/blobstore";
import type { AutomationConfig } from "../../config.js";
import type { executionIds } from "../../../executions/index.js";

type Storage = Pick<AutomationConfig["storage"], "container" | "metadataPrefix" | "propellerPrefix">;

export interface MetadataPaths {
  /** Folder of the engine, with a trailing slash. */
  readonly folder: string;
  /** Single blobs that a Go FlyteAdmin may have stored: another object may own their folder. */
  readonly inputs: readonly string[];
}

/** Returns where the metadata of an execution is. */
export function metadataPaths(
  blobs: Pick<BlobStore, "join">,
  storage: Storage,
  { project, domain, name }: executionIds.ExecutionName,
): MetadataPaths {
  const { container, metadataPrefix, propellerPrefix } = storage;
  const own = blobs.join(container, metadataPrefix, project, domain, name);
  return {
    folder: `${blobs.join(container, propellerPrefix, `${project}-${domain}-${name}`)}/`,
    inputs: [`${own}/inputs`, `${own}/user_inputs`],
  };
}

/**
 * Returns the other names, existing or not, with the same metadata folder: it joins project, domain
 * and name with dashes, which all three may contain.
 */
export function executionsSharingFolder({ project, domain, name }: executionIds.ExecutionName): readonly executionIds.ExecutionName[] {
  const parts = `${project}-${domain}-${name}`.split("-");
  const found: executionIds.ExecutionName[] = [];
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
  /** Items of an array's attempt, each with its last attempt. */
  readonly items: readonly { readonly index: number; readonly attempt: number }[];
}

/**
 * Returns the folders, with a trailing slash, of raw outputs of an attempt and of its items. If the
 * prefix ends with a slash, engines differ in whether they add another one.
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
