import { describe } from "vitest";
import { constructCases } from "./construct-cases.js";
import { exampleCases } from "./example-cases.js";
import { ExampleRuns } from "./example-runs.js";

// Both groups of cases run on one stack.
let starting: Promise<ExampleRuns> | undefined;
const start = () => (starting ??= ExampleRuns.start(undefined, 2));

describe("examples", () => {
  exampleCases(start);
});
describe("constructs of flytekit", () => {
  constructCases(start);
});
