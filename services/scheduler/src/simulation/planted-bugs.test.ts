import { seededRandom } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import type { CatchUpPolicy, Schedule } from "../schedule.js";
import { randomRestarts, randomOutages } from "./chaos-scenarios.js";
import type { Fault } from "./world.js";

/** Reports a schedule with another policy than its own. */
const policy = (from: CatchUpPolicy, to: CatchUpPolicy): Fault => ({
  schedule: (schedule) => (schedule.catchUp === from ? { ...schedule, catchUp: to } : schedule),
});

const bugs: Readonly<Record<string, { readonly fault: Fault; readonly where: typeof randomRestarts; readonly shows: RegExp }>> = {
  "a run is recorded before it is started": {
    fault: {
      store: (store) => ({
        ...store,
        acquireLease: async (schedule, watermark) => {
          const claim = await store.acquireLease(schedule, watermark);
          // A scheduler passes its complete schedules.
          const next = (schedule as Schedule).recurrence.next(watermark);
          if (claim.acquired && next !== undefined) await store.advance(schedule, next);
          return claim;
        },
      }),
    },
    where: randomRestarts,
    shows: /was not started/,
  },
  "the watermark is lost with its replica": {
    fault: { store: (store) => ({ ...store, ensureRows: async () => new Map(), advance: async () => {} }) },
    where: randomRestarts,
    shows: /was not started/,
  },
  "a claim of a crashed replica never expires": {
    fault: {
      store: (store) => {
        const own = new Set<string>();
        return {
          ...store,
          acquireLease: async (schedule, watermark) => {
            const claim = await store.acquireLease(schedule, watermark);
            const id = `${schedule.key} ${watermark}`;
            if (claim.acquired && !everClaimed.has(id)) own.add(id);
            everClaimed.add(id);
            return claim.acquired && !own.has(id)
              ? { acquired: false, watermark: { activatedAt: schedule.activatedAt, watermark, leaseRemainingMs: 1_000 } }
              : claim;
          },
        };
      },
    },
    where: randomRestarts,
    shows: /was not started/,
  },
  "execution names are not unique for a run": { fault: { allowDuplicates: true }, where: randomRestarts, shows: /was started 2 times/ },
  "policy last starts all missed runs": { fault: policy("last", "all"), where: randomOutages, shows: /were made up for/ },
  "policy all starts only the last missed run": { fault: policy("all", "last"), where: randomOutages, shows: /was not started/ },
  "policy none starts the last missed run": { fault: policy("none", "last"), where: randomOutages, shows: /was made up for/ },
  "policy last starts no missed run": { fault: policy("last", "none"), where: randomOutages, shows: /was not made up for/ },
};

const everClaimed = new Set<string>();

test.each(Object.keys(bugs))(
  "the simulation finds: %s",
  async (name) => {
    const { fault, where, shows } = bugs[name] as (typeof bugs)[string];
    const found: string[] = [];
    for (let seed = 0; seed < 8 && !found.some((problem) => shows.test(problem)); seed++) {
      everClaimed.clear();
      found.push(...(await where({ random: seededRandom(seed), fault })).problems);
    }
    expect(found.find((problem) => shows.test(problem))).toBeDefined();
  },
  240_000,
);
