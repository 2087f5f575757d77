import { exampleCases } from "./example-cases.js";
import { ExampleRuns } from "./example-runs.js";

exampleCases(() => ExampleRuns.start());
