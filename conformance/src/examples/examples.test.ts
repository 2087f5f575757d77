import { afterAll, beforeAll, describe } from "vitest";
import { constructCases } from "./construct-cases.js";
import { exampleCases } from "./example-cases.js";
import { ExampleRuns } from "./example-runs.js";

// Both groups of cases run on one stack.
let runs: ExampleRuns;
beforeAll(async () => {
  runs = await ExampleRuns.start(undefined, true);
}, 900_000);
afterAll(() => runs?.close(), 120_000);

describe("examples", () => {
  exampleCases(() => Promise.resolve(runs));
});
describe("constructs of flytekit", () => {
  constructCases(() => Promise.resolve(runs));
});
