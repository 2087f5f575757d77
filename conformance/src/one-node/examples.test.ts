import { describe } from "vitest";
import { exampleCases } from "../stack/example-cases.js";
import { ExampleRuns } from "../stack/example-runs.js";
import { noRealNode, startStackOnNode } from "./node-fixture.js";

describe.skipIf(noRealNode)("the examples in real pods", () => {
  exampleCases(() => ExampleRuns.start(startStackOnNode()), 600_000);
});
