import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clientCredentials } from "@flyte-ts/auth";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ExecutionMetadata_ExecutionMode as Mode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { testWatchdog } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { findUnmodifiedFlytectl } from "./flytectl.js";
import { integerLiteral } from "../api/valid-requests.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { type StackClient, connectToStack } from "../stack/use-stack.js";
import { root } from "../repository.js";

// Runs a whole stack with authentication (`npm start -- --auth`). Services and unmodified clients
// sign in, in each of their ways.
const scope = { project: "flytesnacks", domain: "development" };
const SOURCE = "client_commands.py";
const { program: flytectlProgram, missing: noFlytectl } = await findUnmodifiedFlytectl();

let stack: RunningStack;
let client: FlyteClient;
let folder: string;
let close: StackClient["close"];
let secrets: string;
beforeAll(async () => {
  stack = await startStack(["--no-example", "--auth"]);
  secrets = join(stack.folder, "secrets");
  const credentials = { clientId: "flytekit", clientSecretFile: join(secrets, "flytekit"), scopes: ["all"] };
  ({ client, folder, close } = connectToStack(
    stack,
    clientCredentials(`127.0.0.1:${stack.api}`, credentials, () => new Date()),
  ));
  copyFileSync(join(root, "conformance", "python", SOURCE), join(folder, SOURCE));
  // A program replaces the browser and acts as the user.
  mkdirSync(join(folder, "bin"));
  const browser = join(root, "conformance", "python", "browser.py");
  writeFileSync(join(folder, "bin", "xdg-open"), `#!/bin/sh\n${join(stack.pythonBin, "python")} ${browser} "$@" > /dev/null 2>&1 &\n`);
  chmodSync(join(folder, "bin", "xdg-open"), 0o755);
}, 300_000);
afterAll(() => close(), 60_000);

const password = () => readFileSync(join(secrets, "admin-password"), "utf8");

/**
 * Collects the output of a program. @param onOutput called with all output whenever there is more
 */
function run(
  program: string,
  args: readonly string[],
  { env = {}, onOutput }: { env?: NodeJS.ProcessEnv; onOutput?: (all: string) => void } = {},
) {
  const path = `${join(folder, "bin")}:${stack.pythonBin}:${process.env.PATH}`;
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, HOME: folder, PATH: path, NAME: "admin", PASSWORD: password(), COLUMNS: "300", TERM: "dumb", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  testWatchdog().watch(child);
  let printed = "";
  const keep = (chunk: Buffer) => {
    printed += chunk.toString();
    onOutput?.(printed);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise<string>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) =>
      code === 0 ? done(printed) : fail(new Error(`${program} ${args.join(" ")} ended with ${code}:\n${printed}`)),
    );
  });
}

const executionNameIn = (text: string): string => /executions\/([a-z0-9-]+)/.exec(text)?.[1] ?? "";
const byClient = () => ({
  FLYTE_CREDENTIALS_AUTH_MODE: "client_credentials",
  FLYTE_CREDENTIALS_CLIENT_ID: "flytekit",
  FLYTE_CREDENTIALS_CLIENT_SECRET_LOCATION: join(secrets, "flytekit"),
});
const pyflyte = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  run(join(stack.pythonBin, "pyflyte"), args, {
    env: {
      FLYTE_PLATFORM_URL: `localhost:${stack.api}`,
      FLYTE_PLATFORM_INSECURE: "true",
      PYTHON_KEYRING_BACKEND: "keyring.backends.null.Keyring",
      ...env,
    },
    onOutput: confirmDevice(),
  });

/** Confirms the code of a device once, when a program prints it. */
function confirmDevice(): (all: string) => void {
  let confirmed = false;
  return (all) => {
    const [, site, code] =
      /(http:\/\/\S+?\/oauth2\/device)\?user_code=([A-Z0-9-]+)/i.exec(all) ??
      /(http:\/\/\S+\/oauth2\/device)\b[\s\S]*?code[^A-Z0-9]*([A-Z0-9]{4}-?[A-Z0-9]{4})\b/.exec(all) ??
      [];
    if (confirmed || site === undefined || code === undefined) return;
    confirmed = true;
    void run(join(folder, "bin", "xdg-open"), [`${site}?user_code=${code}`]);
  };
}

