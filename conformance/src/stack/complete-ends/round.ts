import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import { TARGET } from "../shell-tasks.js";
import { readExecution } from "./api-evidence.js";
import { type Asked, type Evidence, lostEnds } from "./check-ends.js";
import type { DatabaseEvidence } from "./database-evidence.js";
import type { ExecutionRecord } from "./evidence.js";
import { beginFault, type Fault, type FaultyParts, losesPods } from "./faults.js";
import { readJournal } from "./journal.js";
import { expectedEnd } from "./shapes.js";
import { watchStarts } from "./start-watch.js";
import { Workload } from "./workload.js";

export interface RoundPlace extends FaultyParts {
  readonly client: FlyteClient;
  readonly database: DatabaseEvidence;
  readonly journal: string;
}

export interface RoundOptions {
  readonly prefix: string;
  readonly fault: Fault;
  /** Duration of the fault, ms. */
  readonly holdMs: number;
  readonly running: number;
  readonly most: number;
  /** Timeout for the last end after the fault, ms. */
  readonly patienceMs: number;
  /** Timeout for records that follow the end of an execution, ms. */
  readonly settleMs: number;
}

export interface RoundResult {
  /** Number of executions and their children. */
  readonly executions: number;
  /** Time from the end of the fault to the last end, ms. */
  readonly recoveryMs: number;
  /** Findings of {@link lostEnds}, and executions that did not end. */
  readonly lost: readonly string[];
}

/** Time without a change after which the findings are final, ms, provided that no row is open. */
const STILL_MS = 20_000;
/** Concurrent calls while gathering evidence. */
const READERS = 6;
const LOOK_AGAIN_MS = 1_000;

/** Injects a fault into a stack that runs executions, and gathers evidence about each. */
export async function oneRound(place: RoundPlace, options: RoundOptions): Promise<RoundResult> {
  const { prefix, fault, holdMs, running, most, patienceMs } = options;
  const starts = watchStarts(place.database, prefix);
  const workload = new Workload(place.client, { prefix, running, most, patienceMs });
  try {
    await someRun(place, { prefix, running });
    const endFault = beginFault(fault, place);
    await sleep(holdMs);
    endFault();
    const over = Date.now();
    const open = await workload.end();
    const recoveryMs = Date.now() - over;
    if (open.length > 0) return { executions: workload.asked.length, recoveryMs, lost: open };
    const settled = await settledLosses(place, { asked: workload.asked, options, firstStarts: starts.first });
    return { ...settled, recoveryMs };
  } finally {
    await starts.stop();
  }
}

/** Waits until a third of the executions have running tasks. */
async function someRun({ journal }: RoundPlace, { prefix, running }: Pick<RoundOptions, "prefix" | "running">): Promise<void> {
  const begun = () =>
    new Set(
      readJournal(journal)
        .filter(({ key }) => key.startsWith(prefix))
        .map(({ execution }) => execution),
    ).size;
  for (const deadline = Date.now() + 60_000; begun() < running / 3 && Date.now() < deadline; ) await sleep(100);
}

interface Asking {
  readonly asked: readonly Asked[];
  readonly options: RoundOptions;
  readonly firstStarts: ReadonlyMap<string, bigint>;
}

/** Gathers evidence again while a missing record may still arrive. */
async function settledLosses(place: RoundPlace, asking: Asking): Promise<Pick<RoundResult, "executions" | "lost">> {
  const whole = new Map<string, ExecutionRecord>();
  let before = -1;
  let changedAt = Date.now();
  for (const deadline = Date.now() + asking.options.settleMs; ; await sleep(LOOK_AGAIN_MS)) {
    const evidence = await gather(place, asking, whole);
    const lost = lostEnds(evidence);
    if (lost.length !== before) changedAt = Date.now();
    before = lost.length;
    const still = Date.now() - changedAt > STILL_MS && !lost.some((line) => line.includes("has not ended"));
    if (lost.length === 0 || still || Date.now() > deadline) return { executions: evidence.asked.length, lost };
    // Complete records need no second read.
    for (const [name, record] of evidence.records) if (!lost.some((line) => line.includes(name))) whole.set(name, record);
  }
}

async function gather(
  { client, database, journal }: RoundPlace,
  { asked, options, firstStarts }: Asking,
  known: ReadonlyMap<string, ExecutionRecord>,
): Promise<Evidence> {
  const byName = new Map(asked.map((each) => [each.name, each]));
  const children = (await database.children(options.prefix)).flatMap(({ name, parent }): Asked[] => {
    const asker = byName.get(parent);
    const shape = asker && expectedEnd(asker.shape, asker).child;
    return asker === undefined || shape === undefined ? [] : [{ name, shape, x: asker.x }];
  });
  const all = [...asked, ...children];
  const records = new Map(known);
  const left = all.map(({ name }) => name).filter((name) => !records.has(name));
  const read = async () => {
    for (let name = left.pop(); name !== undefined; name = left.pop())
      records.set(name, await readExecution(client, { project: TARGET.project, domain: TARGET.domain, name }));
  };
  await Promise.all(Array.from({ length: READERS }, read));
  const lines = readJournal(journal).filter(({ execution }) => records.has(execution));
  return {
    asked: all,
    records,
    rows: await database.rows(options.prefix),
    journal: lines,
    firstStarts,
    podsLost: losesPods(options.fault),
  };
}
