import { describe, expect, test } from "vitest";
import { definitionOf } from "../entity/definition.js";
import type { Entity } from "../entity/entity.js";
import { LOCAL_REGISTRATION } from "../describe/registration.js";
import { task } from "../entity/task.js";
import { workflow } from "../entity/workflow.js";
import { Compilation } from "../graph/compilation.js";
import { approve } from "../graph/gate.js";
import { chain } from "../graph/order.js";
import type { Ref } from "../graph/reference-type.js";
import { buildWorkflow } from "../graph/workflow-graph.js";
import { compile } from "../testing/compile.js";
import { t } from "../type/t.js";
import { when } from "./branch.js";
import { gt, lt } from "./condition.js";

const build = task({ name: "build", outputs: t.int }, () => 1);
const publish = task({ name: "publish", inputs: { b: t.int }, outputs: t.int }, ({ b }) => b);

type Score = { readonly score: Ref<typeof t.float> };

const gated = (body: (inputs: Score, ok: ReturnType<typeof approve>) => Ref<typeof t.int>) =>
  workflow({ name: "gated", inputs: { score: t.float }, outputs: t.int }, (inputs) => body(inputs as Score, approve("ok")));

/** Returns the upstream nodes of each node, those of sub-workflows included. */
function upstreamOf(entity: Entity<{ score: typeof t.float }, typeof t.int>): Readonly<Record<string, readonly string[]>> {
  const definition = definitionOf(entity);
  if (definition.kind !== "workflow") throw new TypeError("expected a workflow");
  const { template, subWorkflows } = new Compilation(LOCAL_REGISTRATION, buildWorkflow, true).workflow(definition);
  const nodes = [template, ...subWorkflows].flatMap((workflow) => workflow.nodes);
  return Object.fromEntries(nodes.map(({ id, upstreamNodeIds }) => [id, upstreamNodeIds]));
}

describe("order between an arm and the nodes around its branch", () => {
  test("the branch waits for the approval that one of several nodes of an arm follows", () => {
    const several = gated(({ score }, ok) =>
      when(gt(score, 0.5), () => publish({ b: build() }, { after: [ok] })).otherwise(() => publish({ b: 0 })),
    );
    expect(upstreamOf(several)).toMatchObject({ n1: ["n0"], "n1-0-n0": [], "n1-0-n1": ["n1-0-n0"] });
    expect(compile(several)).toMatchObject({ ok: true });
  });

  test("the branch waits for the approval that the only node of an arm follows", () => {
    const single = gated(({ score }, ok) =>
      when(gt(score, 0.5), () => publish({ b: 1 }, { after: [ok] })).otherwise(() => publish({ b: 0 })),
    );
    expect(upstreamOf(single)).toMatchObject({ n1: ["n0"] });
    expect(compile(single)).toMatchObject({ ok: true });
  });

  test("the branch waits for the approval that chain() puts before a node of an arm", () => {
    const chained = gated(({ score }, ok) =>
      when(gt(score, 0.5), () => publish({ b: 1 })).otherwise(() => {
        const published = publish({ b: build() });
        chain(ok, published);
        return published;
      }),
    );
    expect(upstreamOf(chained)).toMatchObject({ n1: ["n0"] });
  });

  test("a branch waits for the approval that an arm of a branch within it follows", () => {
    const nested = gated(({ score }, ok) => {
      const inner = () => when(lt(score, 0.9), () => publish({ b: build() }, { after: [ok] })).otherwise(() => publish({ b: 0 }));
      return when(gt(score, 0.5), inner).otherwise(() => publish({ b: inner() }));
    });
    expect(upstreamOf(nested)).toMatchObject({ n1: ["n0"], "n1-1-n0": [] });
    expect(compile(nested)).toMatchObject({ ok: true });
  });

  test("a branch does not wait for the data of its arms", () => {
    const bound = gated(({ score }, ok) => {
      const built = build({}, { after: [ok] });
      return when(gt(score, 0.5), () => publish({ b: built })).otherwise(() => publish({ b: publish({ b: built }) }));
    });
    expect(upstreamOf(bound)).toMatchObject({ n2: [] });
  });
});
