import { seededRandom } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import type { CatchUpPolicy } from "../schedule.js";
import { randomRestarts, randomOutages } from "./chaos-scenarios.js";
import type { Fault } from "./world.js";

/** Reports a schedule with another policy than its own. */
const policy = (from: CatchUpPolicy, to: CatchUpPolicy): Fault => ({
  schedule: (schedule) => (schedule.catchUp === from ? { ...schedule, catchUp: to } : schedule),
});

const bugs: Readonly<Record<string, { readonly spoil: Fault; readonly where: typeof randomRestarts; readonly shows: RegExp }>> = {
  "a run is recorded before it is started": {
    spoil: {
      store: (store) => ({
        ...store,
        acquireLease: async (schedule, doneThrough) => {
          const claim = await store.acquireLease(schedule, doneThrough);
          const next = schedule.recurrence.next(doneThrough);
          if (claim.acquired && next !== undefined) await store.advance(schedule, next);
          return claim;
        },
      }),
    },
    where: randomRestarts,
    shows: /was not started/,
  },
  "progress is lost with its replica": {
    spoil: { store: (store) => ({ ...store, ensureRows: async () => new Map(), advance: async () => {} }) },
    where: randomRestarts,
    shows: /was not started/,
  },
  "a claim of one that died never ends": {
    spoil: {
      store: (store) => {
        const mine = new Set<string>();
        return {
          ...store,
          acquireLease: async (schedule, doneThrough) => {
            const claim = await store.acquireLease(schedule, doneThrough);
            const id = `${schedule.key} ${doneThrough}`;
            if (claim.acquired && !everClaimed.has(id)) mine.add(id);
            everClaimed.add(id);
            return claim.acquired && !mine.has(id)
              ? { acquired: false, watermark: { activatedAt: schedule.activatedAt, watermark: doneThrough, leaseRemainingMs: 1_000 } }
              : claim;
          },
        };
      },
    },
    where: randomRestarts,
    shows: /was not started/,
  },
  "names say nothing": { spoil: { allowDuplicates: true }, where: randomRestarts, shows: /was started 2 times/ },
  "all, where the last one was wanted": { spoil: policy("last", "all"), where: randomOutages, shows: /were made up for/ },
  "the last one, where all were wanted": { spoil: policy("all", "last"), where: randomOutages, shows: /was not started/ },
  "the last one, where none was wanted": { spoil: policy("none", "last"), where: randomOutages, shows: /was made up for/ },
  "none, where the last one was wanted": { spoil: policy("last", "none"), where: randomOutages, shows: /was not made up for/ },
};

const everClaimed = new Set<string>();

test.each(Object.keys(bugs))(
  "the simulation finds: %s",
  async (name) => {
    const { spoil, where, shows } = bugs[name] as (typeof bugs)[string];
    const found: string[] = [];
    for (let seed = 0; seed < 8 && !found.some((problem) => shows.test(problem)); seed++) {
      everClaimed.clear();
      found.push(...(await where({ random: seededRandom(seed), fault: spoil })).problems);
    }
    expect(found.find((problem) => shows.test(problem))).toBeDefined();
  },
  240_000,
);
