import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FlyteClient } from "@flyte-ts/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ECHO_CASES, runEchoCase } from "../echo-runs.js";
import { type TypeScriptProject, typeScriptProject, versionIn } from "../project.js";
import type { ProjectStack } from "./project-stack.fixture.js";

/** Workflows of tasks that the engine executes, as Go Flyte also runs them. */
export function echoesCases(running: () => ProjectStack): void {
  let client: FlyteClient;
  let project: TypeScriptProject;
  let version: string;
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "flyte-ts-echoes-"));
    ({ client } = running());
    project = typeScriptProject(running().endpoint);
    version = versionIn(project.run("register"));
  }, 400_000);
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    project?.remove();
  });

  test.each(ECHO_CASES)("$name $inputs", { timeout: 300_000 }, async (example) => {
    const { phase, error, outputs } = await runEchoCase(client, { version, folder }, example);
    const failure = example.error ?? "";
    expect({ phase, outputs }).toMatchObject({ phase: failure === "" ? "SUCCEEDED" : "FAILED", outputs: example.outputs });
    expect(error).toContain(failure);
  });
}
