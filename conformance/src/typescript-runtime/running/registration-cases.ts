import { copyFileSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FlyteClient } from "@flyte-ts/client";
import { floatLiteral, literalMap } from "@flyte-ts/domain/literal";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../../repository.js";
import { type TypeScriptProject, typeScriptProject, versionIn } from "../project.js";
import type { ProjectStack } from "./project-stack.fixture.js";
import { errorOf, runToEnd } from "../registered-executions.js";

/** A TypeScript project that flyte-ts registers and runs on a running stack. */
export function registrationCases(running: () => ProjectStack): void {
  let client: FlyteClient;
  let endpoint: string;
  let project: TypeScriptProject;

  beforeAll(() => {
    ({ client, endpoint } = running());
    project = typeScriptProject(endpoint);
  });
  afterAll(() => project?.remove());

  const digestIn = (text: string): string | undefined => /bundle ([0-9a-f]{64})/.exec(text)?.[1];

  test("a second registration sends nothing, and says so", () => {
    const own = typeScriptProject(endpoint);
    // Code of its own gives it a version that no other group of cases registers.
    own.edit("src/arithmetic.ts", "x * 2", "2 * x");
    const first = own.run("register");
    expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining("created  task cache.doubled") });
    const second = own.run("register");
    expect(second).toMatchObject({
      status: 0,
      stdout: `nothing is new: all entities are registered with the version ${versionIn(first)}\n`,
    });
    own.remove();
  }, 400_000);

  test("a hundred entities of which none is new are registered soon", () => {
    const copy = typeScriptProject(endpoint);
    rmSync(join(copy.folder, "src"), { recursive: true });
    const flows = join(copy.folder, "src", "flows");
    mkdirSync(flows, { recursive: true });
    for (let module = 0; module < 10; module++) {
      const tasks = Array.from(
        { length: 8 },
        (_, i) => `export const t${i} = task({ inputs: { x: t.int }, outputs: t.int, cache: true }, ({ x }) => x + ${10 * module + i});`,
      );
      const workflows = ["t0", "t1"].map(
        (name) => `export const w_${name} = workflow({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => ${name}({ x }));`,
      );
      writeFileSync(
        join(flows, `m${module}.ts`),
        ['import { t, task, workflow } from "@flyte-ts/sdk";', ...tasks, ...workflows].join("\n"),
      );
    }
    expect(copy.run("register").stdout.match(/^created {2}(task|workflow) /gm)).toHaveLength(100);
    const start = performance.now();
    const second = copy.run("register");
    const elapsed = Math.round(performance.now() - start);
    process.stdout.write(`registration: 100 entities, nothing new: ${elapsed} ms\n`);
    expect(second.stdout).toMatch(/^nothing is new/);
    expect(elapsed).toBeLessThan(Number(process.env["REGISTRATION_LIMIT_MS"] ?? "60000"));
    copy.remove();
  }, 400_000);

  test("two copies of a project in different folders have one digest", () => {
    const other = typeScriptProject(endpoint);
    const digests = [project, other].map((copy) => digestIn(copy.run("register", "--dry-run").stdout));
    other.remove();
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
  }, 400_000);

  test("a workflow runs with files, checkpoints, decks, maps and a dynamic task, locally and remotely alike", async () => {
    const args = ["src/flows/context.ts", "all", "--xs", "[1,2,3]"];
    const remote = project.run("run", "--remote", "--wait", ...args);
    expect(remote, `${remote.stdout}\n${remote.stderr}`).toMatchObject({ status: 0 });
    const outputs = (text: string) => text.split("\n").filter((line) => /^\w+ = /.test(line) && !line.startsWith("project"));
    expect(outputs(remote.stdout)).toEqual(['read = "9 76b99ab4"', "count = 2", "squares = [11,14,19]", "made = 50"]);
    const local = project.run("run", ...args);
    expect(local, `${local.stdout}\n${local.stderr}`).toMatchObject({ status: 0 });
    expect(outputs(local.stdout)).toEqual(outputs(remote.stdout));
  }, 600_000);

  test("a run takes a module with those that it imports, whatever is wrong with others", () => {
    const copy = typeScriptProject(endpoint);
    const write = (name: string, lines: readonly string[]) => writeFileSync(join(copy.folder, "src", "flows", name), lines.join("\n"));
    const sdk = 'import { t, task, workflow } from "@flyte-ts/sdk";';
    write("twice.ts", [sdk, "export const twice = task({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => 2 * x);"]);
    const graph = "export const both = workflow({ outputs: t.int }, () => twice({ x: 4 }));";
    write("caller.ts", [sdk, 'import { twice } from "./twice.ts";', graph]);
    write("broken.ts", ['import "./missing.ts";']);
    for (const flags of [[], ["--remote", "--wait"]]) {
      const ended = copy.run("run", ...flags, "src/flows/caller.ts", "both");
      expect(ended, `${ended.stdout}\n${ended.stderr}`).toMatchObject({ status: 0, stdout: expect.stringMatching(/^o0 = 8$/m) });
    }
    expect(copy.run("check")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("Could not resolve './missing.ts' in src/flows/broken.ts"),
    });
    copy.remove();
  }, 400_000);

  test("a local file is an input of a remote execution", () => {
    writeFileSync(join(project.folder, "input.txt"), "abcabcabc");
    const run = project.run("run", "--remote", "--wait", "src/flows/context.ts", "read", "--file", "input.txt");
    expect(run, `${run.stdout}\n${run.stderr}`).toMatchObject({ status: 0, stdout: expect.stringContaining('o0 = "9 76b99ab4"') });
  }, 600_000);

  test("a changed helper invalidates the cache of the task that uses it, and of no other", async () => {
    const inputs = literalMap([["x", floatLiteral(21)]]);
    const run = async () => {
      const version = versionIn(project.run("register"));
      return runToEnd(client, { name: "cache.both", version, kind: ResourceType.LAUNCH_PLAN, inputs });
    };
    expect((await run()).cache).toEqual({ doubled: "CACHE_POPULATED", halved: "CACHE_POPULATED" });
    project.edit("src/arithmetic.ts", "/** Halves a number. */", "/** Halves a number, as before. */");
    project.edit("src/flows/context.ts", "x * x + offset", "offset + x * x");
    expect((await run()).cache).toEqual({ doubled: "CACHE_HIT", halved: "CACHE_HIT" });
    project.edit("src/arithmetic.ts", "x * 2", "x + x");
    expect((await run()).cache).toEqual({ doubled: "CACHE_POPULATED", halved: "CACHE_HIT" });
  }, 900_000);

  const [addon = ""] = globSync("node_modules/@oxc-parser/binding-*/*.node", { cwd: root });

  test.skipIf(addon === "")(
    "a package with a native part comes from the image, or with the bundle",
    async () => {
      addNativePackage();
      const task = { name: "native.counts", kind: ResourceType.TASK };
      const config = "flyte.config.ts";
      project.edit(config, 'project: "flytesnacks"', 'externalsFrom: "image",\n  project: "flytesnacks"');
      const missing = await runToEnd(client, { ...task, version: versionIn(project.run("register")) });
      const error = await errorOf(client, missing.attempts[0]);
      expect(missing.phase).toBe("FAILED");
      expect(error.message).toBe(
        'the image has no native-fixture 1.2.3, which native.counts imports at src/flows/native.ts:2; add it to the image or set externalsFrom: "bundle"',
      );
      project.edit(config, 'externalsFrom: "image"', 'externalsFrom: "bundle"');
      const bundled = await runToEnd(client, { ...task, version: versionIn(project.run("register")) });
      expect(bundled.phase).toBe("SUCCEEDED");
    },
    600_000,
  );

  /** Adds a package with a native part, and a task that calls it. */
  function addNativePackage(): void {
    const folder = join(project.folder, "node_modules", "native-fixture");
    mkdirSync(join(folder, "build", "Release"), { recursive: true });
    copyFileSync(join(root, addon), join(folder, "build", "Release", "addon.node"));
    const manifest = { name: "native-fixture", version: "1.2.3", gypfile: true, main: "index.js" };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "index.js"), 'module.exports = require("./build/Release/addon.node");\n');
    writeFileSync(join(folder, "index.d.ts"), "declare const addon: object;\nexport default addon;\n");
    const source = [
      'import { t, task } from "@flyte-ts/sdk";',
      'import addon from "native-fixture";',
      "export const counts = task({ outputs: t.boolean }, () => Object.keys(addon).length > 0);",
    ];
    writeFileSync(join(project.folder, "src", "flows", "native.ts"), `${source.join("\n")}\n`);
  }
}
