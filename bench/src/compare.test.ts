import { expect, test } from "vitest";
import { compare, comparisonTable } from "./compare.js";
import type { Measurement, WorkloadOptions } from "./run-workload.js";

const workload = {
  project: "p",
  domain: "d",
  topology: "chain",
  size: 20,
  executions: 1,
  taskKind: "echo",
  sleepSeconds: 1,
  timeoutMs: 1,
} satisfies Omit<WorkloadOptions, "endpoint">;

test("a comparison alternates the sides with a cooldown between runs and takes medians of the runs without failures", async () => {
  const order: string[] = [];
  const given: Record<string, Partial<Measurement>[]> = {
    a: [{ seconds: 0.5 }, { seconds: 99, failed: 1 }, { seconds: 0.5 }],
    b: [{ seconds: 3 }, { seconds: 1 }, { seconds: 2 }],
  };
  const run = ({ endpoint }: WorkloadOptions): Promise<Measurement> => {
    order.push(endpoint);
    return Promise.resolve({
      ...workload,
      medianDurationSeconds: 0,
      registrationSeconds: 0,
      seconds: 0,
      failed: 0,
      ...given[endpoint]?.shift(),
    });
  };
  const cooldown = () => Promise.resolve(order.push("-"));
  const compared = await compare({ candidate: "a", baseline: "b", workloads: [workload], rounds: 3, cooldown, run });
  expect(order.join("")).toBe("-a-b-b-a-a-b");
  expect(compared).toMatchObject([{ candidate: 0.5, baseline: 2, ratio: 4, failedCandidate: 1, failedBaseline: 0 }]);
  expect(comparisonTable(compared, { candidate: "ours", baseline: "theirs" })).toBe(
    "| workload | ours | theirs | ratio |\n|---|---|---|---|\n| chain 20 | 0.50 s (1 failed) | 2.00 s | 4.0 × |",
  );
});

test("a side on which every run failed has no duration", async () => {
  const run = ({ endpoint }: WorkloadOptions): Promise<Measurement> =>
    Promise.resolve({ ...workload, medianDurationSeconds: 0, registrationSeconds: 0, seconds: 1, failed: endpoint === "b" ? 1 : 0 });
  const cooldown = () => Promise.resolve();
  const [row] = await compare({ candidate: "a", baseline: "b", workloads: [workload], rounds: 1, cooldown, run });
  expect(row?.ratio).toBeNaN();
  expect(comparisonTable(row === undefined ? [] : [row], { candidate: "a", baseline: "b" })).toContain("| 1.00 s | — (1 failed) | — |");
});
