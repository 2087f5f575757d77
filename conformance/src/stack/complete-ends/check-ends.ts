import type { AttemptRecord, ExecutionRecord, JournalLine, NodeRecord, Row } from "./evidence.js";
import { type Expected, expectedEnd, type Shape } from "./shapes.js";

/** A requested execution. */
export interface Asked {
  readonly name: string;
  readonly shape: Shape;
  readonly x: string;
}

/** Everything recorded about the executions of a round after their end. */
export interface Evidence {
  /** Executions that clients created, and their child executions. */
  readonly asked: readonly Asked[];
  readonly records: ReadonlyMap<string, ExecutionRecord>;
  readonly rows: readonly Row[];
  readonly journal: readonly JournalLine[];
  /** First start that the database showed, by row id. */
  readonly firstStarts: ReadonlyMap<string, bigint>;
  /**
   * True when the fault may have killed task processes: an attempt's process may then start twice,
   * and attempts may be lost.
   */
  readonly podsLost: boolean;
}

const ENDED = new Set(["SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT"]);
const NODE_ENDED = new Set([...ENDED, "SKIPPED", "RECOVERED"]);
const CACHE_FACTS = new Set(["CACHE_HIT", "CACHE_POPULATED", "CACHE_LOOKUP_FAILURE", "CACHE_PUT_FAILURE"]);
/** Resolution of Kubernetes timestamps, ms. */
const CLOCK_MS = 1_000;

/** Returns one line for each inconsistency; empty when all ends are completely recorded. */
export function lostEnds(evidence: Evidence): string[] {
  const executions = evidence.asked.flatMap((asked) => {
    const record = evidence.records.get(asked.name);
    if (record === undefined) return [`${asked.name}: the API does not know it`];
    return [...executionLosses(asked, record), ...nodesLosses(asked, record, evidence), ...startLosses(record, evidence)].map(
      (loss) => `${asked.name} (${asked.shape}) ${loss}`,
    );
  });
  return [...executions, ...rowLosses(evidence), ...doubles(evidence)];
}

const childOf = (record: ExecutionRecord): string | undefined => record.nodes.find(({ child }) => child !== undefined)?.child;

const expectedOf = (asked: Asked, record: ExecutionRecord): Expected => {
  const child = childOf(record);
  return expectedEnd(asked.shape, { ...asked, ...(child === undefined ? {} : { child }) });
};

function executionLosses(asked: Asked, record: ExecutionRecord): string[] {
  const { phase, output, error, child } = expectedOf(asked, record);
  const losses: string[] = [];
  if (record.phase !== phase) losses.push(`ended ${record.phase}, not ${phase}: ${record.error}`);
  if (record.output !== output) losses.push(`has the output ${brief(record.output)}, not ${brief(output)}`);
  if (error !== undefined && !record.error.includes(error)) losses.push(`has the error "${record.error}", not "${error}"`);
  if (child !== undefined && childOf(record) === undefined) losses.push("does not name its child");
  return [...losses, ...timeLosses("it", record, record.createdAt)];
}

function nodesLosses(asked: Asked, record: ExecutionRecord, { podsLost }: Evidence): string[] {
  const expected = expectedOf(asked, record).nodes;
  const losses = Object.entries(expected).flatMap(([id, phase]) => {
    const node = record.nodes.find((each) => each.node === id);
    if (node === undefined) return [`node ${id} is not there`];
    return node.phase === phase ? [] : [`node ${id} is ${node.phase}, not ${phase}`];
  });
  return [...losses, ...record.nodes.flatMap((node) => nodeLosses(node, { asked, podsLost }))];
}

function nodeLosses(node: NodeRecord, { asked, podsLost }: { readonly asked: Asked; readonly podsLost: boolean }): string[] {
  const about = `node ${node.node}`;
  const losses = timeLosses(about, node, undefined);
  if (!NODE_ENDED.has(node.phase)) losses.push(`${about} has not ended: ${node.phase}`);
  if (node.phase === "SUCCEEDED" && node.output === undefined) losses.push(`${about} has lost its outputs`);
  if (node.phase === "FAILED" && !node.hasError) losses.push(`${about} has lost its error`);
  if (asked.shape === "cached" && node.node === "n0" && !CACHE_FACTS.has(node.cache))
    losses.push(`${about} has lost its cache status: ${node.cache}`);
  const numbers = node.attempts.map(({ attempt }) => attempt).sort((a, b) => a - b);
  if (numbers.some((number, index) => number !== index)) losses.push(`${about} has the attempts ${numbers.join(", ")}`);
  const last = node.attempts.toSorted((a, b) => a.attempt - b.attempt).at(-1);
  if (node.phase === "SUCCEEDED" && last !== undefined && last.phase !== "SUCCEEDED")
    losses.push(`${about} succeeded, its last attempt is ${last.phase}`);
  if (!podsLost && asked.shape !== "recovers" && node.phase === "SUCCEEDED" && node.attempts.length > 1)
    losses.push(`${about} needed ${node.attempts.length} attempts`);
  return [...losses, ...node.attempts.flatMap((attempt) => attemptLosses(`${about} attempt ${attempt.attempt}`, attempt))];
}

