import { describe, expect, it } from "vitest";
import type { TaskSpec, WorkflowSpec } from "./fixtures/workflow.js";
import type { Invariant } from "./invariants.js";
import type { InjectedBug, SimulationOptions } from "./options.js";
import { simulate } from "./simulate.js";

/** A workflow of tasks only. */
function tasks(count: number, task: (at: number) => Partial<TaskSpec>): WorkflowSpec {
  const made = Array.from({ length: count }, (_, at) => [`n${at}`, { kind: "task", timeoutMs: 120_000, ...task(at) }] as const);
  return { main: { nodes: Object.fromEntries(made) } };
}

// Workflows of shapes that often expose certain mistakes. Random workflows vary so much that few of
// them do.
const RETRIED = tasks(6, () => ({ inputs: { a: 1 }, attempts: 4, timeoutMs: 1_000 }));
const CHAINS = tasks(36, (at) => ({ inputs: { a: at < 3 ? 1 : `n${at - 3}.o0` } }));
const EQUAL = tasks(8, (at) => ({ inputs: { a: 1 }, ...(at > 3 ? { after: [`n${at - 4}`] } : {}) }));

// Each invariant must detect the mistake that it exists for.
const PLANTED: readonly (Omit<SimulationOptions, "seed" | "bug"> & { readonly invariant: Invariant; readonly bug: InjectedBug })[] = [
  { invariant: "oneLivePod", bug: "pretendsAborted", plain: true, workflow: RETRIED },
  {
    invariant: "phasesForward",
    bug: "writesWithoutVersion",
    plain: true,
    workflow: RETRIED,
    faults: { staleRead: 0.4, writeUnknown: 0.2 },
  },
  { invariant: "oneTerminalEvent", bug: "effectsBeforeWrites" },
  { invariant: "everyExecutionEnds", bug: "noTimers" },
  { invariant: "everyExecutionEnds", bug: "dropsAborts" },
  { invariant: "noOrphans", bug: "pluginLeavesAborted" },
  {
    invariant: "noOrphans",
    bug: "forgetsFollowers",
    plain: true,
    workflow: CHAINS,
    faults: { propellerCrash: 0.02, busDelay: 20, writeUnknown: 0.8, busLoss: 0, pluginCrash: 0 },
  },
  {
    invariant: "noOrphans",
    bug: "forgetsStarts",
    plain: true,
    workflow: CHAINS,
    faults: { propellerCrash: 0.05, writeUnknown: 0.8, busLoss: 0, pluginCrash: 0 },
  },
  { invariant: "slicesStand", bug: "rootBeforeSlices" },
  { invariant: "slicesStand", bug: "dropsSlicesEarly" },
  { invariant: "noOrphans", bug: "forgetsChildren" },
  { invariant: "arraysInBounds", bug: "crowdsArrays" },
  { invariant: "endsComplete", bug: "forgetsOutputs" },
  { invariant: "endsComplete", bug: "forgetsBelow" },
  { invariant: "inputsThere", bug: "forgetsItems" },
  { invariant: "noOrphans", bug: "pretendsStopped" },
  { invariant: "oneComputes", bug: "grantsTwice", workflow: EQUAL },
  { invariant: "cacheIsTrue", bug: "mixesUp", workflow: EQUAL },
  { invariant: "reusesTheSame", bug: "forgetsTasks" },
  { invariant: "nothingLost", bug: "finishesUnrecorded" },
  { invariant: "onlyTheHolderActs", bug: "ignoresItsLease", propellers: 3 },
  { invariant: "everyExecutionEnds", bug: "takesUpNothing", propellers: 3 },
  { invariant: "everyExecutionEnds", bug: "waitsForEver", announced: true },
];

/** Maximum number of worlds tried for a mistake; each shows in at least one of thirty. */
const WORLDS = 1_000;

describe("the simulation finds", () => {
  for (const { invariant, bug, ...options } of PLANTED) {
    it(`${bug} by ${invariant}`, { timeout: 600_000 }, () => {
      let found: number | undefined;
      for (let seed = 1; seed <= WORLDS && found === undefined; seed++) {
        if (simulate({ ...options, seed, bug }).violations.some((violation) => violation.invariant === invariant)) found = seed;
      }
      expect(found, `a world among ${WORLDS} in which it shows`).toBeDefined();
    });
  }
});
