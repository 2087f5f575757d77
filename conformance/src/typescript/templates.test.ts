import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { WorkflowSpecSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { and, each, gt, launchPlan, lt, signal, t, task, when, workflow } from "@flyte-ts/sdk";
import { collectEntities, describeEntities } from "@flyte-ts/sdk/runtime";
import { expect, test } from "vitest";
import { cachedPython } from "../recorded/python.js";
import { root } from "../repository.js";

const Hyper = t.object({ C: t.float, n: t.default(t.int, 3) }, { title: "Hyper" });
const fit = task({ inputs: { x: t.float, hyper: Hyper }, outputs: t.float, retries: 2, timeout: "10m" }, ({ x, hyper }) => x * hyper.C);
const notify = task({ inputs: { x: t.float, hypers: t.list(Hyper), o: t.optional(t.int), err: t.optional(t.error) } }, () => undefined);
const inner = workflow({ inputs: { hyper: Hyper }, outputs: t.float }, ({ hyper }) => fit({ x: hyper.C, hyper }));
const outer = workflow(
  {
    inputs: { x: t.float, hypers: t.list(Hyper), o: t.optional(t.int) },
    outputs: { o0: t.float, o1: t.list(t.optional(t.float)) },
    onFailure: notify,
    failurePolicy: "fail-after-running",
    interruptible: true,
  },
  ({ x, hypers }) => {
    const first = fit({ x, hyper: { C: 2 } }, { name: "first", retries: 1 });
    const mapped = each(fit, { hyper: hypers }, { same: { x: first }, concurrency: 8, minSuccessRatio: 0.5 });
    const once = inner({ hyper: hypers[0]! });
    const threshold = signal("threshold", t.float, { timeout: "2h" });
    const chosen = when(and(gt(once, 3), gt(threshold, x)), () => fit({ x: once, hyper: hypers[0]! }))
      .when(lt(once, 0.1), () => fit({ x: threshold, hyper: hypers[1]! }))
      .otherwiseFail("no");
    return { o0: chosen, o1: mapped };
  },
);
const plan = launchPlan(outer, { name: "plan", defaults: { x: 2 }, fixed: { o: 3 }, maxParallelism: 4 });

test("a workflow and a launch plan have the form that flytekit gives them", async () => {
  const words = ["-W", "ignore", join(root, "conformance/python/templates.py")];
  const { stdout } = await promisify(execFile)(cachedPython(), words, { env: { ...process.env, TZ: "UTC" } });
  const theirs = JSON.parse(stdout) as { readonly workflow: object; readonly plan: { readonly spec: object } };
  const collection = collectEntities([{ module: "flow", prefix: "flow", exports: { fit, notify, inner, outer, plan } }]);
  const code = { entry: "/app/entry.mjs" };
  const registration = { project: "p", domain: "d", version: "v", image: "img:1", code, sdkVersion: "0.1.0" };
  const { workflows, launchPlans } = describeEntities(collection, registration);
  const own = workflows.find(({ template }) => template?.id?.name === "flow.outer");
  const ownPlan = launchPlans.find(({ id }) => id.name === "plan");
  expect(comparable(toJson(WorkflowSpecSchema, own as NonNullable<typeof own>))).toEqual(comparable(theirs.workflow));
  expect(comparable(toJson(LaunchPlanSpecSchema, ownPlan?.spec as NonNullable<typeof ownPlan>["spec"]))).toEqual(
    comparable(theirs.plan.spec),
  );
});

/** Texts that each SDK chooses: descriptions, versions, and the node that a branch names. */
const CHOSEN = new Set(["description", "version", "failedNodeId"]);

/**
 * Reduces a message to the parts that both SDKs must agree on: names without modules, no empty
 * messages, which protobuf does not distinguish from absent ones.
 */
function comparable(value: unknown, key = ""): unknown {
  if (typeof value === "string") return key === "name" ? shortName(value) : value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => comparable(item));
    return key === "required" || key === "upstreamNodeIds" ? items.map(String).sort() : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => !CHOSEN.has(name))
    .map(([name, item]) => [name, name === "thenNode" || name === "node" ? withoutId(item) : item] as const)
    .map(([name, item]) => [name, comparable(item, name)] as const)
    // flytekit sets interruptible: false at sub-workflows, which would undo an execution's setting.
    .filter(([name, item]) => !isEmpty(item) && !(name === "interruptible" && item === false));
  return Object.fromEntries(key === "metadata" ? entries.filter(([name, item]) => name !== "name" || item === "threshold") : entries);
}

function withoutId(node: unknown): unknown {
  return { ...(node as object), id: "" };
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

function shortName(name: string): string {
  return name.replace(/^(?:.*\.)?(?:map_)?(\w+?)(?:_map)?(?:_[0-9a-f]{12,32})?(?:-arraynode)?$/, "$1");
}
