import { create } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { describe, expect, test } from "vitest";
import { decodeOutputs, encodeInputs } from "../codec/interface-values.js";
import { definitionOf, type TaskDefinition } from "../entity/definition.js";
import type { AnyEntity } from "../entity/entity.js";
import { dynamic, task } from "../entity/task.js";
import { LocalFileStore } from "../file/local-store.js";
import { testContext } from "../testing/test-context.js";
import { t } from "../type/t.js";
import { LOCAL_REGISTRATION } from "./registration.js";
import { runTask, type TaskResult } from "./run-task.js";

const files = new LocalFileStore("/tmp");

async function run(entity: AnyEntity, inputs: object): Promise<TaskResult> {
  const definition = definitionOf(entity) as TaskDefinition;
  return runTask(definition, {
    inputs: await encodeInputs(definition, inputs, files),
    files,
    context: testContext(),
    registration: LOCAL_REGISTRATION,
  });
}

describe("dynamic tasks", () => {
  const double = task({ name: "double", inputs: { x: t.int }, outputs: t.int }, ({ x }) => 2 * x);
  const doubled = dynamic(
    { name: "doubled", inputs: { xs: t.list(t.int) }, outputs: { ys: t.list(t.int), first: t.optional(t.int) } },
    ({ xs }) => {
      const ys = xs.map((x) => double({ x }));
      return { ys, first: ys[0] };
    },
  );

  test("a dynamic task with nodes returns their graph", async () => {
    expect(await run(doubled, { xs: [1, 2] })).toMatchObject({ futures: { minSuccesses: 2n } });
  });

  test("a dynamic task without nodes returns its constants as outputs", async () => {
    const result = await run(doubled, { xs: [] });
    const outputs = "outputs" in result ? result.outputs : create(LiteralMapSchema);
    expect(await decodeOutputs(definitionOf(doubled), outputs, files)).toEqual({ ys: [], first: null });
  });

  test("a dynamic task without nodes and outputs succeeds", async () => {
    const nothing = dynamic({ name: "nothing", inputs: { xs: t.list(t.int) } }, ({ xs }) => xs.map((x) => double({ x })) as never);
    expect(await run(nothing, { xs: [] })).toMatchObject({ outputs: { literals: {} } });
  });
});
