import type { Difference, PathStep } from "../differences.js";

// The parts of a workflow record that the difference rules read. A record comes from a file, so
// every part may be missing.

export interface RunRecord {
  readonly steps?: readonly RecordedStep[];
  readonly executions?: Readonly<Record<string, RecordedExecution>>;
}

/** A call outside of the launch, with its response. */
export interface RecordedStep {
  readonly call?: string;
  readonly code?: string;
  readonly message?: string;
}

export interface RecordedExecution {
  readonly inputs?: unknown;
  readonly outputs?: unknown;
  readonly closure?: { readonly phase?: string; readonly error?: RecordedError; readonly workflow_id?: { readonly name?: string } };
  readonly nodes?: Readonly<Record<string, RecordedNode>>;
  readonly cr?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly status?: { readonly error?: RecordedError; readonly nodeStatus?: Readonly<Record<string, unknown>> };
  } | null;
  readonly pods?: Readonly<Record<string, RecordedPod>> | null;
  readonly blobs?: readonly string[] | null;
  readonly admin_blobs?: readonly string[] | null;
}

export interface RecordedError {
  readonly code?: string;
  readonly kind?: string;
  readonly message?: string;
  readonly timestamp?: string;
}

export interface RecordedNode {
  readonly input_uri?: string;
  readonly metadata?: {
    readonly spec_node_id?: string;
    readonly retry_group?: string;
    readonly is_array?: boolean;
    readonly is_dynamic?: boolean;
    readonly is_parent_node?: boolean;
  };
  readonly closure?: {
    readonly phase?: string;
    readonly output_uri?: string;
    readonly error?: RecordedError;
    readonly task_node_metadata?: {
      readonly cache_status?: string;
      readonly catalog_key?: { readonly dataset_id?: unknown; readonly artifact_tag?: { readonly name?: string } };
    };
  };
  readonly inputs?: unknown;
  readonly outputs?: unknown;
  readonly tasks?: readonly RecordedTask[];
  readonly children?: Readonly<Record<string, RecordedNode>>;
  readonly child_execution?: RecordedExecution | string;
}

export interface RecordedTask {
  readonly id?: { readonly retry_attempt?: number };
  readonly closure?: {
    readonly phase?: string;
    readonly task_type?: string;
    readonly output_uri?: string;
    readonly error?: RecordedError;
    readonly metadata?: { readonly generated_name?: string; readonly external_resources?: readonly RecordedResource[] };
  };
}

/** One attempt of an item of an array. */
export interface RecordedResource {
  readonly index?: number;
  readonly retry_attempt?: number;
  readonly phase?: string;
  readonly cache_status?: string;
}

export interface RecordedPod {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly containers?: readonly { readonly args?: readonly string[] | null; readonly env?: Readonly<Record<string, string>> }[];
  readonly phase?: string | null;
  readonly exit?: readonly (number | null)[];
}

/** A leaf that differs, with both complete records. */
export interface RunDifference extends Difference {
  readonly theirs: RunRecord;
  readonly ours: RunRecord;
}

/** Returns the value at a path, or undefined. */
export function valueAt(document: unknown, at: readonly PathStep[]): unknown {
  return at.reduce<unknown>((value, step) => (value === null || typeof value !== "object" ? undefined : (value as never)[step]), document);
}

/** A path split at the innermost execution that contains it. */
export interface InExecution {
  /** Path of the execution. */
  readonly execution: readonly PathStep[];
  /** Path from the execution to the leaf. */
  readonly rest: readonly PathStep[];
}

/** A leaf in an execution that both records contain. */
export interface InBoth extends InExecution {
  readonly recorded: unknown;
  readonly observed: unknown;
  readonly their: RecordedExecution;
  readonly our: RecordedExecution;
}

/** Finds the innermost execution that contains a path. */
export function inExecution(at: readonly PathStep[]): InExecution | undefined {
  let end = 0;
  for (let index = 0; index < at.length; index++) {
    if (at[index] === "child_execution" && index + 1 < at.length) end = index + 1;
    else if (EXECUTIONS.has(String(at[index])) && index + 2 < at.length) end = index + 2;
  }
  return end === 0 ? undefined : { execution: at.slice(0, end), rest: at.slice(end) };
}

const EXECUTIONS = new Set(["executions", "child_executions", "eager_executions"]);

/**
 * Returns the node at the start of the path (`nodes/n0/children/n0-0-n1/…`) and the rest of the
 * path.
 */
export function inNode(rest: readonly PathStep[]): { readonly node: readonly PathStep[]; readonly rest: readonly PathStep[] } | undefined {
  if (rest[0] !== "nodes" || rest.length < 2) return undefined;
  let end = 2;
  while (rest[end] === "children" && rest.length > end + 1) end += 2;
  return { node: rest.slice(0, end), rest: rest.slice(end) };
}

/** A file in a node's folder. */
export interface NodeFile {
  readonly node: RecordedNode;
  /**
   * File name with the folder of its attempt or item: `inputs.pb`, `0/outputs.pb`,
   * `0/2/0/outputs.pb`.
   */
  readonly file: string;
}

/**
 * Finds the node of a key of `blobs`: `n0/data/0/n1/inputs.pb` is a file of node n1 below the first
 * attempt of n0.
 */
export function nodeFile(execution: RecordedExecution, key: string): NodeFile | undefined {
  const [name = "", data, ...steps] = key.split("/");
  const node = ownValue(execution.nodes, name);
  return node === undefined || data !== "data" ? undefined : fileBelow(node, steps);
}

function fileBelow(node: RecordedNode, steps: readonly string[]): NodeFile {
  const [attempt, spec, ...rest] = steps;
  const child = Object.values(node.children ?? {}).find(
    ({ metadata }) => metadata?.spec_node_id === spec && metadata?.retry_group === attempt,
  );
  return child === undefined || rest.length === 0 ? { node, file: steps.join("/") } : fileBelow(child, rest);
}

/** Returns the value of an own property of a record. */
export function ownValue<Value>(values: Readonly<Record<string, Value>> | null | undefined, key: string): Value | undefined {
  return values !== null && values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Lists all nodes of an execution, including nested ones. */
export function allNodes(nodes: RecordedExecution["nodes"]): [string, RecordedNode][] {
  return Object.entries(nodes ?? {}).flatMap(([id, node]) => [[id, node] as [string, RecordedNode], ...allNodes(node.children)]);
}

/** Makes a rule for leaves in an execution that both records contain. */
export function inBoth(rule: (leaf: InBoth) => boolean): (difference: RunDifference) => boolean {
  return ({ at, recorded, observed, theirs, ours }) => {
    const found = inExecution(at);
    if (found === undefined) return false;
    const [their, our] = [theirs, ours].map((record) => valueAt(record, found.execution)) as (RecordedExecution | null | undefined)[];
    return (
      Boolean(their && our) && rule({ ...found, recorded, observed, their: their as RecordedExecution, our: our as RecordedExecution })
    );
  };
}

/** True for a list or an object without content. */
export function isEmpty(value: unknown): boolean {
  return value !== null && typeof value === "object" && Object.keys(value).length === 0;
}
