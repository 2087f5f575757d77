import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientCredentials } from "@flyte-ts/auth";
import { createFlyteClient } from "@flyte-ts/client";
import { ensurePythonEnvironment } from "@flyte-ts/local-stack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { executionRequest, identifier, launchPlanRequest, taskRequest, workflowRequest } from "../api/valid-requests.js";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

// Unmodified flytekit signs in at an admin with authentication. sign-in.test.ts tests the browser
// flow, for which flytekit listens on a fixed port.
const PASSWORD = "correct horse battery";
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-sign-in-"));
const secretsFolder = join(folder, "secrets");

let admin: RunningAdmin;
let python = "";
beforeAll(async () => {
  python = join((await ensurePythonEnvironment({ onInstall: () => undefined })).bin, "python");
  admin = await startAdmin((api) => ({
    auth: {
      mode: "required",
      publicUrl: `http://127.0.0.1:${api}`,
      builtIn: { secretsFolder },
      roles: [{ subject: "ann", role: "viewer", project: "flytesnacks" }],
    },
  }));
  accounts(["user", "ann"], PASSWORD);
});
afterAll(async () => {
  await admin.stop();
  rmSync(folder, { recursive: true, force: true });
});

function accounts(words: readonly string[], input = ""): string {
  const program = builtProgram(join(root, "services", "admin"), "accounts/main.js");
  return execFileSync(process.execPath, [program, ...words, "--config", admin.configFile], { input, encoding: "utf8" }).trim();
}

const secretOf = (name: string) => readFileSync(join(secretsFolder, name), "utf8");

/** The token that flytekit received. */
function signIn(mode: "client" | "device", name: string, secret: string): Promise<{ projects?: string[]; error?: string }> {
  const env = { ...process.env, PYTHON_KEYRING_BACKEND: "keyring.backends.null.Keyring" };
  const script = join(root, "conformance", "python", "sign_in.py");
  const child = spawn(python, [script, `127.0.0.1:${admin.api}`, mode, name, secret], { env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let errorOutput = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errorOutput += chunk.toString()));
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("exit", () => {
      const last = printed.trim().split("\n").at(-1) ?? "";
      if (last.startsWith("{")) done(JSON.parse(last) as { projects?: string[]; error?: string });
      else fail(new Error(`${printed}\n${errorOutput}`));
    });
  });
}

test("flytekit signs in as a service with a client secret", async () => {
  expect(await signIn("client", "flytepropeller", secretOf("flytepropeller"))).toEqual({ projects: ["flytesnacks"] });
  const robot = accounts(["service", "robot"]);
  expect((await signIn("client", "robot", robot)).error).toMatch(/PERMISSION_DENIED|role viewer is needed/);
  accounts(["grant", "subject", "robot", "viewer", "flytesnacks", "development"]);
  await expect.poll(async () => (await signIn("client", "robot", robot)).projects, { timeout: 30_000 }).toEqual(["flytesnacks"]);
  expect((await signIn("client", "robot", "wrong")).error).toMatch(/401/);
}, 120_000);

test("flytekit signs in as a user with the device flow", async () => {
  expect(await signIn("device", "ann", PASSWORD)).toEqual({ projects: ["flytesnacks"] });
}, 60_000);

test("built-in services sign in with the secrets that admin writes", async () => {
  const endpoint = `127.0.0.1:${admin.api}`;
  const auth = { clientId: "flytepropeller", clientSecretFile: join(secretsFolder, "flytepropeller"), scopes: ["all"] };
  const engine = createFlyteClient({ endpoint, ...clientCredentials(endpoint, auth, () => new Date()) });
  accounts(["service", "maker"]);
  accounts(["grant", "subject", "flytepropeller", "contributor", "flytesnacks", "development"]);
  await expect
    .poll(() => engine.admin.createTask(taskRequest(identifier(ResourceType.TASK))).then(() => "made"), { timeout: 30_000 })
    .toBe("made");
  await engine.admin.createWorkflow(workflowRequest(identifier(ResourceType.WORKFLOW), { n0: [] }));
  await engine.admin.createLaunchPlan(launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN)));
  const { id: execution } = await engine.admin.createExecution(executionRequest("e1"));
  const { spec } = await engine.admin.getExecution({ ...(execution && { id: execution }) });
  expect(spec?.metadata?.principal).toBe("flytepropeller");
  engine.close();
});

test("admin's log contains no secret", () => {
  const text = admin.log().join("\n");
  expect(text).toContain("admin is ready");
  expect([PASSWORD, secretOf("flytepropeller"), "eyJ"].filter((secret) => text.includes(secret))).toEqual([]);
});
