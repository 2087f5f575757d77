import { dns1123Subdomain } from "./kubernetes.js";
import { fixedLengthUniqueId } from "./unique-id.js";

/**
 * The node that another node runs under: a sub-workflow, branch, dynamic or array node, and its
 * attempt.
 */
export interface ParentNode {
  readonly uniqueId: string;
  /** Attempt of the parent, from 0. */
  readonly attempt: number;
}

/**
 * Id of a node within its execution (`node_id` of events and of the API): the id in the
 * graph for top-level nodes, the lineage for others, at most 20 characters.
 */
export function nodeUniqueId({ parent, nodeId }: { readonly parent?: ParentNode | undefined; readonly nodeId: string }): string {
  return fixedLengthUniqueId([parent?.uniqueId ?? "", parent === undefined ? "" : String(parent.attempt), nodeId], 20);
}

/** One attempt of a node. */
export interface AttemptName {
  /** Name of the execution. */
  readonly execution: string;
  readonly nodeUniqueId: string;
  /** Number of the attempt, from 0. */
  readonly attempt: number;
}

/**
 * Unique id of a task attempt, at most `maxLength` (50) characters. It names the
 * attempt's folder of raw outputs and its cache reservation, and may hold characters
 * that Kubernetes refuses: see taskGeneratedName.
 */
export function taskUniqueId({ execution, nodeUniqueId, attempt }: AttemptName, maxLength = 50): string {
  return fixedLengthUniqueId([execution, nodeUniqueId, String(attempt)], maxLength);
}

/**
 * Name of the Kubernetes object of a task attempt: its unique id as a DNS-1123 name, at most
 * `maxLength` (50) characters.
 */
export function taskGeneratedName(attempt: AttemptName, maxLength = 50): string {
  const name = dns1123Subdomain(taskUniqueId(attempt, maxLength));
  // Splitting camel case with dashes may lengthen the name.
  return fixedLengthUniqueId([name], maxLength);
}

/**
 * Name of the execution started by a launch-plan node: at most 20 characters, so that names of its
 * pods are not truncated.
 */
export function childExecutionName({ execution, nodeUniqueId, attempt }: AttemptName): string {
  return fixedLengthUniqueId([execution, nodeUniqueId, String(attempt)], 20, "fnv64a");
}