function attemptLosses(about: string, attempt: AttemptRecord): string[] {
  const losses = timeLosses(about, attempt, undefined);
  if (!ENDED.has(attempt.phase)) losses.push(`${about} has not ended: ${attempt.phase}`);
  if (attempt.phase === "SUCCEEDED" && attempt.output === undefined) losses.push(`${about} has lost its outputs`);
  if (attempt.phase === "FAILED" && !attempt.hasError) losses.push(`${about} has lost its error`);
  return losses;
}

/**
 * Checks that a start is recorded in order or not at all: the engine cannot observe a run that was
 * over when it could query again.
 */
function timeLosses(about: string, times: Pick<NodeRecord, "startedAt" | "updatedAt">, earliest: number | undefined): string[] {
  const { startedAt, updatedAt } = times;
  const losses: string[] = [];
  if (updatedAt === undefined) losses.push(`${about} has no time of its end`);
  if (startedAt !== undefined && updatedAt !== undefined && updatedAt < startedAt) losses.push(`${about} ended before it started`);
  if (startedAt !== undefined && earliest !== undefined && startedAt < earliest) losses.push(`${about} started before it was created`);
  return losses;
}

/**
 * Checks that no start is later than the run that the journal recorded, or differs from the first
 * recorded start.
 */
function startLosses(record: ExecutionRecord, { journal }: Evidence): string[] {
  const begun = (key: string) => Math.min(...journal.filter((line) => line.key === key).map(({ at }) => at));
  const attempts = record.nodes.flatMap(({ attempts: each }) => each);
  const first = Math.min(...attempts.map(({ key }) => begun(key)));
  const losses: string[] = [];
  if (record.startedAt === undefined) losses.push("has no start");
  else if (record.startedAt > first + CLOCK_MS) losses.push(`started ${record.startedAt - first} ms after its first task`);
  for (const { key, startedAt } of attempts) {
    if (startedAt !== undefined && startedAt > begun(key) + CLOCK_MS)
      losses.push(`${key} started ${startedAt - begun(key)} ms after its process`);
  }
  return losses;
}

/** Checks that the database equals the API and contains no open row. */
function rowLosses({ rows, records, firstStarts, asked }: Evidence): string[] {
  const told = phasesOf([...records.values()]);
  const losses = asked.filter(({ name }) => !rows.some(({ id }) => id === name)).map(({ name }) => `${name}: no row`);
  for (const { id, phase, startedNs, endedNs } of rows) {
    if (!NODE_ENDED.has(phase)) losses.push(`row ${id} has not ended: ${phase}`);
    if (endedNs === undefined && ENDED.has(phase)) losses.push(`row ${id} has no end`);
    if (told.has(id) && told.get(id) !== phase) losses.push(`row ${id} is ${phase}, the API says ${told.get(id)}`);
    const first = firstStarts.get(id);
    // A late event may report an earlier start; no event may move it to a later time.
    if (first !== undefined && (startedNs === undefined || startedNs > first))
      losses.push(`row ${id}: its start was ${first} and is ${startedNs}`);
  }
  const ids = new Set(rows.map(({ id }) => id));
  return [...losses, ...[...told.keys()].filter((id) => !ids.has(id)).map((id) => `${id}: the API tells of it, without a row`)];
}

function phasesOf(records: readonly ExecutionRecord[]): Map<string, string> {
  const phases = new Map<string, string>();
  for (const { name, phase, nodes } of records) {
    phases.set(name, phase);
    for (const { node, phase: nodePhase, attempts } of nodes) {
      phases.set(`${name}/${node}`, nodePhase);
      for (const { attempt, phase: attemptPhase } of attempts) phases.set(`${name}/${node}/${attempt}`, attemptPhase);
    }
  }
  return phases;
}

/**
 * Checks that each attempt's process started once, and that each attempt that succeeded in a pod
 * has started.
 */
function doubles({ journal, records, podsLost }: Evidence): string[] {
  const begun = new Map<string, number>();
  for (const { key } of journal) begun.set(key, (begun.get(key) ?? 0) + 1);
  const losses = podsLost ? [] : [...begun].filter(([, count]) => count > 1).map(([key, count]) => `${key} began ${count} times`);
  const known = new Set([...records.values()].flatMap(({ nodes }) => nodes.flatMap(({ attempts }) => attempts.map(({ key }) => key))));
  for (const { key, execution } of journal)
    if (records.has(execution) && !known.has(key)) losses.push(`${key} ran, and the API does not know this attempt`);
  return losses;
}

const brief = (text: string | undefined): string =>
  text === undefined ? "none" : text.length > 60 ? `${text.slice(0, 40)}… (${text.length})` : text;
