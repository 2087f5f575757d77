import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FlyteClient } from "@flyte-ts/client";
import { NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compatibilityRows } from "../structure/compatibility.js";
import { waitForEnd } from "../stack/executions.js";
import { findUnmodifiedFlytectl } from "./flytectl.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { type StackClient, connectToStack } from "../stack/use-stack.js";
import { root } from "../repository.js";

// Runs every command of unmodified pyflyte and flytectl that calls a server, on one stack.
// docs/reference/compatibility.md lists them.
const scope = { project: "flytesnacks", domain: "development" };
const SOURCE = "client_commands.py";
const MODULE = "client_commands";

const { program: flytectlProgram, missing: noFlytectl } = await findUnmodifiedFlytectl();

let stack: RunningStack;
let client: FlyteClient;
let folder: string;
let close: StackClient["close"];

beforeAll(async () => {
  stack = await startStack();
  ({ client, folder, close } = connectToStack(stack));
  copyFileSync(join(root, "conformance", "python", SOURCE), join(folder, SOURCE));
}, 300_000);
afterAll(() => close(), 60_000);

/** Runs a command that must succeed. Returns its output, including stderr. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: "utf8", env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}\n${stderr}`);
  return `${stdout}\n${stderr}`;
}

function pyflyte(...args: string[]): string {
  return run(join(stack.pythonBin, "pyflyte"), args, {
    PATH: `${stack.pythonBin}:${process.env.PATH}`,
    FLYTE_PLATFORM_URL: `localhost:${stack.api}`,
    FLYTE_PLATFORM_INSECURE: "true",
    COLUMNS: "300",
    TERM: "dumb",
  });
}

function flytectl(...args: string[]): string {
  const address = ["--admin.endpoint", `dns:///localhost:${stack.api}`, "--admin.insecure"];
  return run(flytectlProgram, [...args, ...address], { HOME: folder });
}

const inScope = ["-p", scope.project, "-d", scope.domain];
/** Extracts the name of the execution that a command created. */
const executionNameIn = (text: string): string => /(?:executions\/|ex:flytesnacks:development:|name:")([a-z0-9-]+)/.exec(text)?.[1] ?? "";
const phaseOf = async (name: string): Promise<string | undefined> =>
  WorkflowExecution_Phase[(await client.admin.getExecution({ id: { ...scope, name } })).closure?.phase ?? 0];
const ended = async (name: string): Promise<string | undefined> =>
  WorkflowExecution_Phase[(await waitForEnd(client, { ...scope, name }, 120_000)).closure?.phase ?? 0];

/** Commands with a row in docs/reference/compatibility.md. */
const documentedCommands = (program: string): string[] =>
  compatibilityRows().flatMap(({ name }) => (name.startsWith(`${program} `) ? [name.slice(program.length + 1)] : []));

/** Prints every command of pyflyte. The subcommands of `run` and `build` depend on local files. */
const COMMANDS_OF_PYFLYTE = `
import click
from flytekit.clis.sdk_in_container.pyflyte import main
def tell(command, path, context):
    if isinstance(command, click.Group) and path not in (["run"], ["build"]):
        for name in command.list_commands(context):
            tell(command.get_command(context, name), [*path, name], context)
    else:
        print(" ".join(path))
tell(main, [], click.Context(main, info_name="pyflyte", obj={}))
`;

/** Lists every command of flytectl from its help. */
function commandsOfFlytectl(path: readonly string[] = []): string[] {
  const help = run(flytectlProgram, [...path, "--help"], { HOME: folder });
  const listed = /Available Commands:\n((?: {2}.*\n)+)/.exec(help)?.[1] ?? "";
  const names = listed.split("\n").flatMap((line) => /^ {2}([a-z-]+) /.exec(line)?.[1] ?? []);
  return names.length === 0 ? [path.join(" ")] : names.flatMap((name) => commandsOfFlytectl([...path, name]));
}

describe("pyflyte", () => {
  let succeeded: string;
  let failed: string;

  test("every command has its row in docs/reference/compatibility.md", () => {
    const listed = run(join(stack.pythonBin, "python"), ["-W", "ignore", "-c", COMMANDS_OF_PYFLYTE]).trim().split("\n");
    expect(documentedCommands("pyflyte").sort()).toEqual(listed.filter((line) => line !== "").sort());
  }, 60_000);

  test("info", () => expect(pyflyte("info")).toMatch(/Backend.*0\.1\.0|localhost/s));

  test("run --remote", async () => {
    succeeded = executionNameIn(pyflyte("run", "--remote", SOURCE, "twice", "--x", "4"));
    failed = executionNameIn(pyflyte("run", "--remote", SOURCE, "fails"));
    expect([await ended(succeeded), await ended(failed)]).toEqual(["SUCCEEDED", "FAILED"]);
  }, 240_000);

  test("run --remote accepts a local folder twice", async () => {
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(join(elsewhere, "data"), { recursive: true });
    copyFileSync(join(root, "conformance", "python", "folders.py"), join(elsewhere, "folders.py"));
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(elsewhere, "data", name), name);
    for (let i = 0; i < 2; i++) {
      const name = executionNameIn(pyflyte("run", "--remote", "elsewhere/folders.py", "list_names", "--folder", "elsewhere/data"));
      expect(await ended(name)).toBe("SUCCEEDED");
      const { fullOutputs } = await client.admin.getExecutionData({ id: { ...scope, name } });
      expect(JSON.stringify(fullOutputs?.literals, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))).toContain(
        "a.txt,b.txt",
      );
    }
  }, 240_000);

  test("register", async () => {
    expect(pyflyte("register", "--version", "v1", SOURCE)).toMatch(/Successfully registered/);
    await client.admin.getLaunchPlan({ id: { resourceType: 3, ...scope, name: "daily_plan", version: "v1" } });
  }, 60_000);

  test.each([
    ["remote-task", "double"],
    ["remote-workflow", "twice"],
    ["remote-launchplan", "twice"],
  ])(
    "run %s",
    async (kind, name) => {
      const execution = executionNameIn(pyflyte("run", kind, `${MODULE}.${name}`, "--x", "5"));
      expect(await ended(execution)).toBe("SUCCEEDED");
    },
    120_000,
  );

  test("launchplan --activate and --deactivate", async () => {
    const state = async () =>
      (await client.admin.getLaunchPlan({ id: { resourceType: 3, ...scope, name: "daily_plan", version: "v1" } })).closure?.state;
    pyflyte("launchplan", "--activate", "daily_plan", "v1");
    expect(await state()).toBe(LaunchPlanState.ACTIVE);
    expect(pyflyte("get", "launchplan", "--active-only")).toMatch(/daily_plan/);
    pyflyte("launchplan", "--deactivate", "daily_plan", "v1");
    expect(await state()).toBe(LaunchPlanState.INACTIVE);
  }, 60_000);

  test("get launchplan", () => {
    expect(pyflyte("get", "launchplan")).toMatch(/daily_plan/);
    expect(pyflyte("get", "launchplan", "daily_plan", "v1")).toMatch(/v1/);
  }, 60_000);

  test("execution relaunch and recover", async () => {
    const again = executionNameIn(pyflyte("execution", "--execution-id", succeeded, "relaunch"));
    const recovered = executionNameIn(pyflyte("execution", "--execution-id", failed, "recover"));
    expect([await ended(again), await ended(recovered)]).toEqual(["SUCCEEDED", "FAILED"]);
  }, 120_000);

  test("fetch", () => {
    expect(pyflyte("fetch", `flyte://v1/${scope.project}/${scope.domain}/${succeeded}/n1/o`)).toMatch(/16/);
  }, 60_000);

  test.each(["dump", "explain"])("metrics %s", (command) => expect(pyflyte("metrics", command, succeeded)).toMatch(/WORKFLOW_SETUP|n0/));

  test("backfill", async () => {
    const days = ["--from-date", "2026-03-01", "--to-date", "2026-03-03"];
    const execution = executionNameIn(pyflyte("backfill", ...inScope, "-v", "v1", ...days, "daily_plan"));
    expect(await ended(execution)).toBe("SUCCEEDED");
  }, 180_000);
});

