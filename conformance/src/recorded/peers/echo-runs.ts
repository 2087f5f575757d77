// Runs the workflows of echo tasks of the TypeScript project of the tests on this stack and on Go
// FlyteAdmin and FlytePropeller, and compares what the API shows:
//   node conformance/dist/recorded/peers/echo-runs.js --programs FOLDER
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { RunningStack } from "../../stack/stack-fixture.js";
import { ECHO_CASES } from "../../typescript-runtime/echo-runs.js";
import { typeScriptProject, versionIn } from "../../typescript-runtime/project.js";
import { compareRuns } from "./compare-runs.js";

const { values } = parseArgs({
  options: {
    /** Folder of Go Flyte's `flyteadmin`, `datacatalog` and `flytepropeller`. */
    programs: { type: "string" },
  },
});
if (values.programs === undefined) throw new Error("--programs FOLDER is needed");
process.exitCode = await compareRuns(resolve(values.programs), { cases: ECHO_CASES, register });

function register(stack: RunningStack): () => string {
  const project = typeScriptProject(`localhost:${stack.api}`);
  try {
    const version = versionIn(project.run("register"));
    return () => version;
  } finally {
    project.remove();
  }
}
