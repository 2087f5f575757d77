// Runs the TypeScript examples on this stack and on Go FlyteAdmin and FlytePropeller, and compares
// what the API shows:
//   node conformance/dist/recorded/peers/example-runs.js --programs FOLDER
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { EXAMPLE_CASES, registerExamples } from "../../typescript-runtime/example-runs.js";
import { compareRuns } from "./compare-runs.js";
import { copyExamplesForGo } from "./go-examples.js";

/** Examples that need more than Go FlyteAdmin and FlytePropeller, or that these cannot run. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "graphs.maps.mapsOfPlans": "Go Flyte 1.16 cannot compile a map of a launch plan",
  "tasks.pods.secrets": "needs the webhook of Go Flyte, which writes secrets into pods",
  "tasks.containers.containers": "needs the image of flytecopilot",
};

const { values } = parseArgs({
  options: {
    /** Folder of Go Flyte's `flyteadmin`, `datacatalog` and `flytepropeller`. */
    programs: { type: "string" },
  },
});
if (values.programs === undefined) throw new Error("--programs FOLDER is needed");
for (const [name, reason] of Object.entries(LEFT_OUT)) process.stderr.write(`${name} is left out: ${reason}\n`);
const folder = copyExamplesForGo();
try {
  process.exitCode = await compareRuns(resolve(values.programs), {
    cases: EXAMPLE_CASES.filter(({ name }) => !(name in LEFT_OUT)),
    register: (stack) => registerExamples(stack, folder),
  });
} finally {
  rmSync(folder, { recursive: true });
}