describe.skipIf(noFlytectl)("flytectl", () => {
  let execution: string;
  let waiting: string;
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return name;
  };

  test("every command has its row in docs/reference/compatibility.md", () => {
    expect(documentedCommands("flytectl").sort()).toEqual(commandsOfFlytectl().sort());
  });

  test("version", () => expect(flytectl("version")).toMatch(/controlPlane|0\.1\.0/));

  test("register files of a package with its source", async () => {
    pyflyte("--pkgs", MODULE, "package", "--image", "python:3.11", "--copy", "all", "--force", "--output", "package.tgz");
    expect(flytectl("register", "files", "--archive", "package.tgz", ...inScope, "--version", "c1")).toMatch(/Success/);
    expect(flytectl("register", "files", "--archive", "package.tgz", ...inScope, "--version", "c1")).toMatch(/already exists|Success/i);
    const { launchPlans } = await client.admin.listLaunchPlans({ id: scope, limit: 20, filters: "eq(version,c1)" });
    expect(launchPlans.map(({ id }) => id?.name)).toContain(`${MODULE}.twice`);
  }, 120_000);

  test("compile", () => {
    pyflyte("--pkgs", MODULE, "package", "--image", "python:3.11", "--force", "--output", "plain.tgz");
    expect(flytectl("compile", "--file", "plain.tgz")).toMatch(/successfully/i);
  }, 60_000);

  test("get", () => {
    expect(flytectl("get", "project")).toMatch(/flytesnacks/);
    expect(flytectl("get", "project", scope.project, "-o", "yaml")).toMatch(/id: flytesnacks/);
    expect(flytectl("get", "task", ...inScope)).toMatch(/client_commands\.double/);
    expect(flytectl("get", "task", ...inScope, `${MODULE}.double`)).toMatch(/c1/);
    expect(flytectl("get", "task", ...inScope, `${MODULE}.double`, "--latest", "-o", "json")).toMatch(/"version": "c1"/);
    expect(flytectl("get", "task", ...inScope, `${MODULE}.double`, "--version", "c1", "--execFile", "task.yaml")).toMatch(/c1/);
    expect(flytectl("get", "workflow", ...inScope)).toMatch(/client_commands\.twice/);
    expect(flytectl("get", "workflow", ...inScope, `${MODULE}.twice`, "--version", "c1", "-o", "dot")).toMatch(/n0/);
    expect(flytectl("get", "launchplan", ...inScope, "--filter.fieldSelector", "name=daily_plan")).toMatch(/daily_plan/);
    expect(flytectl("get", "launchplan", ...inScope, `${MODULE}.twice`, "--version", "c1", "--execFile", "run.yaml")).toMatch(/c1/);
    expect(flytectl("get", "launchplan", ...inScope, "--workflow", `${MODULE}.twice`)).toMatch(/client_commands\.twice/);
    expect([existsSync(join(folder, "run.yaml")), existsSync(join(folder, "task.yaml"))]).toEqual([true, true]);
  }, 60_000);

  test("create execution and show all its data", async () => {
    execution = executionNameIn(flytectl("create", "execution", ...inScope, "--execFile", "run.yaml"));
    expect(await ended(execution)).toBe("SUCCEEDED");
    expect(flytectl("get", "execution", ...inScope, execution)).toMatch(/SUCCEEDED/);
    expect(flytectl("get", "execution", ...inScope, execution, "--details")).toMatch(/n0.*n1/s);
    expect(
      flytectl("get", "execution", ...inScope, "--filter.fieldSelector", "phase in (SUCCEEDED;FAILED)", "--filter.limit", "2"),
    ).toMatch(/SUCCEEDED/);
    const again = executionNameIn(flytectl("create", "execution", ...inScope, "--relaunch", execution));
    const recovered = executionNameIn(flytectl("create", "execution", ...inScope, "--recover", execution));
    expect([await ended(again), await ended(recovered)]).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    const task = executionNameIn(flytectl("create", "execution", ...inScope, "--execFile", "task.yaml"));
    expect(await ended(task)).toBe("SUCCEEDED");
  }, 240_000);

  test("delete execution and update execution", async () => {
    const { id } = await client.admin.createExecution({
      ...scope,
      spec: { launchPlan: { resourceType: 3, ...scope, name: `${MODULE}.waits`, version: "c1" }, metadata: {} },
      inputs: {},
    });
    waiting = id?.name ?? "";
    await expect.poll(() => phaseOf(waiting), { timeout: 60_000 }).toBe("RUNNING");
    flytectl("delete", "execution", ...inScope, waiting);
    expect(await ended(waiting)).toBe("ABORTED");
    flytectl("update", "execution", ...inScope, waiting, "--archive", "--force");
    expect(flytectl("get", "execution", ...inScope)).not.toContain(waiting);
    flytectl("update", "execution", ...inScope, waiting, "--activate", "--force");
    expect(flytectl("get", "execution", ...inScope)).toContain(waiting);
  }, 120_000);

  test("create project and update project", () => {
    flytectl("create", "project", "--id", "p-one", "--name", "One", "--description", "first", "--labels", "a=b");
    expect(flytectl("get", "project", "p-one", "-o", "json")).toMatch(/"description": "first"/);
    flytectl("update", "project", "-p", "p-one", "--archive", "--force");
    expect(flytectl("get", "project")).not.toContain("p-one");
    flytectl("update", "project", "-p", "p-one", "--activate", "--force");
    expect(flytectl("get", "project")).toContain("p-one");
  }, 60_000);

  test("update launchplan", async () => {
    const state = async () =>
      (await client.admin.getLaunchPlan({ id: { resourceType: 3, ...scope, name: "daily_plan", version: "c1" } })).closure?.state;
    flytectl("update", "launchplan", ...inScope, "daily_plan", "--version", "c1", "--activate", "--force");
    expect(await state()).toBe(LaunchPlanState.ACTIVE);
    flytectl("update", "launchplan", ...inScope, "daily_plan", "--version", "c1", "--deactivate", "--force");
    expect(await state()).toBe(LaunchPlanState.INACTIVE);
  }, 60_000);

  test.each([
    ["task-meta", ResourceType.TASK, `${MODULE}.hour_of`],
    ["workflow-meta", ResourceType.WORKFLOW, `${MODULE}.daily`],
    ["launchplan-meta", ResourceType.LAUNCH_PLAN, "daily_plan"],
  ])("update %s", async (command, resourceType, name) => {
    const metadata = async () => {
      const { description, state } = (await client.admin.getNamedEntity({ resourceType, id: { ...scope, name } })).metadata ?? {};
      return [description, NamedEntityState[state ?? 0]];
    };
    // Admin supports no state for tasks, so the test skips `--archive` and `--activate` for tasks.
    const states = resourceType === ResourceType.TASK ? [] : (["--archive", "--activate"] as const);
    flytectl("update", command, ...inScope, name, "--description", "told anew", "--force");
    const seen = [await metadata()];
    for (const flag of states) {
      flytectl("update", command, ...inScope, name, flag, "--force");
      seen.push(await metadata());
    }
    expect(seen.map(([description]) => description)).toEqual(seen.map(() => "told anew"));
    const archived = (flag: string) => (flag === "--archive" ? "NAMED_ENTITY_ARCHIVED" : "NAMED_ENTITY_ACTIVE");
    expect(seen.map(([, state]) => state)).toEqual(["NAMED_ENTITY_ACTIVE", ...states.map(archived)]);
  });

  let count = 0;
  const level = `project: ${scope.project}\ndomain: ${scope.domain}\n`;
  test.each([
    ["task-resource-attribute", "defaults:\n  cpu: 300m\nlimits:\n  cpu: 600m\n", "300m"],
    ["cluster-resource-attribute", "attributes:\n  quota: many\n", "many"],
    ["execution-queue-attribute", "tags:\n  - fast\n", "fast"],
    ["execution-cluster-label", "value: gpu\n", "gpu"],
    ["plugin-override", "overrides:\n  - task_type: python-task\n    plugin_id:\n      - pods\n    missing_plugin_behavior: 1\n", "pods"],
    ["workflow-execution-config", "max_parallelism: 7\n", "7"],
  ])(
    "get, update and delete %s, of a domain and of a workflow",
    (command, body, value) => {
      for (const [at, where] of [
        [level, []],
        [`${level}workflow: ${MODULE}.twice\n`, [`${MODULE}.twice`]],
      ] as const) {
        flytectl("update", command, "--attrFile", file("attributes.yaml", at + body), "--force");
        expect(flytectl("get", command, ...inScope, ...where, "--attrFile", `got${++count}.yaml`)).toMatch(/got.*\.yaml/);
        expect(flytectl("get", command, ...inScope, ...where)).toContain(value);
        flytectl("delete", command, ...inScope, ...where);
      }
      expect(() => flytectl("get", command, ...inScope)).toThrow(/attribute/);
    },
    60_000,
  );

  test("config and completion need no server", () => {
    flytectl("config", "init", "--host", `localhost:${stack.api}`, "--insecure", "--force");
    expect(readdirSync(join(folder, ".flyte"))).toContain("config.yaml");
    const config = join(folder, ".flyte", "config.yaml");
    for (const command of ["discover", "validate"])
      expect(flytectl("config", command, "--config", config)).toMatch(/Validated config file/);
    expect(flytectl("completion", "bash")).toMatch(/flytectl/);
    expect(run(flytectlProgram, ["get", "project", "--config", config])).toMatch(/flytesnacks/);
  });
});
