import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../repository.js";
import type { RunCase } from "./case-runs.js";

const MODULE = join(root, "conformance", "typescript", "src", "flows", "echoes.ts");
const entities = (await import(pathToFileURL(MODULE).href)) as Readonly<Record<string, RunCase["entity"]>>;

const shape = {
  name: "line",
  points: [
    { x: 0.5, y: 1 },
    { x: 2, y: 3 },
  ],
  tags: { colour: "red" },
  note: null,
};
const at = new Date("2026-01-02T03:04:05.678Z");

/** A run of a workflow in the module `echoes` of the project of the tests. */
const echoCase = (name: string, rest: Omit<RunCase, "name" | "entity">): RunCase => ({
  name: `echoes.${name}`,
  entity: entities[name] as RunCase["entity"],
  ...rest,
});

/** Runs of workflows of tasks that every engine of Flyte executes itself. */
export const ECHO_CASES: readonly RunCase[] = [
  echoCase("values", { inputs: { shape, at }, outputs: { y: 3, colour: "red", all: [0.5, 3, 7], one: 3, at } }),
  echoCase("branches", { inputs: { x: 20, mode: "auto" }, outputs: 20 }),
  echoCase("branches", { inputs: { x: 20, mode: "off" }, outputs: 0 }),
  echoCase("branches", { inputs: { x: -20, mode: "auto" }, outputs: -1 }),
  echoCase("branches", { inputs: { x: 5, mode: "auto" }, error: "x is out of range" }),
  echoCase("order", { inputs: {}, outputs: "last" }),
  echoCase("nested", { inputs: {}, outputs: { x: 2, label: "of the call", planned: "of the plan" } }),
  echoCase("gates", { inputs: {}, outputs: 5, signals: { factor: 5, release: true } }),
  echoCase("failing", { inputs: { x: 1 }, outputs: 1 }),
  echoCase("failing", { inputs: { x: -1 }, error: "x must be positive" }),
];