async function ended(name: string) {
  const { closure, spec } = await waitForEnd(client, { ...scope, name }, 120_000);
  return [WorkflowExecution_Phase[closure?.phase ?? 0], spec?.metadata?.principal];
}

test("calls without a token are refused, and only their owner can read secrets", async () => {
  expect((await fetch(`http://127.0.0.1:${stack.api}/api/v1/projects`)).status).toBe(401);
  const anonymous = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  await expect(anonymous.admin.listProjects({})).rejects.toMatchObject({ message: expect.stringContaining("not signed in") });
  anonymous.close();
  expect(stack.output()).not.toContain(password());
});

test("pyflyte runs with a client secret, and propeller uses the catalog with its own", async () => {
  const names = [];
  for (let i = 0; i < 2; i++) {
    names.push(executionNameIn(await pyflyte(byClient(), "run", "--remote", SOURCE, "cached")));
    expect(await ended(names[i] ?? "")).toEqual(["SUCCEEDED", "flytekit"]);
  }
  const statuses = [];
  for (const name of names) {
    const { closure } = await client.admin.getNodeExecution({ id: { executionId: { ...scope, name }, nodeId: "n0" } });
    const target = closure?.targetMetadata;
    statuses.push(target?.case === "taskNodeMetadata" ? CatalogCacheStatus[target.value.cacheStatus] : target?.case);
  }
  expect(statuses).toEqual(["CACHE_POPULATED", "CACHE_HIT"]);
}, 240_000);

test.each([["Pkce"], ["DeviceFlow"]])(
  "pyflyte run --remote signs a user in: %s",
  async (mode) => {
    const printed = await pyflyte(
      { FLYTE_CREDENTIALS_AUTH_MODE: mode, BROWSER: join(folder, "bin", "xdg-open") },
      "run",
      "--remote",
      SOURCE,
      "cached",
    );
    expect(await ended(executionNameIn(printed))).toEqual(["SUCCEEDED", "admin"]);
  },
  120_000,
);

test("the scheduler starts runs with its own secret", async () => {
  const workflow = (await client.admin.listWorkflows({ id: { ...scope, name: "client_commands.cached" }, limit: 1 })).workflows[0]?.id;
  const id = { resourceType: ResourceType.LAUNCH_PLAN, ...scope, name: "often", version: "v1" };
  const schedule = { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "@every 2s" } } };
  await client.admin.createLaunchPlan({
    id,
    spec: { ...(workflow && { workflowId: workflow }), entityMetadata: { schedule }, fixedInputs: { literals: { x: integerLiteral(2n) } } },
  });
  await client.admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE });
  const scheduled = () => client.admin.listExecutions({ id: scope, limit: 5, filters: `eq(mode,${Mode.SCHEDULED})` });
  await expect.poll(async () => (await scheduled()).executions.length, { timeout: 60_000 }).toBeGreaterThan(0);
  await client.admin.updateLaunchPlan({ id, state: LaunchPlanState.INACTIVE });
}, 90_000);

describe.skipIf(noFlytectl)("flytectl", () => {
  const flytectl = (...args: string[]) =>
    run(flytectlProgram, ["get", "project", "--admin.endpoint", `dns:///localhost:${stack.api}`, "--admin.insecure", ...args], {
      onOutput: confirmDevice(),
    });

  test("signs in with a client secret", async () => {
    const secret = ["--admin.clientId", "flytekit", "--admin.clientSecretLocation", join(secrets, "flytekit")];
    expect(await flytectl("--admin.authType", "ClientSecret", ...secret)).toMatch(/flytesnacks/);
  });

  test("signs a user in with the browser", async () => {
    expect(await flytectl("--admin.authType", "Pkce")).toMatch(/flytesnacks/);
  }, 60_000);

  test("signs a user in with the device flow", async () => {
    expect(await flytectl("--admin.authType", "DeviceFlow", "--admin.deviceFlowConfig.pollInterval", "1s")).toMatch(/flytesnacks/);
  }, 60_000);
});
