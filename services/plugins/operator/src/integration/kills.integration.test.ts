import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createInformer, CUSTOM_RESOURCE_DEFINITIONS, type Informer, isAlreadyExists, type KubeObject } from "@flyte-ts/kubernetes";
import { kubernetesSkipReason, seededRandom } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { OUTPUTS } from "../simulation/operator-world.js";
import { Attempt, DesiredState, PATIENCE, Phase, TEST_TIMEOUT_MS } from "./attempt.fixture.js";
import { findOperatorSets, type OperatorSet } from "./operator-sets.fixture.js";
import { playFailure, playRunning, playSuccess } from "./plays.fixture.js";
import { PLUGIN_PROGRAM, type PluginProcess, startPluginProcess } from "./plugin-process.fixture.js";
import { logger } from "./test-cluster.fixture.js";

const canRun = existsSync(PLUGIN_PROGRAM) && (await kubernetesSkipReason()) === undefined;
/** Kills, each of which concerns an attempt of each task type and end. The long form sets it. */
const { OPERATOR_KILLS, OPERATOR_MIXED } = process.env;
/** Minimum of attempts at once, of all task types. Default: one of each end. */
const MIXED = OPERATOR_MIXED === undefined ? undefined : Number(OPERATOR_MIXED);
const isLong = OPERATOR_KILLS !== undefined || MIXED !== undefined;
// The stand-in runs everywhere; the other operators where they are built. The Dask operator acts
// too slowly for the short form.
const isKilled = ({ taskTypes }: OperatorSet) => isLong || !taskTypes.includes("dask");
const sets = canRun ? (await findOperatorSets()).filter(isKilled) : [];
const together = (operators: readonly OperatorSet[]) => ({ title: operators.map(({ title }) => title).join(", "), operators });
/** Operators that run at once; in the long form each has the machine for itself. */
const groups = OPERATOR_KILLS === undefined || MIXED !== undefined ? [together(sets)] : sets.map((set) => together([set]));
const ROUNDS = MIXED === undefined ? Number(OPERATOR_KILLS ?? 4) : 1;
/** Kills of a round. */
const KILLS = MIXED === undefined ? 1 : Number(OPERATOR_KILLS ?? 8);
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 2 ** 31);
/** Longest time between a request and the kill, ms: a job starts, and ends, within it. */
const LIFE_MS = 1_500;
/** Interval of the requests for one attempt; there are many attempts. */
const FINALIZE_INTERVAL_MS = 10_000;

/** An end of an attempt: how it comes about, and what propeller requests and awaits. */
interface End {
  readonly title: string;
  readonly desired: DesiredState;
  readonly phase: Phase;
  act(attempt: Attempt): Promise<void> | void;
  /** Waits for what is true when the end is reported. */
  untilOver?(attempt: Attempt): Promise<void>;
}

const ENDS: readonly End[] = [
  // The cluster of a successful Ray job stays until it is finalized or its time to live has passed.
  { title: "success", desired: DesiredState.RUN, phase: Phase.SUCCEEDED, act: playSuccess },
  {
    title: "failure",
    desired: DesiredState.RUN,
    phase: Phase.FAILED,
    act: playFailure,
    // A retry may follow.
    untilOver: (attempt) => attempt.untilStopped(),
  },
  {
    title: "abort",
    desired: DesiredState.ABORT,
    phase: Phase.ABORTED,
    act: (attempt) => attempt.send(DesiredState.ABORT),
    untilOver: (attempt) => attempt.untilGone(),
  },
];

