import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningStack, runPython } from "../../stack/stack-fixture.js";
import { root } from "../../repository.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TypeScriptProject, typeScriptProject, versionIn } from "../project.js";
import type { ProjectStack } from "./project-stack.fixture.js";

/** Workflows of TypeScript that call tasks of Python, by stock flytekit, and the reverse. */
export function languagesCases(running: () => ProjectStack): void {
  let stack: RunningStack;
  let project: TypeScriptProject;
  const GENERATED = "src/flyte.gen.ts";
  const generate = (...args: string[]) => project.run("generate", "--match", "pipelines.*", "--out", GENERATED, ...args);

  beforeAll(() => {
    ({ stack } = running());
    project = typeScriptProject(running().endpoint);
    copyFileSync(join(project.folder, "python", "pipelines.py"), join(project.folder, "pipelines.py"));
    pyflyte("register", "pipelines.py");
  }, 600_000);
  afterAll(() => project?.remove());

  const pyflyte = (command: string, ...args: string[]) =>
    runPython({ stack, folder: project.folder }, "pyflyte", [command, "-p", "flytesnacks", "-d", "development", ...args]);

  test("references are generated alike each time, compile, and tell what changed", () => {
    expect(generate()).toMatchObject({ status: 0 });
    const first = readFileSync(join(project.folder, GENERATED), "utf8");
    expect(first).toContain('method: t.enum("minmax", "zscore")');
    expect(first).toContain("/** Scales values. */");
    expect(first).toContain("a pickle of Python");
    expect(generate()).toMatchObject({ status: 0 });
    expect(readFileSync(join(project.folder, GENERATED), "utf8")).toBe(first);
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck", "--types", ""];
    const compiled = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...flags, GENERATED], {
      cwd: project.folder,
      encoding: "utf8",
    });
    expect([compiled.status, compiled.stdout]).toEqual([0, ""]);
    expect(generate("--check")).toMatchObject({ status: 0 });
    const file = join(project.folder, "pipelines.py");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(
        "def normalise(values: List[float], method: Method)",
        "def normalise(values: List[float], method: Method, shift: float)",
      ),
    );
    pyflyte("register", "pipelines.py");
    expect(generate("--check")).toMatchObject({ status: 1, stdout: `pipelines.normalise has another interface than in ${GENERATED}\n` });
  }, 600_000);

  test("a workflow of TypeScript calls a task and a launch plan of Python", () => {
    copyFileSync(join(project.folder, "python", "pipelines.py"), join(project.folder, "pipelines.py"));
    pyflyte("register", "pipelines.py");
    expect(generate()).toMatchObject({ status: 0 });
    project.edit(
      "src/flows/languages.ts",
      'from "@flyte-ts/sdk";',
      'from "@flyte-ts/sdk";\nimport { normalise, train } from "../flyte.gen.ts";',
    );
    const graph = "export const plain = workflow({ outputs: t.list(t.float) }, () => values());";
    const mixed = `export const mixed = workflow({ outputs: { scaled: t.list(t.float), said: t.string } }, () => ({
  scaled: normalise({ values: values(), method: "zscore" }, { retries: 1 }),
  said: train({ config: { epochs: 5, rate: 0.5, layers: [16, 4] } }),
}));`;
    project.edit("src/flows/languages.ts", graph, mixed);
    const run = project.run("run", "--remote", "--wait", "src/flows/languages.ts", "mixed");
    expect(run, `${run.stdout}\n${run.stderr}`).toMatchObject({ status: 0 });
    expect(run.stdout).toContain('scaled = [0.25,0.625,1]\nsaid = "2.5 2 True a,b"\n');
  }, 600_000);

  test("a workflow of Python calls a task of TypeScript with a data class", () => {
    const version = versionIn(project.run("register"));
    const source = `
from typing import NamedTuple
from flytekit import reference_task, workflow
from pipelines import Config

Widened = NamedTuple("Widened", config=Config, total=int)

@reference_task(project="flytesnacks", domain="development", name="languages.widen", version="${version}")
def widen(config: Config, by: int) -> Widened: ...

@workflow
def python_wf(by: int = 3) -> Widened:
    made = widen(config=Config(epochs=1, rate=0.5, layers=[1, 2]), by=by)
    return Widened(config=made.config, total=made.total)
`;
    writeFileSync(join(project.folder, "calls_typescript.py"), source);
    const output = pyflyte("run", "--remote", "--wait", "calls_typescript.py", "python_wf", "--by", "4");
    const name = /executions\/([a-z0-9]+)/.exec(output)?.[1] ?? "";
    const read = `
from flytekit.remote import FlyteRemote
from flytekit.configuration import Config as Connection
from calls_typescript import Config
execution = FlyteRemote(Connection.auto(), "flytesnacks", "development").fetch_execution(name="${name}")
execution = FlyteRemote(Connection.auto(), "flytesnacks", "development").sync(execution)
print(execution.closure.phase, execution.outputs.get("total", int), execution.outputs.get("config", Config))
`;
    writeFileSync(join(project.folder, "read_outputs.py"), read);
    const outputs = runPython({ stack, folder: project.folder }, "python", ["read_outputs.py"]);
    expect(outputs).toContain("4 7 Config(epochs=1, rate=0.5, layers=[1, 2, 4])");
  }, 600_000);
}
