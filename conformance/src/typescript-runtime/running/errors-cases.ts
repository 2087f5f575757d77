import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FlyteClient } from "@flyte-ts/client";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TypeScriptProject, typeScriptProject, versionIn } from "../project.js";
import type { ProjectStack } from "./project-stack.fixture.js";
import { errorOf, runToEnd } from "../registered-executions.js";

/** Every way in which a TypeScript task can fail, as the API of a running stack shows it. */
export function errorsCases(running: () => ProjectStack): void {
  let client: FlyteClient;
  let project: TypeScriptProject;
  let version: string;

  beforeAll(() => {
    ({ client } = running());
    project = typeScriptProject(running().endpoint);
    version = versionIn(project.run("register"));
  }, 400_000);
  afterAll(() => project?.remove());

  /** Returns the place of a text in the source, as a stack shows it. */
  function placeOf(text: string): string {
    const lines = readFileSync(join(project.folder, "src/flows/errors.ts"), "utf8").split("\n");
    return `src/flows/errors.ts:${lines.findIndex((line) => line.includes(text)) + 1}`;
  }

  const run = (name: string) => runToEnd(client, { name: `errors.${name}`, version });

  async function lastError(name: string) {
    const ended = await run(name);
    const error = await errorOf(client, ended.attempts.at(-1));
    return {
      phase: ended.phase,
      attempts: ended.attempts.length,
      code: error.code,
      kind: ExecutionError_ErrorKind[error.kind],
      message: error.message,
    };
  }

  test("a throw fails the task with its class, its mapped stack and its cause", async () => {
    const { message, ...error } = await lastError("throws");
    expect(error).toEqual({ phase: "FAILED", attempts: 1, code: "USER:TypeError", kind: "USER" });
    expect(message).toContain("TypeError: no such column");
    expect(message).toContain(placeOf("new TypeError("));
    expect(message).toContain("Caused by: RangeError: column 9 of 3");
    expect(message).not.toMatch(/bundles|chunks|file:\/\//);
  }, 400_000);

  test("a recoverable error is retried, and the third attempt succeeds", async () => {
    const ended = await run("recovers");
    expect([ended.phase, ended.attempts.length]).toEqual(["SUCCEEDED", 3]);
    const first = await errorOf(client, ended.attempts[0]);
    expect([first.code, first.message.split("\n")[0]]).toEqual(["USER:RecoverableError", "RecoverableError: attempt 0 finds no server"]);
  }, 400_000);

  test("a recoverable error among the causes is retried until no attempt is left", async () => {
    const { message, ...error } = await lastError("neverRecovers");
    expect(error).toMatchObject({ phase: "FAILED", attempts: 2, kind: "USER" });
    expect(message).toContain("Caused by: RecoverableError: status 503");
  }, 400_000);

  test("a promise that nothing settles fails the task at once", async () => {
    const error = await lastError("neverSettles");
    expect(error).toMatchObject({ phase: "FAILED", attempts: 1, code: "USER:NeverSettled", kind: "USER" });
  }, 400_000);

  test("a rejection that no code handles fails the task", async () => {
    const { message, ...error } = await lastError("rejectsAside");
    expect(error).toMatchObject({ phase: "FAILED", code: "USER:ReferenceError", kind: "USER" });
    expect(message).toContain(placeOf("new ReferenceError("));
  }, 400_000);

  test("an output of another type names its place", async () => {
    const { message, ...error } = await lastError("returnsHalf");
    expect(error).toMatchObject({ phase: "FAILED", code: "USER:InvalidOutput", kind: "USER" });
    expect(message).toContain("whole");
  }, 400_000);

  test("process.exit is the end of the pod, with its status", async () => {
    const error = await lastError("exits");
    expect([error.phase, error.message]).toEqual(["FAILED", expect.stringContaining("7")]);
  }, 400_000);

  test("a task that exceeds its timeout is aborted and fails", async () => {
    const ended = await runToEnd(client, { name: "errors.late", version, kind: ResourceType.LAUNCH_PLAN });
    expect([ended.phase, ended.attempts.length]).toEqual(["FAILED", 1]);
    expect(ended.error).toContain("task execution timeout [3s] expired");
  }, 400_000);

  test("a task that exceeds its memory fails as out of memory", async () => {
    const error = await lastError("eatsMemory");
    expect([error.phase, `${error.code} ${error.message}`]).toEqual(["FAILED", expect.stringContaining("OOMKilled")]);
  }, 400_000);
}
