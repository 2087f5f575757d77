/**
 * `status` of the FlyteWorkflow resource, in the JSON shape that kubectl users know (Go Flyte
 * 1.16). Times are RFC 3339. Fields marked "Ours" are extensions of flyte-ts, present only
 * while they are needed, so that a finished resource equals Go Flyte's.
 */
export interface WorkflowStatus {
  /** See `workflowPhases` of the domain package. */
  phase: number;
  startedAt?: string;
  stoppedAt?: string;
  lastUpdatedAt?: string;
  message?: string;
  dataDir?: string;
  outputRef?: string;
  nodeStatus?: Record<string, NodeStatus>;
  failedAttempts?: number;
  error?: ExecutionErrorJson;
  /** Version of the naming scheme of nodes; always 1. */
  defVersion?: number;
  /**
   * Extension of flyte-ts: number of events published so far, so that their order survives a
   * restart.
   */
  eventSequence?: number;
  /**
   * Extension of flyte-ts: minimum status version of builds that act on it. Absent when every
   * build may: unknown
   * fields are kept. See docs/guides/upgrade.md.
   */
  requires?: number;
  /** Extension of flyte-ts: the id of the node whose failure made the workflow fail. */
  failedNode?: string;
  /** Extension of flyte-ts: reason of the abort in progress. */
  abortReason?: string;
  /**
   * Extension of flyte-ts: the last published blocker of the execution; empty once there is none.
   */
  notice?: string;
  /**
   * Extension of flyte-ts: references to the statuses of nodes when they are too large for the
   * resource;
   * `nodeStatus` is then absent.
   */
  slices?: SliceRoot;
  /** Extension of flyte-ts: beside `slices`, number of nodes by phase, for people. */
  nodeCounts?: Record<string, number>;
}

/**
 * References the blobs that hold the node statuses of a large workflow. The referenced blobs are
 * the status: they are immutable, and writing the root writes all.
 */
export interface SliceRoot {
  version: typeof SLICE_VERSION;
  /** URI prefix of the blobs. */
  prefix: string;
  /** Counts the writes that created slices; part of the next blob names. */
  generation: number;
  /** Blob name of each slice, by the slice's key. */
  names: Record<string, string>;
}

/**
 * Status version that this build understands: see `requires`. Raised one build before a build that
 * writes it.
 */
export const STATUS_VERSION = 1;

/**
 * Version of the root and of the slices; resources with greater ones are left to newer builds,
 * others are rejected.
 */
export const SLICE_VERSION = 1;

export interface NodeStatus {
  /** See `nodePhases` of the domain package. */
  phase: number;
  queuedAt?: string;
  startedAt?: string;
  stoppedAt?: string;
  lastUpdatedAt?: string;
  /** Start of the last attempt. */
  laStartedAt?: string;
  message?: string;
  /** Attempts ended so far, which is the number of the running one. */
  attempts?: number;
  systemFailures?: number;
  cached?: boolean;
  parentNode?: string;
  branchStatus?: { phase: number; finalNodeId?: string };
  subNodeStatus?: Record<string, NodeStatus>;
  /** Phase 1: executing. */
  gateNodeStatus?: { phase: number };
  arrayNodeStatus?: ArrayNodeStatus;
  /** Phase 1: executing; 2: failing, with the error. */
  workflowNodeStatus?: { phase: number; executionError?: GoErrorJson };
  /**
   * Phase 1: the graph that the task created runs; 2: it fails; 4: the task has ended and its graph
   * is to be read.
   */
  dynamicNodeStatus?: { phase: number; reason?: string; error?: ExecutionErrorJson; permFailure?: boolean };
  TaskNodeStatus?: TaskNodeStatus;
  error?: ExecutionErrorJson;
  /**
   * Extension of flyte-ts: outputs by value (protobuf LiteralMap, base64), for dependents that
   * have not run yet.
   */
  outputs?: string;
  /**
   * Extension of flyte-ts: URI of outputs too large to pass by value; absent when they are in the
   * folder of the
   * node's own attempt.
   */
  outputUri?: string;
  /** Extension of flyte-ts: earliest start of the next attempt. */
  retryAt?: string;
  /**
   * Extension of flyte-ts, on a terminal node until admin has recorded the execution's end: the
   * node's catalog result.
   */
  catalog?: CatalogStatusJson;
  /**
   * Extension of flyte-ts, on a terminal node until admin has recorded the execution's end: name
   * of the execution that it started.
   */
  childExecution?: string;
  /**
   * Extension of flyte-ts, on a dynamic node whose attempt has ended, and on a terminal node until
   * admin has recorded the execution's end: URI of its deck; without a scheme, below the folder of
   * the attempt.
   */
  deckUri?: string;
}

/** Cache status of a node, as in its last event. */
export interface CatalogStatusJson {
  /** Number of core.CatalogCacheStatus. */
  readonly status: number;
  /** core.CatalogMetadata, protobuf in base64. */
  readonly key?: string;
}

export interface ArrayNodeStatus {
  /** 1 executing, 2 failing, 3 succeeding. */
  phase: number;
  /** Errors of the items, as one text. */
  executionError?: GoErrorJson;
  /** Attempts of each item; its `count` is the size of the array. */
  subattempts?: CompactArrayJson;
  subsysfailures?: CompactArrayJson;
  /** Version of the last event with items. */
  taskPhaseVersion?: number;
}

/** Small numbers of `item` bits each, in words of 64 bits. */
export interface CompactArrayJson {
  readonly item: number;
  /** Absent for 0. */
  readonly count?: number;
  /** Absent where a word exceeds the integers that a JSON number holds exactly. */
  readonly BitSet?: readonly number[];
}

export interface TaskNodeStatus {
  /** See `taskPhases` of the domain package. */
  phase?: number;
  phaseVersion?: number;
  /** Plugin state, base64. */
  pState?: string;
  psv?: number;
  updAt?: string;
  checkpointPath?: string;
  /** Remove the attempt's objects before a retry. */
  clean?: boolean;
}

/** A core.ExecutionError where Go Flyte writes the message's fields unchanged. */
export interface GoErrorJson {
  readonly code: string;
  readonly message: string;
  /** Number of core.ExecutionError.ErrorKind. */
  readonly kind?: number;
  readonly error_uri?: string;
  readonly timestamp?: { readonly seconds?: number; readonly nanos?: number };
  readonly worker?: string;
}

/** A core.ExecutionError where Go Flyte writes protobuf's JSON form. */
export interface ExecutionErrorJson {
  code: string;
  message: string;
  /** USER, SYSTEM or UNKNOWN. */
  kind?: string;
  errorUri?: string;
  timestamp?: string;
  worker?: string;
}
