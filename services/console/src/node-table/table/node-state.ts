/** Numbers of flyteidl.core.NodeExecution.Phase. */
export const Phase = {
  undefined: 0,
  queued: 1,
  running: 2,
  succeeded: 3,
  failing: 4,
  failed: 5,
  aborted: 6,
  skipped: 7,
  timedOut: 8,
  dynamicRunning: 9,
  recovered: 10,
} as const;

/** Bits of flytets.admin.v1.NodeFlag. */
export const NodeFlag = { parent: 1, dynamic: 2, array: 4, launches: 8, deck: 16 } as const;

/** CatalogCacheStatus.CACHE_HIT plus 1, as NodeColumns.cache has it. */
const CACHE_HIT = 3;

/**
 * States that look alike, from phase, cache and attempts. Each is an index into NODE_STATES.
 */
export const NodeState = { failed: 0, waiting: 1, running: 2, queued: 3, aborted: 4, succeeded: 5, cached: 6, skipped: 7 } as const;
export type NodeStateName = keyof typeof NodeState;

/** Names of the states in the order in which groups of nodes are listed. */
export const NODE_STATES = Object.keys(NodeState) as readonly NodeStateName[];

const STATE_OF_PHASE: Readonly<Record<number, number>> = {
  [Phase.undefined]: NodeState.queued,
  [Phase.queued]: NodeState.queued,
  [Phase.running]: NodeState.running,
  [Phase.succeeded]: NodeState.succeeded,
  [Phase.failing]: NodeState.failed,
  [Phase.failed]: NodeState.failed,
  [Phase.aborted]: NodeState.aborted,
  [Phase.skipped]: NodeState.skipped,
  [Phase.timedOut]: NodeState.failed,
  [Phase.dynamicRunning]: NodeState.running,
  [Phase.recovered]: NodeState.succeeded,
};

/**
 * Returns the NodeState of a row. A running node without attempts and children is a gate: it waits
 * for a signal, an approval or a time.
 */
export function stateOf(phase: number, cache: number, attempts: number, flags: number): number {
  if (phase === Phase.succeeded && cache === CACHE_HIT) return NodeState.cached;
  if (phase === Phase.running && attempts === 0 && flags === 0) return NodeState.waiting;
  return STATE_OF_PHASE[phase] ?? NodeState.running;
}

/** Counts the rows that wait for a signal, an approval or a time. */
export function countWaiting({ length, state }: { readonly length: number; readonly state: Uint8Array }): number {
  let count = 0;
  for (let row = 0; row < length; row++) if (state[row] === NodeState.waiting) count++;
  return count;
}
