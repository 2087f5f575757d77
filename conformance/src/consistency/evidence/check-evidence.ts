import type { AttemptRecord, ExecutionRecord, JournalLine, NodeRecord, Row } from "./evidence.js";
import { type ExpectedEnd, expectedEnd, type Scenario } from "../workload/scenarios.js";

/** A requested execution. */
export interface RequestedExecution {
  readonly name: string;
  readonly scenario: Scenario;
  readonly x: string;
}

/** Everything recorded about the executions of a round after their end. */
export interface Evidence {
  /** Executions that clients created, and their child executions. */
  readonly requested: readonly RequestedExecution[];
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
const RECORDED_CACHE_STATUSES = new Set(["CACHE_HIT", "CACHE_POPULATED", "CACHE_LOOKUP_FAILURE", "CACHE_PUT_FAILURE"]);
/** Resolution of Kubernetes timestamps, ms. */
const CLOCK_RESOLUTION_MS = 1_000;

/** Returns one line for each inconsistency; empty when all ends are completely recorded. */
export function findInconsistencies(evidence: Evidence): string[] {
  const executions = evidence.requested.flatMap((requested) => {
    const record = evidence.records.get(requested.name);
    if (record === undefined) return [`${requested.name}: the API does not know it`];
    return [...checkExecution(requested, record), ...checkNodes(requested, record, evidence), ...checkStarts(record, evidence)].map(
      (finding) => `${requested.name} (${requested.scenario}) ${finding}`,
    );
  });
  return [...executions, ...checkRows(evidence), ...checkJournal(evidence)];
}

const childOf = (record: ExecutionRecord): string | undefined => record.nodes.find(({ child }) => child !== undefined)?.child;

const expectedOf = (requested: RequestedExecution, record: ExecutionRecord): ExpectedEnd => {
  const child = childOf(record);
  return expectedEnd(requested.scenario, { ...requested, ...(child === undefined ? {} : { child }) });
};

function checkExecution(requested: RequestedExecution, record: ExecutionRecord): string[] {
  const { phase, output, error, child } = expectedOf(requested, record);
  const findings: string[] = [];
  if (record.phase !== phase) findings.push(`ended ${record.phase}, not ${phase}: ${record.error}`);
  if (record.output !== output) findings.push(`has the output ${abbreviate(record.output)}, not ${abbreviate(output)}`);
  if (error !== undefined && !record.error.includes(error)) findings.push(`has the error "${record.error}", not "${error}"`);
  if (child !== undefined && childOf(record) === undefined) findings.push("does not name its child");
  return [...findings, ...checkTimes("it", record, record.createdAt)];
}

function checkNodes(requested: RequestedExecution, record: ExecutionRecord, { podsLost }: Evidence): string[] {
  const expected = expectedOf(requested, record).nodes;
  const findings = Object.entries(expected).flatMap(([id, phase]) => {
    const node = record.nodes.find((each) => each.node === id);
    if (node === undefined) return [`node ${id} is not there`];
    return node.phase === phase ? [] : [`node ${id} is ${node.phase}, not ${phase}`];
  });
  return [...findings, ...record.nodes.flatMap((node) => checkNode(node, { asked: requested, podsLost }))];
}

function checkNode(
  node: NodeRecord,
  { asked: requested, podsLost }: { readonly asked: RequestedExecution; readonly podsLost: boolean },
): string[] {
  const about = `node ${node.node}`;
  const findings = checkTimes(about, node, undefined);
  if (!NODE_ENDED.has(node.phase)) findings.push(`${about} has not ended: ${node.phase}`);
  if (node.phase === "SUCCEEDED" && node.output === undefined) findings.push(`${about} has lost its outputs`);
  if (node.phase === "FAILED" && !node.hasError) findings.push(`${about} has lost its error`);
  if (requested.scenario === "cached" && node.node === "n0" && !RECORDED_CACHE_STATUSES.has(node.cache))
    findings.push(`${about} has lost its cache status: ${node.cache}`);
  const numbers = node.attempts.map(({ attempt }) => attempt).sort((a, b) => a - b);
  if (numbers.some((number, index) => number !== index)) findings.push(`${about} has the attempts ${numbers.join(", ")}`);
  const last = node.attempts.toSorted((a, b) => a.attempt - b.attempt).at(-1);
  if (node.phase === "SUCCEEDED" && last !== undefined && last.phase !== "SUCCEEDED")
    findings.push(`${about} succeeded, its last attempt is ${last.phase}`);
  if (!podsLost && requested.scenario !== "recovers" && node.phase === "SUCCEEDED" && node.attempts.length > 1)
    findings.push(`${about} needed ${node.attempts.length} attempts`);
  return [...findings, ...node.attempts.flatMap((attempt) => checkAttempt(`${about} attempt ${attempt.attempt}`, attempt))];
}

function checkAttempt(about: string, attempt: AttemptRecord): string[] {
  const findings = checkTimes(about, attempt, undefined);
  if (!ENDED.has(attempt.phase)) findings.push(`${about} has not ended: ${attempt.phase}`);
  if (attempt.phase === "SUCCEEDED" && attempt.output === undefined) findings.push(`${about} has lost its outputs`);
  if (attempt.phase === "FAILED" && !attempt.hasError) findings.push(`${about} has lost its error`);
  return findings;
}

/**
 * Checks that the end is recorded and that a recorded start lies between the creation and the end.
 * A missing start is no finding: the engine cannot observe a run that began and ended while the
 * engine could not query it.
 */
function checkTimes(about: string, times: Pick<NodeRecord, "startedAt" | "updatedAt">, earliest: number | undefined): string[] {
  const { startedAt, updatedAt } = times;
  const findings: string[] = [];
  if (updatedAt === undefined) findings.push(`${about} has no time of its end`);
  if (startedAt !== undefined && updatedAt !== undefined && updatedAt < startedAt) findings.push(`${about} ended before it started`);
  if (startedAt !== undefined && earliest !== undefined && startedAt < earliest) findings.push(`${about} started before it was created`);
  return findings;
}

/**
 * Checks that no start is later than the run that the journal recorded, or differs from the first
 * recorded start.
 */
function checkStarts(record: ExecutionRecord, { journal }: Evidence): string[] {
  const begun = (key: string) => Math.min(...journal.filter((line) => line.key === key).map(({ at }) => at));
  const attempts = record.nodes.flatMap(({ attempts: each }) => each);
  const first = Math.min(...attempts.map(({ key }) => begun(key)));
  const findings: string[] = [];
  if (record.startedAt === undefined) findings.push("has no start");
  else if (record.startedAt > first + CLOCK_RESOLUTION_MS) findings.push(`started ${record.startedAt - first} ms after its first task`);
  for (const { key, startedAt } of attempts) {
    if (startedAt !== undefined && startedAt > begun(key) + CLOCK_RESOLUTION_MS)
      findings.push(`${key} started ${startedAt - begun(key)} ms after its process`);
  }
  return findings;
}

/** Checks that the database equals the API and contains no open row. */
function checkRows({ rows, records, firstStarts, requested }: Evidence): string[] {
  const reported = phasesOf([...records.values()]);
  const findings = requested.filter(({ name }) => !rows.some(({ id }) => id === name)).map(({ name }) => `${name}: no row`);
  for (const { id, phase, startedNs, endedNs } of rows) {
    if (!NODE_ENDED.has(phase)) findings.push(`row ${id} has not ended: ${phase}`);
    if (endedNs === undefined && ENDED.has(phase)) findings.push(`row ${id} has no end`);
    if (reported.has(id) && reported.get(id) !== phase) findings.push(`row ${id} is ${phase}, the API says ${reported.get(id)}`);
    const first = firstStarts.get(id);
    // A late event may report an earlier start; no event may move it to a later time.
    if (first !== undefined && (startedNs === undefined || startedNs > first))
      findings.push(`row ${id}: its start was ${first} and is ${startedNs}`);
  }
  const ids = new Set(rows.map(({ id }) => id));
  return [...findings, ...[...reported.keys()].filter((id) => !ids.has(id)).map((id) => `${id}: the API tells of it, without a row`)];
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
function checkJournal({ journal, records, podsLost }: Evidence): string[] {
  const begun = new Map<string, number>();
  for (const { key } of journal) begun.set(key, (begun.get(key) ?? 0) + 1);
  const findings = podsLost ? [] : [...begun].filter(([, count]) => count > 1).map(([key, count]) => `${key} began ${count} times`);
  const known = new Set([...records.values()].flatMap(({ nodes }) => nodes.flatMap(({ attempts }) => attempts.map(({ key }) => key))));
  for (const { key, execution } of journal)
    if (records.has(execution) && !known.has(key)) findings.push(`${key} ran, and the API does not know this attempt`);
  return findings;
}

const abbreviate = (text: string | undefined): string =>
  text === undefined ? "none" : text.length > 60 ? `${text.slice(0, 40)}… (${text.length})` : text;
