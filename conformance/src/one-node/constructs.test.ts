import { describe } from "vitest";
import { constructCases } from "../stack/construct-cases.js";
import { ExampleRuns } from "../stack/example-runs.js";
import { noRealNode, startStackOnNode } from "./node-fixture.js";

describe.skipIf(noRealNode)("flytekit's constructs in real pods", () => {
  constructCases(() => ExampleRuns.start(startStackOnNode()), 600_000);
});
