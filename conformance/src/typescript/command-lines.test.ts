import { expect, onTestFinished, test } from "vitest";
import { typeScriptProject } from "../typescript-runtime/project.js";

// No server is at the endpoint.
const ENDPOINT = "localhost:1";

test("a local run tells the items of a map, which are no attempts", () => {
  const project = typeScriptProject(ENDPOINT);
  onTestFinished(() => project.remove());
  const { status, stdout, stderr } = project.run("run", "src/flows/context.ts", "all", "--xs", "[1,2,3]");
  expect(status, stderr).toBe(0);
  const [map] = /^.* 3 items$/m.exec(stdout) ?? [];
  expect(map, stdout).toMatch(/^n\d+ +SUCCEEDED +context\.\w+ {2}\d+ ms 3 items$/);
}, 400_000);

test("a server that does not answer is told with its reason", () => {
  const project = typeScriptProject(ENDPOINT);
  onTestFinished(() => project.remove());
  const { status, stderr } = project.run("register");
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^flyte-ts: the API cannot be reached; --endpoint or FLYTE_PLATFORM_URL names it: connect ECONNREFUSED [\w.:[\]]+:1\n$/m,
  );
}, 400_000);
