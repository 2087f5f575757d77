import type { PhaseKind } from "../../../format/phase.js";
import type { NodeFilter } from "../../../node-table/order/filter.js";
import { type NodeStateName, Phase } from "../../../node-table/table/node-state.js";
import type { NodeCounts } from "../../../node-table/wire/read-chunk.js";
import { NODE_GROUPS, type NodeGroup } from "../../../route/execution-search.js";

interface GroupLook {
  readonly kind: PhaseKind;
  readonly word: string;
  /** Phases that the server counts; nodes from the cache, and gates that wait, are groups apart. */
  readonly phases: readonly number[];
  readonly states: readonly NodeStateName[];
}

const LOOKS: Readonly<Record<NodeGroup, GroupLook>> = {
  succeeded: { kind: "ok", word: "Succeeded", phases: [Phase.succeeded, Phase.recovered], states: ["succeeded"] },
  cached: { kind: "hit", word: "Cached", phases: [], states: ["cached"] },
  running: { kind: "run", word: "Running", phases: [Phase.running, Phase.dynamicRunning], states: ["running"] },
  waiting: { kind: "ask", word: "Waiting", phases: [], states: ["waiting"] },
  queued: { kind: "wait", word: "Queued", phases: [Phase.undefined, Phase.queued], states: ["queued"] },
  failed: { kind: "bad", word: "Failed", phases: [Phase.failing, Phase.failed, Phase.timedOut], states: ["failed"] },
  aborted: { kind: "stop", word: "Aborted", phases: [Phase.aborted], states: ["aborted"] },
  skipped: { kind: "wait", word: "Skipped", phases: [Phase.skipped], states: ["skipped"] },
};

/** Numbers of an execution's nodes, and of its gates that wait. */
export interface GroupedCounts extends Pick<NodeCounts, "byPhase" | "cached"> {
  readonly waiting: number;
}

/** Nodes of an execution that look alike. */
export interface CountedGroup extends Pick<GroupLook, "kind" | "word"> {
  readonly group: NodeGroup;
  readonly count: number;
}

/**
 * Returns the groups that have nodes, or by which the nodes are filtered. The server counts gates
 * that wait as running ones; the rows of the table tell them apart.
 */
export function countGroups(counted: GroupedCounts, chosen: readonly NodeGroup[]): readonly CountedGroup[] {
  const ofPhases = (group: NodeGroup): number => LOOKS[group].phases.reduce((sum, phase) => sum + (counted.byPhase[phase] ?? 0), 0);
  const { cached } = counted;
  const waiting = Math.min(counted.waiting, ofPhases("running"));
  const apart: Partial<Record<NodeGroup, number>> = {
    cached,
    succeeded: ofPhases("succeeded") - cached,
    waiting,
    running: ofPhases("running") - waiting,
  };
  const counts = NODE_GROUPS.map((group): CountedGroup => {
    const { kind, word } = LOOKS[group];
    return { group, kind, word, count: apart[group] ?? ofPhases(group) };
  });
  return counts.filter(({ group, count }) => count > 0 || chosen.includes(group));
}

/** Returns the filter of a table that shows some groups; none: every node. */
export function filterOf(groups: readonly NodeGroup[]): NodeFilter {
  return groups.length === 0 ? {} : { states: groups.flatMap((group) => LOOKS[group].states) };
}
