import { join } from "node:path";
import { integerLiteral as integer } from "@flyte-ts/domain/literal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExampleRuns, examplesFolder } from "./example-runs.js";

/**
 * Runs examples/python with unmodified pyflyte: branches, sub-workflows and every kind of failure.
 *
 * @param timeoutMs timeout of one execution, ms
 */
export function exampleCases(start: () => Promise<ExampleRuns>, timeoutMs = 150_000): void {
  const TIMEOUT = timeoutMs + 20_000;
  let runs: ExampleRuns;

  beforeAll(async () => {
    runs = await start();
    runs.timeoutMs = timeoutMs;
  }, 900_000);
  afterAll(() => runs?.stop(), 120_000);

  test(
    "pyflyte runs a script remotely and waits for it",
    () => {
      const output = runs.pyflyte(
        "run",
        "--remote",
        "--wait",
        "--poll-interval",
        "1",
        join(examplesFolder, "example.py"),
        "training_workflow",
        "--hyperparameters",
        '{"C": 0.4}',
      );
      expect(output).toMatch(/Execution \S+ has succeeded/);
    },
    TIMEOUT,
  );

  describe("branches", () => {
    test(
      "run each alternative",
      async () => {
        expect(await runs.run("branch.collatz_step", { n: integer(10) })).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 5 } });
        expect(await runs.run("branch.sized", { n: integer(20) })).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 61 } });
      },
      TIMEOUT,
    );

    test(
      "fail when no alternative matches",
      async () => {
        const { phase, error } = await runs.run("branch.sized", { n: integer(500) });
        expect(phase).toBe("FAILED");
        expect(error.message).toContain("n is too large");
      },
      TIMEOUT,
    );
  });

  test(
    "sub-workflows run inside their parent and show their nodes",
    async () => {
      const { phase, execution, outputs } = await runs.run("subworkflow.sum_of_five");
      expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 15 }]);
      expect(await runs.nodePhases(execution, "n0")).toMatchObject({ "n0-0-n0": "SUCCEEDED", "n0-0-n1": "SUCCEEDED" });
    },
    TIMEOUT,
  );

  describe("failures", () => {
    test(
      "are retried until an attempt succeeds",
      async () => {
        const { phase, execution, outputs } = await runs.run("failures.recovers");
        expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 2 }]);
        expect(await runs.attempts(execution, "n0")).toEqual(["FAILED", "FAILED", "SUCCEEDED"]);
      },
      TIMEOUT,
    );

    test(
      "contain the Python error of a task that always fails",
      async () => {
        const { phase, error } = await runs.run("failures.always_fails");
        expect(phase).toBe("FAILED");
        expect(error.message).toContain("ZeroDivisionError");
      },
      TIMEOUT,
    );

    test(
      "include the timeout of a task",
      async () => {
        const { phase, error, execution } = await runs.run("failures.times_out");
        expect(phase).toBe("FAILED");
        expect(error.code).toBe("RetriesExhausted|TimeoutExpired");
        expect(await runs.attempts(execution, "n0")).toEqual(["ABORTED"]);
      },
      TIMEOUT,
    );

    test(
      "run the failure node and keep the workflow's own error",
      async () => {
        const { phase, error, execution } = await runs.run("failures.cleans_up");
        expect(phase).toBe("FAILED");
        expect(error.message).toContain("ZeroDivisionError");
        expect(await runs.nodePhases(execution)).toMatchObject({ n1: "FAILED", fn0: "SUCCEEDED" });
      },
      TIMEOUT,
    );

    test(
      "abort running nodes with FAIL_IMMEDIATELY",
      async () => {
        const { phase, execution } = await runs.run("failures.fails_immediately");
        expect(phase).toBe("FAILED");
        expect(await runs.nodePhases(execution)).toMatchObject({ n0: "FAILED", n1: "ABORTED" });
      },
      TIMEOUT,
    );

    test(
      "let running nodes finish with FAIL_AFTER_EXECUTABLE_NODES_COMPLETE",
      async () => {
        const { phase, execution } = await runs.run("failures.fails_at_the_end");
        expect(phase).toBe("FAILED");
        expect(await runs.nodePhases(execution)).toMatchObject({ n0: "FAILED", n1: "SUCCEEDED" });
      },
      TIMEOUT,
    );
  });
}
