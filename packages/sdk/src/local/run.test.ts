import { describe, expect, test } from "vitest";
import { RecoverableError } from "../entity/errors.js";
import { eager, task } from "../entity/task.js";
import { workflow } from "../entity/workflow.js";
import { each } from "../graph/each.js";
import { signal } from "../graph/gate.js";
import { FolderCache } from "./cache.js";
import { NodeFailed } from "./local-error.js";
import { mock } from "../testing/mock.js";
import { runLocal } from "../testing/run-local.js";
import { t } from "../type/t.js";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

describe("local runs", () => {
  test("values are encoded and decoded on each edge", async () => {
    const make = task({ outputs: t.object({ at: t.datetime, took: t.duration }) }, () => ({ at: new Date(1.9), took: "2s" }));
    const show = task({ inputs: { value: t.object({ at: t.datetime, took: t.duration }) }, outputs: t.string }, ({ value: { at, took } }) =>
      [at instanceof Date, at.getTime(), took.milliseconds].join(" "),
    );
    const { outputs } = await runLocal(
      workflow({ outputs: t.string }, () => show({ value: make() })),
      {},
    );
    expect(outputs).toBe("true 1 2000");
  });

  test("an attribute of an object has the type of its field", async () => {
    const make = task({ outputs: t.object({ n: t.int, f: t.float, at: t.datetime, list: t.list(t.object({ s: t.string })) }) }, () => {
      return { n: 2, f: 2, at: new Date(5), list: [{ s: "x" }] };
    });
    const take = task(
      { inputs: { n: t.int, f: t.float, at: t.datetime, list: t.list(t.object({ s: t.string })), s: t.string }, outputs: t.string },
      (inputs) => JSON.stringify(inputs),
    );
    const flow = workflow({ outputs: t.string }, () => {
      const { n, f, at, list } = make();
      return take({ n, f, at, list, s: list[0]!.s });
    });
    expect(JSON.parse((await runLocal(flow, {})).outputs)).toEqual({
      n: 2,
      f: 2,
      at: new Date(5).toISOString(),
      list: [{ s: "x" }],
      s: "x",
    });
  });

  test("independent nodes run together", async () => {
    const started: string[] = [];
    const both = Promise.withResolvers<void>();
    const meet = task({ inputs: { name: t.string } }, async ({ name }) => {
      started.push(name);
      if (started.length === 2) both.resolve();
      await both.promise;
    });
    await runLocal(
      workflow({}, () => {
        meet({ name: "a" });
        meet({ name: "b" });
      }),
      {},
    );
    expect(started.sort()).toEqual(["a", "b"]);
  });

  test("only recoverable errors are retried, as often as the node allows", async () => {
    const attempts: number[] = [];
    const fails = task({ inputs: { recoverable: t.boolean }, retries: 1 }, ({ recoverable }, { attempt }) => {
      attempts.push(attempt);
      throw recoverable ? new Error("outer", { cause: new RecoverableError("again") }) : new TypeError("final");
    });
    await expect(runLocal(fails, { recoverable: false })).rejects.toThrow("final");
    expect(attempts.splice(0)).toEqual([0]);
    const flow = workflow({}, () => void fails({ recoverable: true }, { retries: 3, name: "node" }));
    const failure = await runLocal(flow, {}).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NodeFailed);
    expect(failure).toMatchObject({ node: "node", cause: { message: "outer" } });
    expect(attempts).toEqual([0, 1, 2, 3]);
  });

  test("an attempt that lasts too long is aborted", async () => {
    const hangs = task({ timeout: "10ms" }, (_inputs, { signal: aborted }) => new Promise<void>(() => expect(aborted.aborted).toBe(false)));
    await expect(runLocal(hangs, {})).rejects.toThrow("lasted longer than 10 ms");
  });

  test("a checkpoint outlives an attempt", async () => {
    const resumes = task({ outputs: t.string, retries: 1 }, async (_inputs, { checkpoint }) => {
      const state = await checkpoint.read();
      if (state !== undefined) return new TextDecoder().decode(state);
      await checkpoint.write("state");
      throw new RecoverableError("first");
    });
    expect((await runLocal(resumes, {})).outputs).toBe("state");
  });

  test("outputs of another type are refused with their place", async () => {
    const wrong = task({ outputs: { list: t.list(t.int) } }, () => ({ list: [1, 2.5] }));
    await expect(runLocal(wrong, {})).rejects.toThrow("output list[1] must be an integer, found 2.5");
    const further = task({ outputs: { a: t.int } }, () => ({ a: 1, b: 2 }));
    await expect(runLocal(further, {})).rejects.toThrow("output b is not declared; declared: a");
  });

  test("a failed run starts no further nodes, unless its policy says so", async () => {
    const ran: string[] = [];
    const fail = task({ outputs: t.int }, () => {
      throw new Error("broken");
    });
    const slow = task({ outputs: t.int }, async () => {
      await new Promise(setImmediate);
      return 1;
    });
    const after = task({ inputs: { x: t.int } }, ({ x }) => void ran.push(`after ${x}`));
    const build = () => {
      fail();
      after({ x: slow() });
    };
    await expect(runLocal(workflow({}, build), {})).rejects.toThrow("broken");
    expect(ran).toEqual([]);
    await expect(runLocal(workflow({ failurePolicy: "fail-after-running" }, build), {})).rejects.toThrow("broken");
    expect(ran).toEqual(["after 1"]);
  });

  test("a map runs as many items at a time as it may, and needs enough of them", async () => {
    let running = 0;
    let most = 0;
    const item = task({ inputs: { x: t.int }, outputs: t.int }, async ({ x }) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      if (x > 2) throw new Error(`${x} is too large`);
      return x;
    });
    const flow = (ratio: number) =>
      workflow({ inputs: { xs: t.list(t.int) }, outputs: t.list(t.optional(t.int)) }, ({ xs }) =>
        each(item, { x: xs }, { concurrency: 2, minSuccessRatio: ratio }),
      );
    expect((await runLocal(flow(0.5), { xs: [1, 2, 3] })).outputs).toEqual([1, 2, null]);
    expect(most).toBe(2);
    await expect(runLocal(flow(0.9), { xs: [1, 2, 3] })).rejects.toThrow("3 is too large");
    expect((await runLocal(flow(0.9), { xs: [] })).outputs).toEqual([]);
  });

  test("gates need an answer of their type", async () => {
    const gated = workflow({ outputs: t.object({ a: t.int }) }, () => signal("answer", t.object({ a: t.int })));
    expect((await runLocal(gated, {}, { signals: { answer: { a: 1 } } })).outputs).toEqual({ a: 1 });
    await expect(runLocal(gated, {}, { signals: { answer: { a: "1" } } })).rejects.toThrow("signal answer.a must be an integer");
    await expect(runLocal(gated, {})).rejects.toThrow('the gate answer has no answer: give signals: { "answer": … }');
    const { outputs } = await runLocal(gated, {}, { answerGate: () => Promise.resolve({ a: 2 }) });
    expect(outputs).toEqual({ a: 2 });
  });

  test("a cache in a folder outlives a run", async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-cache-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const calls: number[] = [];
    const square = task({ name: "square", inputs: { x: t.int }, outputs: t.int, cache: true }, ({ x }) => calls.push(x) * x * x);
    const options = { cache: new FolderCache(folder) };
    expect((await runLocal(square, { x: 3 }, options)).outputs).toBe(9);
    const { nodes, outputs } = await runLocal(square, { x: 3 }, options);
    expect([outputs, nodes[0]?.cached, calls]).toEqual([9, true, [3]]);
  });

  test("secrets come from the options or from variables, without blanks around them", async () => {
    const reads = task({ outputs: t.string }, (_inputs, ctx) => ctx.secret("registry", "token"));
    expect((await runLocal(reads, {}, { secrets: { "registry/token": "s\n" } })).outputs).toBe("s");
    await expect(runLocal(reads, {})).rejects.toThrow("FLYTE_SECRET_REGISTRY_TOKEN");
  });

  test("children of an eager task are nodes, and their errors are thrown within it", async () => {
    const child = task({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => {
      if (x > 1) throw new RangeError("too large");
      return x;
    });
    const parent = eager({ outputs: t.string }, async () => {
      const first = await child.run({ x: 1 });
      return child
        .run({ x: 2 })
        .then(String)
        .catch((error: Error) => `${first} ${error.name} ${error.message}`);
    });
    const { outputs, nodes } = await runLocal(parent, {});
    expect(outputs).toBe("1 RangeError too large");
    expect(nodes.map(({ id, phase }) => [id, phase])).toEqual([
      ["n0", "SUCCEEDED"],
      ["n0-c0", "SUCCEEDED"],
      ["n0-c1", "FAILED"],
    ]);
  });

  test("an eager task runs as many children at a time as it may", async () => {
    let running = 0;
    let most = 0;
    const child = task({ inputs: { x: t.int }, outputs: t.int }, async ({ x }) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return x;
    });
    const parent = eager({ outputs: t.list(t.int), concurrency: 2 }, () => Promise.all([1, 2, 3, 4, 5].map((x) => child.run({ x }))));
    expect((await runLocal(parent, {})).outputs).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  test("a mock stands for a sub-workflow; its function may fail and be tried again", async () => {
    const inner = workflow({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => x);
    const outer = workflow({ outputs: t.int }, () => inner({ x: 1 }, { retries: 2 }));
    let calls = 0;
    const stand = mock(inner, ({ x }) => {
      if (++calls < 3) throw new RecoverableError("again");
      return x + 41;
    });
    const { outputs, nodes } = await runLocal(outer, {}, { mocks: [stand] });
    expect([outputs, nodes[0]?.attempts, stand.calls]).toEqual([42, 3, [{ x: 1 }, { x: 1 }, { x: 1 }]]);
  });

  test("run gives the values of an entity in this process", async () => {
    const double = task({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => x * 2);
    const flow = workflow({ inputs: { x: t.default(t.int, 4) }, outputs: { y: t.int } }, ({ x }) => ({ y: double({ x }) }));
    await expect(flow.run()).resolves.toEqual({ y: 8 });
    await expect(double.run({ x: 1.5 })).rejects.toThrow("input x must be an integer");
  });
});
