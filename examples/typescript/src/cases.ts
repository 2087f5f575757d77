// Runs of the examples with their outputs, locally and on a server.
import type { AnyEntity } from "@flyte-ts/sdk";
import { mock, type Mock } from "@flyte-ts/sdk/testing";
import { hello } from "./flows/hello.ts";
import { trainingWorkflow } from "./flows/train.ts";
import { attributes } from "./flows/graphs/attributes.ts";
import { branches } from "./flows/graphs/branches.ts";
import { steps } from "./flows/graphs/builder.ts";
import { dynamics } from "./flows/graphs/dynamic.ts";
import { untilGood } from "./flows/graphs/eager.ts";
import { gates } from "./flows/graphs/gates.ts";
import { maps, mapsOfPlans } from "./flows/graphs/maps.ts";
import { order } from "./flows/graphs/order.ts";
import { dashed, plans } from "./flows/graphs/plans.ts";
import { caching, contents } from "./flows/tasks/caching.ts";
import { containers, shout } from "./flows/tasks/containers.ts";
import { failures, patient } from "./flows/tasks/failures.ts";
import { accelerators, leaveOutputs, secrets, workers } from "./flows/tasks/pods.ts";
import { settings } from "./flows/tasks/settings.ts";
import { files } from "./flows/types/files.ts";
import { schemas } from "./flows/types/schemas.ts";
import { values } from "./flows/types/values.ts";
import { normalise, peak, references } from "./mixed/references.ts";

export interface ExampleCase {
  /** Module and export, as they are registered. */
  readonly name: string;
  readonly entity: AnyEntity;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Expected outputs; those that are left out differ between runs. */
  readonly outputs?: unknown;
  /** Expected error of a run that fails. */
  readonly error?: string;
  /** Answers of gates. */
  readonly signals?: Readonly<Record<string, unknown>>;
  /** Secrets by `group/key`: of a local run, or in the namespace of a server. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Stand in local runs for what runs on a server alone. */
  readonly mocks?: readonly Mock[];
}

const everything = {
  count: 1,
  size: 2n ** 60n,
  rate: 3,
  name: "n",
  on: true,
  at: new Date("2026-01-02T03:04:05.678Z"),
  took: "1.5h",
  mode: "read",
  tags: ["a"],
  scores: { a: 1.5 },
  more: { deep: [1, 2.5, null] },
};

export const CASES: readonly ExampleCase[] = [
  { name: "hello.hello", entity: hello, inputs: {}, outputs: { greeting: "Hello, world!", length: 13 } },
  {
    name: "train.trainingWorkflow",
    entity: trainingWorkflow,
    inputs: { hyper: { C: 0.4, maxIterations: 50 } },
    outputs: { accuracy: 0.66 },
  },
  {
    name: "types.values.values",
    entity: values,
    inputs: { value: everything },
    outputs: {
      changed: {
        ...everything,
        count: 2,
        size: 2n ** 60n + 1n,
        rate: 1.5,
        on: false,
        at: new Date("2026-01-02T03:04:06.678Z"),
        took: { milliseconds: 90_000 },
        mode: "write",
        tags: ["a", "changed"],
        note: null,
      },
      described: ["number 3", "string three", "3 numbers", "string n"],
    },
  },
  { name: "types.schemas.schemas", entity: schemas, inputs: { score: 2 }, outputs: { title: "wine", published: "wine 2" } },
  { name: "types.files.files", entity: files, inputs: {}, outputs: { lines: 3, texts: ["alpha", "beta"], ages: 121 } },
  { name: "graphs.branches.branches", entity: branches, inputs: { x: 8, mode: "auto" }, outputs: 4 },
  { name: "graphs.branches.branches", entity: branches, inputs: { x: 8, mode: "off" }, outputs: 0 },
  { name: "graphs.branches.branches", entity: branches, inputs: { x: -8, mode: "auto" }, outputs: -4 },
  { name: "graphs.branches.branches", entity: branches, inputs: { x: 2, mode: "auto" }, outputs: 8 },
  { name: "graphs.maps.maps", entity: maps, inputs: { values: [1, 2, 3, 4] }, outputs: { sum: 100, failed: 2 } },
  { name: "graphs.maps.mapsOfPlans", entity: mapsOfPlans, inputs: { values: [1, 2] }, outputs: 30 },
  { name: "graphs.gates.gates", entity: gates, inputs: { x: 3 }, outputs: 30, signals: { factor: 5, release: true } },
  { name: "graphs.order.order", entity: order, inputs: {}, outputs: "done" },
  {
    name: "graphs.attributes.attributes",
    entity: attributes,
    inputs: {},
    outputs: { point: "red 2/3", y: 1, names: ["line", "red 2/3"], byKey: { first: "line" } },
  },
  { name: "graphs.builder.steps", entity: steps, inputs: { x: 1 }, outputs: { x: 5 } },
  { name: "graphs.plans.plans", entity: plans, inputs: {}, outputs: { dashed: "x-y", nightly: "a, b" } },
  { name: "graphs.plans.dashed", entity: dashed, inputs: { words: ["p", "q"] }, outputs: "p-q" },
  { name: "graphs.dynamic.dynamics", entity: dynamics, inputs: { n: 4 }, outputs: 30 },
  { name: "graphs.eager.untilGood", entity: untilGood, inputs: { goal: 0.7 }, outputs: { C: 3, score: 0.75 } },
  { name: "tasks.failures.failures", entity: failures, inputs: { x: 1 }, outputs: { attempt: 2, x: 1 } },
  { name: "tasks.failures.failures", entity: failures, inputs: { x: -1 }, error: "-1 is negative" },
  { name: "tasks.failures.patient", entity: patient, inputs: { x: -2 }, error: "-2 is negative" },
  { name: "tasks.caching.caching", entity: caching, inputs: { x: 3 }, outputs: { first: 9, second: 9 } },
  { name: "tasks.caching.contents", entity: contents, inputs: { text: "four" }, outputs: { first: 4, second: 4 } },
  { name: "tasks.pods.secrets", entity: secrets, inputs: {}, outputs: 6, secrets: { "registry/token": "hidden" } },
  { name: "tasks.pods.accelerators", entity: accelerators, inputs: { values: [1, 2.5] }, outputs: [2, 5] },
  { name: "tasks.pods.workers", entity: workers, inputs: {}, outputs: 0 },
  { name: "tasks.pods.leaveOutputs", entity: leaveOutputs, inputs: {}, error: "Outputs not generated by task execution" },
  { name: "tasks.settings.settings", entity: settings, inputs: {}, outputs: { colour: "blue", labelled: "labelled" } },
  {
    name: "tasks.containers.containers",
    entity: containers,
    inputs: { text: "quiet" },
    outputs: "QUIET",
    mocks: [mock(shout, ({ text }) => ({ loud: text.toUpperCase() }))],
  },
  {
    name: "references.references",
    entity: references,
    inputs: { values: [1, 3, 2] },
    outputs: { scaled: [0, 1, 0.5], peak: Math.sqrt(1.5) },
    mocks: [mock(normalise, () => [0, 1, 0.5]), mock(peak, () => Math.sqrt(1.5))],
  },
];
