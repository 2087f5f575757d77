import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import { TARGET } from "../stack/shell-tasks.js";
import { readExecution } from "./evidence/api-evidence.js";
import { type RequestedExecution, type Evidence, findInconsistencies } from "./evidence/check-evidence.js";
import type { DatabaseEvidence } from "./evidence/database-evidence.js";
import type { ExecutionRecord } from "./evidence/evidence.js";
import { beginFault, type Fault, type FaultyParts, killsPods } from "./faults/faults.js";
import { readJournal } from "./evidence/journal.js";
import { expectedEnd } from "./workload/scenarios.js";
import { recordStarts } from "./evidence/start-recorder.js";
import { Workload } from "./workload/workload.js";

export interface RoundEnvironment extends FaultyParts {
  readonly client: FlyteClient;
  readonly database: DatabaseEvidence;
  readonly journal: string;
}

export interface RoundOptions {
  readonly prefix: string;
  readonly fault: Fault;
  /** Duration of the fault, ms. */
  readonly faultMs: number;
  readonly concurrency: number;
  readonly maxExecutions: number;
  /** Timeout for the last end after the fault, ms. */
  readonly timeoutMs: number;
  /** Timeout for records that follow the end of an execution, ms. */
  readonly settleTimeoutMs: number;
}

export interface RoundResult {
  /** Number of executions and their children. */
  readonly executions: number;
  /** Time from the end of the fault to the last end, ms. */
  readonly recoveryMs: number;
  /** Findings of {@link findInconsistencies}, and executions that did not end. */
  readonly findings: readonly string[];
}

/** Time without a change after which the findings are final, ms, provided that no row is open. */
const QUIET_MS = 20_000;
/** Concurrent calls while gathering evidence. */
const READ_CONCURRENCY = 6;
const POLL_INTERVAL_MS = 1_000;

/** Injects a fault into a stack that runs executions, and gathers evidence about each. */
export async function runRound(environment: RoundEnvironment, options: RoundOptions): Promise<RoundResult> {
  const { prefix, fault, faultMs, concurrency, maxExecutions, timeoutMs } = options;
  const starts = recordStarts(environment.database, prefix);
  const workload = new Workload(environment.client, { prefix, concurrency, maxExecutions, timeoutMs });
  try {
    await waitUntilSomeRun(environment, { prefix, concurrency });
    const endFault = beginFault(fault, environment);
    await sleep(faultMs);
    endFault();
    const faultEndedAt = Date.now();
    const open = await workload.waitForEnds();
    const recoveryMs = Date.now() - faultEndedAt;
    if (open.length > 0) return { executions: workload.requested.length, recoveryMs, findings: open };
    const settled = await settledFindings(environment, { requested: workload.requested, options, firstStarts: starts.first });
    return { ...settled, recoveryMs };
  } finally {
    await starts.stop();
  }
}

/** Waits until a third of the executions have running tasks. */
async function waitUntilSomeRun(
  { journal }: RoundEnvironment,
  { prefix, concurrency }: Pick<RoundOptions, "prefix" | "concurrency">,
): Promise<void> {
  const begun = () =>
    new Set(
      readJournal(journal)
        .filter(({ key }) => key.startsWith(prefix))
        .map(({ execution }) => execution),
    ).size;
  for (const deadline = Date.now() + 60_000; begun() < concurrency / 3 && Date.now() < deadline; ) await sleep(100);
}

interface GatherOptions {
  readonly requested: readonly RequestedExecution[];
  readonly options: RoundOptions;
  readonly firstStarts: ReadonlyMap<string, bigint>;
}

/** Gathers evidence again while a missing record may still arrive. */
async function settledFindings(
  environment: RoundEnvironment,
  asking: GatherOptions,
): Promise<Pick<RoundResult, "executions" | "findings">> {
  const complete = new Map<string, ExecutionRecord>();
  let before = -1;
  let changedAt = Date.now();
  for (const deadline = Date.now() + asking.options.settleTimeoutMs; ; await sleep(POLL_INTERVAL_MS)) {
    const evidence = await gather(environment, asking, complete);
    const findings = findInconsistencies(evidence);
    if (findings.length !== before) changedAt = Date.now();
    before = findings.length;
    const quiet = Date.now() - changedAt > QUIET_MS && !findings.some((line) => line.includes("has not ended"));
    if (findings.length === 0 || quiet || Date.now() > deadline) return { executions: evidence.requested.length, findings };
    // Complete records need no second read.
    for (const [name, record] of evidence.records) if (!findings.some((line) => line.includes(name))) complete.set(name, record);
  }
}

async function gather(
  { client, database, journal }: RoundEnvironment,
  { requested, options, firstStarts }: GatherOptions,
  known: ReadonlyMap<string, ExecutionRecord>,
): Promise<Evidence> {
  const byName = new Map(requested.map((each) => [each.name, each]));
  const children = (await database.children(options.prefix)).flatMap(({ name, parent }): RequestedExecution[] => {
    const parentRequest = byName.get(parent);
    const scenario = parentRequest && expectedEnd(parentRequest.scenario, parentRequest).child;
    return parentRequest === undefined || scenario === undefined ? [] : [{ name, scenario, x: parentRequest.x }];
  });
  const all = [...requested, ...children];
  const records = new Map(known);
  const left = all.map(({ name }) => name).filter((name) => !records.has(name));
  const read = async () => {
    for (let name = left.pop(); name !== undefined; name = left.pop())
      records.set(name, await readExecution(client, { project: TARGET.project, domain: TARGET.domain, name }));
  };
  await Promise.all(Array.from({ length: READ_CONCURRENCY }, read));
  const lines = readJournal(journal).filter(({ execution }) => records.has(execution));
  return {
    requested: all,
    records,
    rows: await database.rows(options.prefix),
    journal: lines,
    firstStarts,
    podsLost: killsPods(options.fault),
  };
}
