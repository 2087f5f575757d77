import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { clientCredentials } from "@flyte-ts/auth";
import { createFlyteClient } from "@flyte-ts/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "./admin-fixture.js";
import { executionRequest, id, launchPlanRequest, taskRequest, workflowRequest } from "./good-requests.js";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";

// Stock flytekit signs in at an admin that asks callers who they are. In a browser it does in sign-in.test.ts: it listens on one port.
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const PASSWORD = "correct horse battery";
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-sign-in-"));
const secretsFolder = join(folder, "secrets");

let admin: RunningAdmin;
let python = "";
beforeAll(async () => {
  const environment = pathToFileURL(join(root, "packages", "cli", "dist", "stack", "python-environment.js")).href;
  const { ensurePythonEnvironment } = (await import(environment)) as {
    ensurePythonEnvironment: (told: () => void) => Promise<{ bin: string }>;
  };
  python = join((await ensurePythonEnvironment(() => undefined)).bin, "python");
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
  const program = join(root, "services", "admin", "dist", "accounts", "main.js");
  return execFileSync(process.execPath, [program, ...words, "--config", admin.configFile], { input, encoding: "utf8" }).trim();
}

const secretOf = (name: string) => readFileSync(join(secretsFolder, name), "utf8");

/** What flytekit got. */
function signIn(mode: "client" | "device", name: string, secret: string): Promise<{ projects?: string[]; error?: string }> {
  const env = { ...process.env, PYTHON_KEYRING_BACKEND: "keyring.backends.null.Keyring" };
  const script = join(root, "conformance", "python", "sign_in.py");
  const child = spawn(python, [script, `127.0.0.1:${admin.api}`, mode, name, secret], { env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (told += chunk.toString()));
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("exit", () => {
      const last = printed.trim().split("\n").at(-1) ?? "";
      if (last.startsWith("{")) done(JSON.parse(last) as { projects?: string[]; error?: string });
      else fail(new Error(`${printed}\n${told}`));
    });
  });
}

test("a service by its secret", async () => {
  expect(await signIn("client", "flytepropeller", secretOf("flytepropeller"))).toEqual({ projects: ["flytesnacks"] });
  const robot = accounts(["service", "robot"]);
  expect((await signIn("client", "robot", robot)).error).toMatch(/PERMISSION_DENIED|role viewer is needed/);
  accounts(["grant", "subject", "robot", "viewer", "flytesnacks", "development"]);
  await expect.poll(async () => (await signIn("client", "robot", robot)).projects, { timeout: 30_000 }).toEqual(["flytesnacks"]);
  expect((await signIn("client", "robot", "wrong")).error).toMatch(/401/);
}, 120_000);

test("a person for a device", async () => {
  expect(await signIn("device", "ann", PASSWORD)).toEqual({ projects: ["flytesnacks"] });
}, 60_000);

test("our own services by what admin tells them", async () => {
  const endpoint = `127.0.0.1:${admin.api}`;
  const auth = { clientId: "flytepropeller", clientSecretFile: join(secretsFolder, "flytepropeller"), scopes: ["all"] };
  const engine = createFlyteClient({ endpoint, ...clientCredentials(endpoint, auth, () => new Date()) });
  accounts(["service", "maker"]);
  accounts(["grant", "subject", "flytepropeller", "contributor", "flytesnacks", "development"]);
  await expect.poll(() => engine.admin.createTask(taskRequest(id(ResourceType.TASK))).then(() => "made"), { timeout: 30_000 }).toBe("made");
  await engine.admin.createWorkflow(workflowRequest(id(ResourceType.WORKFLOW), { n0: [] }));
  await engine.admin.createLaunchPlan(launchPlanRequest(id(ResourceType.LAUNCH_PLAN)));
  const { id: execution } = await engine.admin.createExecution(executionRequest("e1"));
  const { spec } = await engine.admin.getExecution({ ...(execution && { id: execution }) });
  expect(spec?.metadata?.principal).toBe("flytepropeller");
  engine.close();
});

test("nothing secret is in admin's log", () => {
  const text = admin.log().join("\n");
  expect(text).toContain("admin is ready");
  expect([PASSWORD, secretOf("flytepropeller"), "eyJ"].filter((secret) => text.includes(secret))).toEqual([]);
});
