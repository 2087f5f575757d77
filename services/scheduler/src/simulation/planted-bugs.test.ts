import { seededRandom } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import type { CatchUpPolicy } from "../schedule.js";
import { killedInTurn, throughOutages } from "./rough-times.js";
import type { Spoil } from "./world.js";

/** Reports a schedule with another policy than its own. */
const policy = (from: CatchUpPolicy, to: CatchUpPolicy): Spoil => ({
  schedule: (schedule) => (schedule.catchUp === from ? { ...schedule, catchUp: to } : schedule),
});

const bugs: Readonly<Record<string, { readonly spoil: Spoil; readonly where: typeof killedInTurn; readonly shows: RegExp }>> = {
  "a run is recorded before it is started": {
    spoil: {
      store: (store) => ({
        ...store,
        claim: async (schedule, doneThrough) => {
          const claim = await store.claim(schedule, doneThrough);
          const next = schedule.recurrence.next(doneThrough);
          if (claim.won && next !== undefined) await store.advance(schedule, next);
          return claim;
        },
      }),
    },
    where: killedInTurn,
    shows: /was not started/,
  },
  "progress is lost with its replica": {
    spoil: { store: (store) => ({ ...store, open: async () => new Map(), advance: async () => {} }) },
    where: killedInTurn,
    shows: /was not started/,
  },
  "a claim of one that died never ends": {
    spoil: {
      store: (store) => {
        const mine = new Set<string>();
        return {
          ...store,
          claim: async (schedule, doneThrough) => {
            const claim = await store.claim(schedule, doneThrough);
            const id = `${schedule.key} ${doneThrough}`;
            if (claim.won && !everClaimed.has(id)) mine.add(id);
            everClaimed.add(id);
            return claim.won && !mine.has(id)
              ? { won: false, progress: { activatedAt: schedule.activatedAt, doneThrough, claimedForMs: 1_000 } }
              : claim;
          },
        };
      },
    },
    where: killedInTurn,
    shows: /was not started/,
  },
  "names say nothing": { spoil: { forgetsNames: true }, where: killedInTurn, shows: /was started 2 times/ },
  "all, where the last one was wanted": { spoil: policy("last", "all"), where: throughOutages, shows: /were made up for/ },
  "the last one, where all were wanted": { spoil: policy("all", "last"), where: throughOutages, shows: /was not started/ },
  "the last one, where none was wanted": { spoil: policy("none", "last"), where: throughOutages, shows: /was made up for/ },
  "none, where the last one was wanted": { spoil: policy("last", "none"), where: throughOutages, shows: /was not made up for/ },
};

const everClaimed = new Set<string>();

test.each(Object.keys(bugs))(
  "the simulation finds: %s",
  async (name) => {
    const { spoil, where, shows } = bugs[name] as (typeof bugs)[string];
    const found: string[] = [];
    for (let seed = 0; seed < 8 && !found.some((problem) => shows.test(problem)); seed++) {
      everClaimed.clear();
      found.push(...(await where({ random: seededRandom(seed), spoil })).problems);
    }
    expect(found.find((problem) => shows.test(problem))).toBeDefined();
  },
  240_000,
);
