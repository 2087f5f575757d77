import { constructCases } from "./construct-cases.js";
import { ExampleRuns } from "./example-runs.js";

constructCases(() => ExampleRuns.start());
