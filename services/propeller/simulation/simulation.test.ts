import { describe, expect, it } from "vitest";
import { simulate, type SimulationResult } from "./simulate.js";

// SIM_SEED=n replays one world and prints its trace; SIM_SEEDS and SIM_FROM set the number of
// worlds, and the first one.
const only = process.env["SIM_SEED"];
const from = Number(process.env["SIM_FROM"] ?? 1);
const count = Number(process.env["SIM_SEEDS"] ?? 1_000);

function describeResult({ seed, violations }: SimulationResult): string {
  return `SIM_SEED=${seed}: ${violations.map(({ invariant, text }) => `${invariant}: ${text}`).join("; ")}`;
}

describe("the engine in a simulated world with faults", () => {
  it.skipIf(only !== undefined)(`keeps its invariants in worlds ${from} to ${from + count - 1}`, { timeout: 1_800_000 }, () => {
    const broken: string[] = [];
    const seen = { crashes: 0, reloads: 0, repairs: 0, sliced: 0, handedOver: 0, phases: new Set<string>() };
    for (let seed = from; seed < from + count && broken.length < 10; seed++) {
      const result = simulate({ seed });
      if (result.violations.length > 0) broken.push(describeResult(result));
      seen.crashes += result.crashes;
      seen.reloads += result.reloads;
      seen.repairs += result.repairs;
      if (result.slices > 0) seen.sliced++;
      if (result.handOvers > 0) seen.handedOver++;
      seen.phases.add(result.phase);
    }
    expect(broken).toEqual([]);
    // Faults must occur in enough worlds, and executions must reach every terminal phase.
    if (count < 1_000) return;
    expect([...seen.phases].sort()).toEqual(["ABORTED", "FAILED", "SUCCEEDED"]);
    for (const faults of [seen.crashes, seen.reloads, seen.repairs, seen.sliced, seen.handedOver])
      expect(faults).toBeGreaterThan(count / 20);
  });

  it.runIf(only !== undefined)(`keeps its invariants in world ${only}`, { timeout: 1_800_000 }, () => {
    const result = simulate({ seed: Number(only), trace: true });
    process.stdout.write(`${result.trace.join("\n")}\n`);
    expect(result.violations).toEqual([]);
  });

  it("runs the same way from the same seed", () => {
    const [first, second] = [simulate({ seed: 42, trace: true }), simulate({ seed: 42, trace: true })];
    expect(second).toEqual(first);
    expect(first.trace.length).toBeGreaterThan(10);
  });
});
