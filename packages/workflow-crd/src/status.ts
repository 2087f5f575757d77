/**
 * `status` of the FlyteWorkflow resource, in the JSON shape that kubectl users
 * know (Go Flyte 1.16; contract §4). Times are RFC 3339. Fields that are ours are
 * marked; they stand only while they are needed, so that a finished resource reads
 * as Go Flyte's does.
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
  /** Ours: count of events published so far, so that their order survives a restart. */
  eventSequence?: number;
  /**
   * Ours: the version of the status that who acts upon it must know at least. Left out where every build may: fields that one
   * does not know it keeps. See docs/upgrades.md.
   */
  requires?: number;
  /** Ours: the id of the node whose failure made the workflow fail. */
  failedNode?: string;
  /** Ours: why the execution is being aborted. */
  abortReason?: string;
  /** Ours: what was told last of what keeps the execution from going on; empty once nothing does any more. */
  notice?: string;
  /** Ours: where the statuses of nodes stand when they are too large for the resource; `nodeStatus` is not there then. */
  slices?: SliceRoot;
  /** Ours: beside `slices`, how many nodes are in which phase, for people. */
  nodeCounts?: Record<string, number>;
}

/**
 * Names the blobs that hold the statuses of a large workflow's nodes. What it names is
 * the status: blobs are never changed, and a write of the root is the write of all.
 */
export interface SliceRoot {
  version: typeof SLICE_VERSION;
  /** Address below which the blobs stand. */
  prefix: string;
  /** Counts the writes that made slices; part of the names that the next one gives. */
  generation: number;
  /** Blob of each slice, by the slice's key. */
  names: Record<string, string>;
}

/** What this build knows of the status: see `requires`. Raised by the build before the one that writes it. */
export const STATUS_VERSION = 1;

/** Version of the root and of the slices; greater ones are left to newer builds, others refused. */
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
  /** Attempts ended so far; the running one's number. */
  attempts?: number;
  systemFailures?: number;
  cached?: boolean;
  parentNode?: string;
  branchStatus?: { phase: number; finalNodeId?: string };
  subNodeStatus?: Record<string, NodeStatus>;
  /** Phase 1: executing. */
  gateNodeStatus?: { phase: number };
  arrayNodeStatus?: ArrayNodeStatus;
  /** Phase 1: executing; 2: failing, with what it fails of. */
  workflowNodeStatus?: { phase: number; executionError?: PlainErrorJson };
  /** Phase 1: the graph that the task made runs; 2: it fails; 4: the task has ended and its graph is to be read. */
  dynamicNodeStatus?: { phase: number; reason?: string; error?: ExecutionErrorJson; permFailure?: boolean };
  TaskNodeStatus?: TaskNodeStatus;
  error?: ExecutionErrorJson;
  /** Ours: outputs by value (protobuf LiteralMap, base64), for consumers that have not run yet. */
  outputs?: string;
  /** Ours: where outputs too large to travel by value stand, when that is not the node's own place. */
  outputUri?: string;
  /** Ours: not before this time may the next attempt start. */
  retryAt?: string;
  /** Ours, on a node that has ended, until admin has the execution's end: what became of the node in the catalog. */
  catalog?: CatalogFactJson;
  /** Ours, on a node that has ended, until admin has the execution's end: name of the execution that it started. */
  childExecution?: string;
  /** Ours, on a node that has ended, until admin has the execution's end: address of its deck; without a scheme, below the folder of the attempt. */
  deckUri?: string;
}

/** Cache status of a node, as its last event tells it. */
export interface CatalogFactJson {
  /** Number of core.CatalogCacheStatus. */
  readonly status: number;
  /** core.CatalogMetadata, protobuf in base64. */
  readonly key?: string;
}

export interface ArrayNodeStatus {
  /** 1 executing, 2 failing, 3 succeeding. */
  phase: number;
  /** What items failed with, as one text. */
  executionError?: PlainErrorJson;
  /** Attempts of each item; its `count` is the size of the array. */
  subattempts?: CompactArrayJson;
  subsysfailures?: CompactArrayJson;
  /** Version of the last event that told of items. */
  taskPhaseVersion?: number;
}

/** Small numbers, each in `item` bits, in words of 64 bits. */
export interface CompactArrayJson {
  readonly item: number;
  /** Left out for nothing. */
  readonly count?: number;
  /** Left out where a word is too large for a JSON number to hold exactly. */
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
  /** Objects of the attempt are to be removed before a retry. */
  clean?: boolean;
}

/** A core.ExecutionError where Go Flyte writes the message's fields as they are. */
export interface PlainErrorJson {
  readonly code: string;
  readonly message: string;
  /** Number of core.ExecutionError.ErrorKind. */
  readonly kind?: number;
  readonly error_uri?: string;
  readonly timestamp?: { readonly seconds?: number; readonly nanos?: number };
  readonly worker?: string;
}

/** A core.ExecutionError where Go Flyte writes it as protobuf's JSON. */
export interface ExecutionErrorJson {
  code: string;
  message: string;
  /** USER, SYSTEM or UNKNOWN. */
  kind?: string;
  errorUri?: string;
  timestamp?: string;
  worker?: string;
}
