import { create, toBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { WorkflowFormatError } from "@flyte-ts/workflow-crd";
import { expect, test } from "vitest";
import { GraphCache } from "./graph-cache.js";

/** A graph of the start node, one task and the end node. */
function closure({ task = "work", cpu = "" } = {}): Uint8Array {
  const id = { project: "p", domain: "d", name: task, version: "1" };
  return toBinary(
    CompiledWorkflowClosureSchema,
    create(CompiledWorkflowClosureSchema, {
      primary: {
        template: {
          id: { ...id, name: "flow" },
          nodes: [
            { id: "start-node" },
            { id: "n0", target: { case: "taskNode", value: { reference: { case: "referenceId", value: id } } } },
            { id: "end-node" },
          ],
        },
        connections: { downstream: { "start-node": { ids: ["n0"] }, n0: { ids: ["end-node"] } } },
      },
      tasks: [
        {
          template: {
            id,
            type: "container",
            target: { case: "container", value: { image: "i", resources: { requests: cpu === "" ? [] : [{ name: 1, value: cpu }] } } },
          },
        },
      ],
    }),
  );
}

const resource = (limit = "2") => ({ executionConfig: { TaskResources: { Requests: { CPU: "1" }, Limits: { CPU: limit } } } });

/** Closures by address; counts the reads of each. */
function createCache() {
  const clock = { now: 1_000_000 };
  const graphs = new GraphCache(() => new Date(clock.now));
  const stands = new Map<string, Uint8Array>();
  const reads: string[] = [];
  const of = (address: string, limit?: string) =>
    graphs.get(resource(limit), {
      uri: address,
      read: async () => {
        reads.push(address);
        const bytes = stands.get(address);
        if (bytes === undefined) throw new WorkflowFormatError(address, "not found");
        return bytes;
      },
    });
  return { clock, stands, reads, of };
}

test("executions of one version share their graphs and one read of them, also if they start concurrently", async () => {
  const { of, stands, reads } = createCache();
  stands.set("a", closure());
  const [first, second] = await Promise.all([of("a"), of("a")]);
  expect(second).toBe(first);
  expect(await of("a")).toBe(first);
  expect([...first.root.nodes.keys()]).toEqual(expect.arrayContaining(["start-node", "n0", "end-node"]));
  expect(reads).toEqual(["a"]);
});

test("another closure or other platform settings give other graphs", async () => {
  const { of, stands } = createCache();
  stands
    .set("a", closure())
    .set("b", closure({ task: "other" }))
    .set("c", closure({ cpu: "3" }));
  const all = await Promise.all([of("a"), of("b"), of("c"), of("a", "4")]);
  expect(new Set(all).size).toBe(4);
});

test("a cached URI is checked after a minute; unchanged content stays shared, and changed content is read", async () => {
  const { of, stands, reads, clock } = createCache();
  stands.set("a", closure());
  const first = await of("a");
  clock.now += 59_999;
  expect(await of("a")).toBe(first);
  expect(reads).toEqual(["a"]);
  clock.now += 1;
  expect(await of("a")).toBe(first);
  expect(reads).toEqual(["a", "a"]);
  stands.set("a", closure({ task: "other" }));
  clock.now += 60_000;
  expect(await of("a")).not.toBe(first);
  // A clock that goes backwards does not extend freshness.
  clock.now -= 500_000;
  await of("a");
  expect(reads).toEqual(["a", "a", "a", "a"]);
});

test("a failed read is not cached, and every caller gets the error", async () => {
  const { of, stands } = createCache();
  const lost = [of("a"), of("a")];
  await Promise.all(lost.map(async (answer) => expect(answer).rejects.toThrow("not found")));
  stands.set("a", closure().subarray(1));
  const broken = [of("a"), of("a")];
  await Promise.all(broken.map(async (answer) => expect(answer).rejects.toThrow(WorkflowFormatError)));
  await expect(of("a")).rejects.toThrow(WorkflowFormatError);
  stands.set("a", closure());
  expect((await of("a")).root.nodes.size).toBe(3);
});
