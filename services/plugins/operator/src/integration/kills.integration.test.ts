import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createInformer, CUSTOM_RESOURCE_DEFINITIONS, type Informer, type KubeObject } from "@flyte-ts/kubernetes";
import { kubernetesSkipReason, seededRandom } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { OUTPUTS } from "../simulation/operator-world.js";
import { Attempt, DesiredState, PATIENCE, Phase, TEST_TIMEOUT_MS } from "./attempt.fixture.js";
import { findOperatorSets } from "./operator-sets.fixture.js";
import { playRunning, playSuccess } from "./plays.fixture.js";
import { PLUGIN_PROGRAM, type PluginProcess, startPluginProcess } from "./plugin-process.fixture.js";
import { logger } from "./test-cluster.fixture.js";

const canRun = existsSync(PLUGIN_PROGRAM) && (await kubernetesSkipReason()) === undefined;
// The stand-in runs everywhere; the training operator and KubeRay where they are built. The Dask
// operator acts too slowly for these rounds.
const sets = canRun ? (await findOperatorSets()).filter(({ taskTypes }) => !taskTypes.includes("dask")) : [];
const ROUNDS = Number(process.env["OPERATOR_KILLS"] ?? 8);
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 2 ** 31);
/** Longest time between a request and the kill, ms: a job starts, and ends, within it. */
const LIFE_MS = 1_500;

describe.skipIf(sets.length === 0)(`the service is killed at random times (KILL_SEED=${SEED})`, () => {
  let service: PluginProcess;
  const random = seededRandom(SEED);
  const stops: (() => Promise<unknown>)[] = [];
  /** Uids of the resources of each name. */
  const uids = new Map<string, Set<string>>();
  const types = sets.flatMap(({ taskTypes }) => taskTypes.slice(0, 1));

  beforeAll(async () => {
    service = await startPluginProcess(types);
    for (const set of sets) {
      for (const definition of set.definitions) await service.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
      await vi.waitUntil(async () => (await Promise.all(set.definitions.map(isServed))).every(Boolean), PATIENCE);
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

  const isServed = async ({ spec }: { readonly spec: object }) => {
    const { group, names, versions } = spec as { group: string; names: { kind: string }; versions: { name: string }[] };
    return (await service.client.findResource(`${group}/${versions[0]?.name}`, names.kind)) !== undefined;
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
  const drive = async (attempt: Attempt, desired: DesiredState, phase: Phase) =>
    vi.waitFor(
      async () => {
        if (attempt.events.some(({ event }) => event?.phase === phase)) return;
        const last = attempt.events.at(-1);
        await attempt.send(desired, { knownPhase: last?.event?.phase ?? 0, pluginState: last?.pluginState ?? new Uint8Array() });
        throw new Error(`no ${Phase[phase]}, but: ${attempt.events.map(({ event }) => Phase[event?.phase ?? 0]).join(", ")}`);
      },
      { ...PATIENCE, interval: 1_000 },
    );

  it.each(Array.from({ length: ROUNDS }, (_, round) => ({ round, type: types[round % types.length] ?? "" })))(
    "round $round: a kill leaves no second job of $type, and no pod",
    async ({ round, type }) => {
      const attempt = new Attempt(service, type, { name: `kill-${round}` });
      const aborts = round % 3 === 2;
      attempt.writeFile("outputs.pb", OUTPUTS);
      playRunning(attempt);
      await attempt.send(DesiredState.RUN);
      const [killMs, endMs] = [random() * LIFE_MS, random() * LIFE_MS];
      const end = sleep(endMs).then(() => (aborts ? attempt.send(DesiredState.ABORT) : playSuccess(attempt)));
      await sleep(killMs);
      await service.kill();
      service.start();
      await end;
      await drive(attempt, aborts ? DesiredState.ABORT : DesiredState.RUN, aborts ? Phase.ABORTED : Phase.SUCCEEDED);
      if (!aborts) await attempt.finalize();
      await attempt.untilGone();
      expect(uids.get(attempt.name)?.size ?? 0).toBeLessThanOrEqual(1);
      expect(attempt.events.filter(({ event }) => event?.phase === Phase.FAILED)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});
