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
  /** How long the fault lasts, ms. */
  readonly holdMs: number;
  readonly running: number;
  readonly most: number;
  /** For the last end after the fault, ms. */
  readonly patienceMs: number;
  /** For what is recorded after the end of its execution, ms. */
  readonly settleMs: number;
}

export interface RoundResult {
  /** Executions, and children of these. */
  readonly executions: number;
  /** From the end of the fault to the last end, ms. */
  readonly recoveryMs: number;
  /** Findings of {@link lostEnds}, and executions without an end. */
  readonly lost: readonly string[];
}

/** Nothing that is still recorded comes so long after the findings before it, ms, while no row is open. */
const STILL_MS = 20_000;
/** Calls at once when evidence is gathered. */
const READERS = 6;
const LOOK_AGAIN_MS = 1_000;

/** Lets a fault befall a stack on which executions run, and gathers what became of each. */
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

/** Waits until a third of the executions have tasks that run. */
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

/** Looks again while something is missing that may still be recorded. */
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
    // Whole ones need not be asked for again.
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