describe.skipIf(sets.length === 0).each(groups)(`the service is killed at random times (KILL_SEED=${SEED}): $title`, ({ operators }) => {
  let service: PluginProcess;
  const random = seededRandom(SEED);
  const stops: (() => Promise<unknown>)[] = [];
  /** Uids of the resources of each name. */
  const uids = new Map<string, Set<string>>();
  const types = operators.flatMap(({ taskTypes }) => (MIXED === undefined ? taskTypes.slice(0, 1) : taskTypes));
  /** Attempts of each type and end in a round. */
  const copies = MIXED === undefined ? 1 : Math.ceil(MIXED / (types.length * ENDS.length));

  beforeAll(async () => {
    service = await startPluginProcess(types);
    for (const set of operators) {
      // A slow server may not answer in time.
      for (const definition of set.definitions) await vi.waitFor(() => define(definition), PATIENCE);
      await vi.waitFor(() => Promise.all(set.definitions.map(requireServed)), PATIENCE);
      stops.push(await set.start(service));
    }
    for (const type of types) {
      const { operator } = new Attempt(service, type, { name: "watch" });
      const creations = countCreations(operator.ref);
      stops.push(() => creations.stop());
    }
    service.start();
  }, 420_000);
  afterAll(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await service?.stop();
  });

  const define = (definition: KubeObject) =>
    service.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  const requireServed = async ({ spec }: { readonly spec: object }) => {
    const { group, names, versions } = spec as { group: string; names: { kind: string }; versions: { name: string }[] };
    const resource = await service.client.findResource(`${group}/${versions[0]?.name}`, names.kind);
    if (resource === undefined) throw new Error(`the API server does not serve ${names.kind}`);
  };
  const countCreations = (ref: Attempt["operator"]["ref"]): Informer<KubeObject> =>
    createInformer<KubeObject>({
      client: service.client,
      ref,
      logger,
      onEvent: ({ object: { metadata } }) => {
        uids.set(metadata.name, (uids.get(metadata.name) ?? new Set()).add(metadata.uid ?? ""));
      },
    });
  /** Repeats the request, as propeller does, until an event of the phase has come. */
  const drive = async (attempt: Attempt, { desired, phase }: End) => {
    const ask = async () => {
      if (attempt.events.some(({ event }) => event?.phase === phase)) return;
      const last = attempt.events.at(-1);
      await attempt.send(desired, { knownPhase: last?.event?.phase ?? 0, pluginState: last?.pluginState ?? new Uint8Array() });
      throw new Error(`no ${Phase[phase]}`);
    };
    await vi.waitFor(ask, { ...PATIENCE, interval: 1_000 }).catch(async (cause: unknown) => {
      throw new Error(`${String(cause)}, but: ${await describeState(attempt)}`, { cause });
    });
  };
  /** Starts a job, and ends it after a random time. */
  const live = async (attempt: Attempt, { act }: End, lifeMs: number) => {
    attempt.writeFile("outputs.pb", OUTPUTS);
    playRunning(attempt);
    await attempt.send(DesiredState.RUN);
    await sleep(lifeMs);
    await act(attempt);
  };
  const ended: Attempt[] = [];

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    "round %i: after a kill, every attempt has had one job and reports its end",
    async (round) => {
      const lives = Array.from({ length: copies }, (_, copy) => copy).flatMap((copy) =>
        types.flatMap((type) =>
          ENDS.map((end) => ({
            attempt: new Attempt(service, type, { name: `kill-${round + copy}-${end.title}` }),
            end,
            lifeMs: random() * LIFE_MS * KILLS,
          })),
        ),
      );
      const lived = Promise.all(lives.map(({ attempt, end, lifeMs }) => live(attempt, end, lifeMs)));
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(random() * LIFE_MS);
        await service.kill();
        service.start();
      }
      await lived;
      await Promise.all(lives.map(({ attempt, end }) => drive(attempt, end)));
      for (const { attempt, end } of lives) {
        expect(uids.get(attempt.name)?.size ?? 0, attempt.name).toBeLessThanOrEqual(1);
        expect([...new Set(phases(attempt).filter(isEnd))], attempt.name).toEqual([Phase[end.phase]]);
      }
      await Promise.all(lives.map(async ({ attempt, end }) => end.untilOver?.(attempt)));
      ended.push(...lives.filter(({ end }) => end.phase !== Phase.ABORTED).map(({ attempt }) => attempt));
    },
    TEST_TIMEOUT_MS,
  );

  // Ended jobs prevent others of their names in the first 40 s of a process, and are deleted later.
  it.runIf(isLong)("no job and no pod is left when all attempts are finalized", { timeout: TEST_TIMEOUT_MS }, async () => {
    await Promise.all(ended.map((attempt) => attempt.finalize(FINALIZE_INTERVAL_MS)));
    expect(ended).toHaveLength(ROUNDS * copies * types.length * 2);
  });
});

function phases({ events }: Attempt): string[] {
  return events.map(({ event }) => Phase[event?.phase ?? 0] ?? "");
}

/** Last event of the attempt and the state of its resource, for a failed test. */
async function describeState(attempt: Attempt): Promise<string> {
  const { event } = attempt.events.at(-1) ?? {};
  const job = await attempt.exists();
  const described = job === undefined ? "no resource" : `resource with ${JSON.stringify({ ...job, metadata: undefined, spec: undefined })}`;
  return `${attempt.events.length} events, the last ${Phase[event?.phase ?? 0]} ${event?.reason}; ${described}`;
}

function isEnd(phase: string): boolean {
  return ENDS.some((end) => Phase[end.phase] === phase);
}
