import type { LaunchPlanJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { describe, expect, test } from "vitest";
import { differences } from "../../literal/convert/differences.js";
import { readItems } from "../../literal/convert/read-items.js";
import type { FieldType } from "../../literal/type/field-type.js";
import { launchSearch } from "../../route/launch-search.js";
import { createDraftStore } from "./draft-store.js";
import { buildRequest } from "./launch-request.js";
import { applyDraft, encodeDraft, startState } from "./launch-state.js";
import { keptFrom, NO_SETTINGS, settingsFrom, settingsSpec } from "./settings.js";
import { type LaunchTarget, planTarget, taskTarget } from "./target.js";

const scope = { project: "p", domain: "d" };
const text = (stringValue: string) => ({ scalar: { primitive: { stringValue } } });
const plan = (name: string, version: string, state: "ACTIVE" | "INACTIVE" = "INACTIVE"): LaunchPlanJson => ({
  id: { resourceType: "LAUNCH_PLAN", ...scope, name, version },
  spec: { workflowId: { name: "w" }, fixedInputs: { literals: { region: text("eu") } } },
  closure: {
    state,
    expectedInputs: {
      parameters: {
        note: { var: { type: { simple: "STRING" } }, default: text("as ever") },
        count: { var: { type: { simple: "INTEGER" } }, required: true },
      },
    },
  },
});
const search = launchSearch.read({ wf: "w" });

function target(): LaunchTarget {
  const found = planTarget([plan("w", "2"), plan("w", "1")], search);
  if (found === undefined) throw new Error("there is no launch plan");
  return found;
}

describe("the launch plan", () => {
  const plans = [plan("daily", "2"), plan("w", "2"), plan("daily", "1", "ACTIVE"), plan("w", "1")];

  test("has the name of its workflow, in the newest version", () => {
    expect(planTarget(plans, search)).toMatchObject({ id: { name: "w", version: "2" }, versions: ["2", "1"], plans: ["daily", "w"] });
  });

  test("named by the address is launched in its active version, unless the address has one", () => {
    expect(planTarget(plans, launchSearch.read({ lp: "daily" }))?.id.version).toBe("1");
    expect(planTarget(plans, launchSearch.read({ lp: "daily", v: "2" }))?.id.version).toBe("2");
    expect(planTarget(plans, launchSearch.read({ lp: "daily", v: "9" }))).toBeUndefined();
  });

  test("may be a task", () => {
    const template = { interface: { inputs: { variables: { x: { type: { simple: "INTEGER" as const } } } } } };
    const found = taskTarget(
      [{ id: { ...scope, name: "t", version: "1" }, closure: { compiledTask: { template } } }],
      launchSearch.read({ task: "t" }),
    );
    expect(found).toMatchObject({ kind: "task", id: { name: "t", version: "1" }, inputs: [{ name: "x", required: true }] });
  });
});

test("a form begins with the defaults, or with the values of an execution", () => {
  expect(startState(target(), "UTC").values).toEqual({ note: "as ever" });
  const inputs = { count: { scalar: { primitive: { integer: "5" } } }, note: text("other") };
  expect(startState(target(), "UTC", { inputs, settings: NO_SETTINGS, kept: {} }).values).toEqual({ note: "other", count: "5" });
});

test("defaults are not sent; inputs without a value are problems", () => {
  const start = startState(target(), "UTC");
  expect(buildRequest(scope, target(), start, "").problems).toEqual([{ path: "count", text: "Needs a value.", isEmpty: true }]);
  const { request, problems } = buildRequest(scope, target(), { ...start, values: { ...start.values, count: "7" } }, "before");
  expect(problems).toEqual([]);
  expect(request).toEqual({
    ...scope,
    spec: {
      launchPlan: { resourceType: "LAUNCH_PLAN", ...scope, name: "w", version: "2" },
      metadata: { referenceExecution: { ...scope, name: "before" } },
    },
    inputs: { literals: { count: { scalar: { primitive: { integer: "7" } } } } },
  });
});

test("a draft holds what differs from the start, and a malformed one nothing", () => {
  const start = startState(target(), "UTC");
  const state = { values: { count: "x" }, settings: { ...start.settings, name: "mine", labels: [{ key: "a", value: "b" }] }, kept: {} };
  const draft = encodeDraft(state, start);
  expect(JSON.parse(draft)).toEqual({ i: { count: "x" }, c: ["note"], s: { name: "mine", labels: [{ key: "a", value: "b" }] } });
  expect(applyDraft(start, draft)).toEqual(state);
  expect(encodeDraft(start, start)).toBe("");
  for (const bad of ["{", "5", "null", '{"i":5,"s":{"labels":"x","none":1},"c":3}']) expect(applyDraft(start, bad)).toEqual(start);
});

test("a long draft is in the storage of the tab, a short one in the address", () => {
  const stored = new Map<string, string>();
  const store = createDraftStore({
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  });
  const long = "x".repeat(9_000);
  expect(store.write(long, "a")).toEqual({ values: "", draft: "a" });
  expect(store.read({ values: "", draft: "a" })).toBe(long);
  expect(store.write("short", "a")).toEqual({ values: "short", draft: "" });
  expect([stored.size, store.read({ values: "short", draft: "" }), store.read({ values: "", draft: "gone" })]).toEqual([0, "short", ""]);
});

test("settings are those of the execution that is launched again", () => {
  const spec = {
    maxParallelism: 5,
    interruptible: false,
    overwriteCache: true,
    labels: { values: { a: "b" } },
    tags: ["x", "y"],
    securityContext: { runAs: { k8sServiceAccount: "sa" } },
    executionClusterLabel: { value: "gpu" },
  };
  expect(settingsSpec(settingsFrom(spec), keptFrom(spec), [])).toEqual(spec);
});

test("an execution that is launched again keeps what the form does not show, but not the identity of its caller", () => {
  const spec = {
    disableAll: true,
    clusterAssignment: { clusterPoolName: "gpu" },
    qualityOfService: { tier: "HIGH" as const },
    authRole: null as never,
    securityContext: {
      runAs: { iamRole: "old", k8sServiceAccount: "", executionIdentity: "ann", oauth2Client: { clientId: "c" } },
      secrets: [{ group: "g", key: "k" }],
      tokens: [],
    },
  };
  const settings = { ...settingsFrom(spec), iamRole: "", serviceAccount: "sa" };
  expect(settingsSpec(settings, keptFrom(spec), [])).toEqual({
    disableAll: true,
    clusterAssignment: { clusterPoolName: "gpu" },
    qualityOfService: { tier: "HIGH" },
    securityContext: { runAs: { k8sServiceAccount: "sa", oauth2Client: { clientId: "c" } }, secrets: [{ group: "g", key: "k" }] },
  });
});

test("a draft of an address cannot set what the form does not show", () => {
  const start = startState(target(), "UTC");
  expect(applyDraft(start, JSON.stringify({ s: { kept: { disableAll: true } }, kept: { disableAll: true } }))).toEqual(start);
});

test("each setting has its rule", () => {
  const pairs = [
    { key: "a", value: "1" },
    { key: "a", value: "2" },
  ];
  const problems: { path: string }[] = [];
  settingsSpec(
    { ...NO_SETTINGS, name: "Not-lower", maxParallelism: "-1", outputPrefix: "here", labels: pairs, annotations: [{ key: "", value: "" }] },
    {},
    problems as never,
  );
  expect(problems.map(({ path }) => path)).toEqual([
    "settings.name",
    "settings.maxParallelism",
    "settings.outputPrefix",
    "settings.labels",
    "settings.annotations",
  ]);
});

test.each([
  ["1\n2\n", ["1", "2"]],
  ["1, 2", ["1", "2"]],
  ["[1, 2.5]", ["1", "2.5"]],
  ['"a"', ["a"]],
  ["", []],
])("%j is pasted as %j", (pasted, items) => expect(readItems({ kind: "float" }, pasted)).toEqual(items));

test("differences are those of the fields", () => {
  const type: FieldType = {
    kind: "object",
    name: "P",
    encoding: "msgpack",
    fields: () => [{ name: "rate", type: { kind: "float" }, required: true, description: "" }],
  };
  expect(differences(type, { fields: { rate: "0.1" } }, { fields: { rate: "0.01" } }, "params")).toEqual([
    { path: "params.rate", before: "0.1", after: "0.01" },
  ]);
  expect(differences({ kind: "string", format: "" }, "a", "a", "x")).toEqual([]);
});
