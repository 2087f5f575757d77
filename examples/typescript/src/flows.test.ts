import type { AnyEntity, Entity } from "@flyte-ts/sdk";
import { compile, mock, type NodeRecord, runLocal, testContext } from "@flyte-ts/sdk/testing";
import type { Fields } from "@flyte-ts/sdk/types";
import { describe, expect, test } from "vitest";
import { CASES } from "./cases.ts";
import { guarded } from "./flows/graphs/branches.ts";
import { references } from "./mixed/references.ts";
import { caching, contents, slow } from "./flows/tasks/caching.ts";
import { containers } from "./flows/tasks/containers.ts";
import { failures, flaky, notify } from "./flows/tasks/failures.ts";
import { fit, getData, trainingWorkflow } from "./flows/train.ts";

/** Runs an example whose types are known at run time alone. */
const runAny = (entity: AnyEntity, inputs: object, options: Parameters<typeof runLocal>[2]) =>
  runLocal(entity as Entity<Fields, undefined>, inputs as never, options) as Promise<{
    readonly outputs: unknown;
    readonly nodes: readonly NodeRecord[];
  }>;

const succeeding = CASES.filter(({ error }) => error === undefined);
const failing = CASES.filter(({ error }) => error !== undefined);

describe("each example runs in this process", () => {
  test.each(succeeding)("$name $inputs", async ({ entity, inputs, outputs, signals = {}, mocks = [], secrets = {} }) => {
    const run = await runAny(entity, inputs, { signals, mocks, secrets });
    expect({ outputs: run.outputs }).toMatchObject({ outputs });
    expect(run.nodes.every(({ phase }) => phase === "SUCCEEDED")).toBe(true);
  });

  test.each(failing)("$name $inputs fails", async ({ entity, inputs, error }) => {
    await expect(runAny(entity, inputs, {})).rejects.toThrow(error);
  });
});

describe("the server's compiler accepts each workflow", () => {
  const workflows = new Map(CASES.filter(({ entity }) => entity.kind === "workflow").map(({ name, entity }) => [name, entity]));
  test.each([...workflows])("%s", (_name, entity) => {
    expect(compile(entity as Entity<Fields, undefined>)).toMatchObject({ ok: true, errors: [] });
  });
});

describe("runs", () => {
  test("nodes have ids, attempts and decks", async () => {
    const data = mock(getData, () => [{ alcohol: 13, target: 2 }]);
    const { nodes, decks, outputs } = await runLocal(trainingWorkflow, { hyper: { C: 0.4, maxIterations: 1 } }, { mocks: [data] });
    expect(nodes.map(({ id }) => id)).toEqual(["n0", "n1", "fit"]);
    expect(data.calls).toHaveLength(1);
    expect(decks["fit"]).toContain("C = 0.4");
    expect(JSON.parse(await outputs.model.text())).toHaveLength(2);
  });

  test("retries are made, and a failure handler gets the error", async () => {
    const handled = mock(notify, () => undefined);
    const { nodes } = await runLocal(failures, { x: 1 });
    expect(nodes.find(({ id }) => id === "n0")?.attempts).toBe(3);
    await expect(runLocal(failures, { x: -1 }, { mocks: [handled, mock(flaky, () => 2)] })).rejects.toThrow("-1 is negative");
    expect(handled.calls).toMatchObject([{ x: -1, err: { failedNode: "n1" } }]);
  });

  test("a cached call is not made again", async () => {
    const { nodes } = await runLocal(caching, { x: 4 });
    expect(nodes.map(({ id, cached }) => [id, cached])).toEqual([
      ["first", false],
      ["second", true],
    ]);
    await expect(slow.run({ x: 5, label: "" })).resolves.toBe(25);
  });

  test("files of equal content hit the cache", async () => {
    const { nodes } = await runLocal(contents, { text: "some text" });
    expect(nodes.filter(({ id }) => id === "first" || id === "second").map(({ id, cached }) => [id, cached])).toEqual([
      ["first", false],
      ["second", true],
    ]);
  });

  test("a reference needs a mock", async () => {
    await expect(runLocal(references, { values: [1, 3] })).rejects.toThrow("give a mock for it");
  });

  test("a raw container needs a mock", async () => {
    await expect(runLocal(containers, { text: "a" })).rejects.toThrow("it has no function that runs in this process");
  });

  test("a branch without a matching arm fails with its message", async () => {
    await expect(runLocal(guarded, { x: -1 })).rejects.toThrow("x must be positive");
  });

  test("a function is tested alone", async () => {
    const table = {
      uri: "memory:",
      format: "rows",
      async *rows() {
        yield { alcohol: 13, target: 1 };
      },
    };
    expect(await fit.fn({ table, hyper: { C: 2, maxIterations: 5 } }, testContext({ attempt: 1 }))).toMatchObject({ iterations: 5 });
  });
});
