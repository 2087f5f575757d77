import { describe, expect, it } from "vitest";
import { simulate } from "./simulate.js";

const only = process.env["SIM_SEED"];
const seeds = Number(process.env["SIM_SEEDS"] ?? 2_000);
const from = Number(process.env["SIM_FROM"] ?? 1);

describe("the engine in a world that fails", () => {
  it("keeps its word, whatever the seed", { timeout: 600_000 }, () => {
    const list = only === undefined ? Array.from({ length: seeds }, (_, index) => from + index) : [Number(only)];
    const broken: string[] = [];
    for (const seed of list) {
      const result = simulate({ seed, trace: only !== undefined });
      if (only !== undefined) process.stdout.write(`${result.trace.join("\n")}\n`);
      if (result.violations.length > 0)
        broken.push(`SIM_SEED=${seed}: ${result.violations.map(({ invariant, text }) => `${invariant}: ${text}`).join("; ")}`);
    }
    expect(broken.slice(0, 10)).toEqual([]);
  });
});
