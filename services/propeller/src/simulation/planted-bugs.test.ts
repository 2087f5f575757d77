import { describe, expect, it } from "vitest";
import type { WorkflowSpec } from "./build/workflow.js";
import type { Invariant } from "./invariants.js";
import type { PlantedBug } from "./options.js";
import { simulate } from "./simulate.js";
import type { Faults } from "./world/faults.js";

const CHAIN: WorkflowSpec = {
  main: {
    nodes: Object.fromEntries(
      [0, 1, 2, 3, 4, 5].map(
        (at) => [`n${at}`, { kind: "task", inputs: { a: at === 0 ? 1 : `n${at - 1}.o0` }, timeoutMs: 120_000 }] as const,
      ),
    ),
  },
};

// An invariant that finds nothing is worth nothing: each must find the mistake that it is there for.
const PLANTED: readonly {
  readonly invariant: Invariant;
  readonly bug: PlantedBug;
  readonly worlds: number;
  readonly faults?: Partial<Faults>;
  readonly plain?: boolean;
  /** Instead of random ones, where only few of those can show it. */
  readonly workflow?: WorkflowSpec;
}[] = [
  { invariant: "oneLivePod", bug: "pretendsAborted", worlds: 1_000 },
  { invariant: "phasesForward", bug: "writesWithoutVersion", worlds: 1_000 },
  { invariant: "oneTerminalEvent", bug: "effectsBeforeWrites", worlds: 500 },
  { invariant: "everyExecutionEnds", bug: "noTimers", worlds: 200 },
  { invariant: "everyExecutionEnds", bug: "dropsAborts", worlds: 200 },
  { invariant: "noOrphans", bug: "pluginLeavesAborted", worlds: 200 },
  {
    invariant: "noOrphans",
    bug: "forgetsFollowers",
    worlds: 5_000,
    plain: true,
    workflow: CHAIN,
    faults: { propellerCrash: 0.08, busDelay: 20, writeUnknown: 0.3 },
  },
  { invariant: "slicesStand", bug: "rootBeforeSlices", worlds: 200 },
  { invariant: "slicesStand", bug: "dropsSlicesEarly", worlds: 200 },
  { invariant: "noOrphans", bug: "forgetsChildren", worlds: 2_000 },
  { invariant: "arraysInBounds", bug: "crowdsArrays", worlds: 500 },
  { invariant: "noOrphans", bug: "pretendsStopped", worlds: 500 },
  { invariant: "oneComputes", bug: "grantsTwice", worlds: 1_000 },
  { invariant: "cacheIsTrue", bug: "mixesUp", worlds: 300 },
  { invariant: "reusesTheSame", bug: "forgetsTasks", worlds: 300 },
  { invariant: "nothingLost", bug: "finishesUnrecorded", worlds: 200 },
];

describe("the simulation finds", () => {
  for (const { invariant, bug, worlds, faults = {}, plain = false, workflow } of PLANTED) {
    it(`${bug} by ${invariant}`, { timeout: 300_000 }, () => {
      let found: number | undefined;
      for (let seed = 1; seed <= worlds && found === undefined; seed++) {
        if (
          simulate({ seed, bug, faults, plain, ...(workflow && { workflow }) }).violations.some(
            (violation) => violation.invariant === invariant,
          )
        )
          found = seed;
      }
      expect(found, `a world among ${worlds} in which it shows`).toBeDefined();
    });
  }
});
