import type { FlyteClient } from "@flyte-ts/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endOfCase, startCase } from "../case-runs.js";
import { ECHO_CASES } from "../echo-runs.js";
import { type TypeScriptProject, typeScriptProject, versionIn } from "../project.js";
import type { ProjectStack } from "./project-stack.fixture.js";

/** Workflows of tasks that the engine executes, as Go Flyte also runs them. */
export function echoesCases(running: () => ProjectStack): void {
  let client: FlyteClient;
  let project: TypeScriptProject;
  let version: string;

  beforeAll(() => {
    ({ client } = running());
    project = typeScriptProject(running().endpoint);
    version = versionIn(project.run("register"));
  }, 400_000);
  afterAll(() => project?.remove());

  test.each(ECHO_CASES)("$name $inputs", { timeout: 300_000 }, async (example) => {
    const { phase, error, outputs } = await endOfCase(client, await startCase(client, example, version), example);
    const failure = example.error ?? "";
    expect({ phase, outputs }).toMatchObject({ phase: failure === "" ? "SUCCEEDED" : "FAILED", outputs: example.outputs });
    expect(error).toContain(failure);
  });
}
