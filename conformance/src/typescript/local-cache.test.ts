import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { typeScriptProject } from "../typescript-runtime/project.js";

/** No server takes part in local runs. */
const ENDPOINT = "localhost:1";

test("local runs keep the outputs of cached tasks for runs with the same code and inputs", () => {
  const project = typeScriptProject(ENDPOINT);
  onTestFinished(() => project.remove());
  const run = (x: number) => {
    const { status, stdout, stderr } = project.run("run", "src/flows/cache.ts", "both", "--x", String(x));
    expect(status, stderr).toBe(0);
    const nodes = stdout.matchAll(/SUCCEEDED +cache\.(\w+)  \d+ ms( cached)?$/gm);
    return Object.fromEntries([...nodes].map(([, name, note]) => [name, note?.trim() ?? "run"]));
  };
  expect(run(21)).toEqual({ doubled: "run", halved: "run" });
  expect(run(21)).toEqual({ doubled: "cached", halved: "cached" });
  expect(run(4)).toEqual({ doubled: "run", halved: "run" });
  project.edit("src/arithmetic.ts", "x * 2", "x + x");
  expect(run(21)).toEqual({ doubled: "run", halved: "cached" });
}, 400_000);

test("a cached output whose file is gone is made again", () => {
  const project = typeScriptProject(ENDPOINT);
  onTestFinished(() => project.remove());
  const source = [
    'import { t, task } from "@flyte-ts/sdk";',
    'export const kept = task({ outputs: t.file("txt"), cache: true }, () => ({ content: "kept" }));',
  ];
  writeFileSync(join(project.folder, "src", "flows", "kept.ts"), source.join("\n"));
  const run = () => project.run("run", "src/flows/kept.ts", "kept").stdout;
  const file = /o0 = "(file:.*)"/.exec(run())?.[1] ?? "";
  expect(run()).toMatch(`cached\no0 = "${file}"`);
  rmSync(dirname(fileURLToPath(file)), { recursive: true });
  expect(run()).not.toContain("cached");
}, 400_000);
