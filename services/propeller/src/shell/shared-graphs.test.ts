import { create, toBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { WorkflowFormatError } from "@flyte-ts/workflow-crd";
import { expect, test } from "vitest";
import { SharedGraphs } from "./shared-graphs.js";

/** A graph from its start through one task to its end. */
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

test("executions of one version share their graphs, also those that begin at the same time", async () => {
  const graphs = new SharedGraphs();
  const [first, second] = await Promise.all([graphs.of(resource(), closure()), graphs.of(resource(), closure())]);
  expect(second).toBe(first);
  expect(await graphs.of(resource(), closure())).toBe(first);
  expect([...first.root.nodes.keys()]).toEqual(expect.arrayContaining(["start-node", "n0", "end-node"]));
});

test("another closure, or other rules of the platform, give other graphs", async () => {
  const graphs = new SharedGraphs();
  const first = await graphs.of(resource(), closure());
  const others = await Promise.all([
    graphs.of(resource(), closure({ task: "other" })),
    graphs.of(resource(), closure({ cpu: "3" })),
    graphs.of(resource("4"), closure()),
  ]);
  expect(new Set([first, ...others]).size).toBe(4);
});

test("what cannot be read is not remembered, and each who asked hears it", async () => {
  const graphs = new SharedGraphs();
  const broken = closure().subarray(1);
  const asked = [graphs.of(resource(), broken), graphs.of(resource(), broken)];
  for (const answer of asked) await expect(answer).rejects.toThrow(WorkflowFormatError);
  await expect(graphs.of(resource(), broken)).rejects.toThrow(WorkflowFormatError);
  expect((await graphs.of(resource(), closure())).root.nodes.size).toBe(3);
});
