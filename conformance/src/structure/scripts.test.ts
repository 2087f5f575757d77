import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { root } from "../repository.js";

function run(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts", script), ...args], { encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

test("imports go in the directions that the architecture allows", () => {
  expect(run("check-imports.mjs")).toEqual({ status: 0, output: "" });
});

test("admin's areas import in the allowed directions, and only their stores contain SQL", () => {
  expect(run("check-areas.mjs")).toEqual({ status: 0, output: "" });
});

test.each([
  ["identity/a.ts", 'import { x } from "../events/index.js";', "identity may import platform"],
  ["events/a.ts", 'import type { X } from "../executions/store/b.js";', "other areas are imported through executions/index.ts"],
  ["events/a.ts", 'import type { AdminDeps } from "../deps.js";', "areas do not import the composition root"],
  ["events/a.ts", 'import { x } from "./index.js";', "an area does not import its own face"],
  ["events/one/a.ts", 'import { x } from "../two/b.js";', "circle of folders"],
  ["executions/execution/a.ts", "const text = `SELECT id FROM executions`;", "SQL on it stands in executions/store/"],
  ["automation/store/a.ts", "const text = `DELETE FROM executions`;", "only executions/store/ does"],
  ["identity/store/a.ts", "const text = `SELECT id FROM executions`;", "identity may not know executions"],
])("the check of areas finds a mistake in %s: %s", (file, line, problem) => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-areas-"));
  const planted = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  planted("main.ts", 'import { x } from "./events/index.js";\n');
  planted("events/index.ts", 'export { x } from "./two/b.js";\n');
  planted("events/two/b.ts", 'export { y as x } from "../one/c.js";\n');
  planted("events/one/c.ts", 'export { y } from "../../executions/index.js";\n');
  planted("executions/index.ts", 'export { y } from "./store/b.js";\n');
  planted("executions/store/b.ts", "export const y = `SELECT id FROM executions`; // UPDATE projects\n");
  const before = run("check-areas.mjs", folder);
  planted(file, `${line}\n`);
  const { status, output } = run("check-areas.mjs", folder);
  rmSync(folder, { recursive: true });
  expect(before).toEqual({ status: 0, output: "" });
  expect([status, output]).toEqual([1, expect.stringContaining(problem)]);
});

test("file names are meaningful, and files stay short", () => {
  expect(run("check-names.mjs")).toEqual({ status: 0, output: "" });
});

test.each([
  ["recently-used.ts", '"recently"'],
  ["our-names.mjs", '"our"'],
  ["registered.fixture.ts", 'ends with "registered"'],
  ["source-of.ts", 'ends with "of"'],
  ["utils.ts", "the name says nothing"],
])("the check of names finds %s", (name, problem) => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-names-"));
  writeFileSync(join(folder, "lru-cache.ts"), "export const x = 1;\n");
  const before = run("check-names.mjs", folder);
  writeFileSync(join(folder, name), "export const x = 1;\n");
  const { status, output } = run("check-names.mjs", folder);
  rmSync(folder, { recursive: true });
  expect(before).toEqual({ status: 0, output: "" });
  expect([status, output]).toEqual([1, expect.stringContaining(problem)]);
});

test("comments and test titles open with a verb or a noun and name the actor", () => {
  expect(run("check-comments.mjs")).toEqual({ status: 0, output: "" });
});

test.each([
  ["planted.ts", "// Whether it is.", 'a comment opens with "Whether"'],
  ["planted.ts", "/**\n * What it gives.\n */", 'a comment opens with "What"'],
  ["planted.ts", "/** Returns it.\n * @param x of the thing */", 'a comment opens with "of"'],
  ["planted.ts", "// Runs when\n// somebody asks.", 'a comment says "somebody"'],
  ["planted.test.ts", 'test("what is kept", () => {});', 'a title opens with "what"'],
  ["planted.test.ts", "describe.skipIf(no)(`nobody is ${told}`, () => {});", 'a title says "nobody"'],
  ["planted.test.ts", 'test.each([["whoever asks", 1]])("%s", () => {});', 'a row says "whoever"'],
  ["planted.proto", "// Of the last look.", 'a comment opens with "Of"'],
  ["planted.proto", "/* Runs as whoever made it. */", 'a comment says "whoever"'],
  ["planted.proto", `// Names ${"it ".repeat(32)}`, "a line of a comment has 105 columns"],
])("the check of comments and titles finds in %s %j", (name, comment, problem) => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-comments-"));
  const text = name.endsWith(".proto") ? 'option go_package = "x// What is text";' : 'export const x = "// What is text";';
  const planted = (comments: string) => writeFileSync(join(folder, name), `${comments}\n${text}\n`);
  planted("// Answers what is asked,\n// that is, all, as user `nobody`.");
  const before = run("check-comments.mjs", folder);
  planted(comment);
  const { status, output } = run("check-comments.mjs", folder);
  rmSync(folder, { recursive: true });
  expect(before).toEqual({ status: 0, output: "" });
  expect([status, output]).toEqual([1, expect.stringContaining(`${name}:1: ${problem}`)]);
});

test("the console names colours, sizes and fonts in its theme only", () => {
  expect(run("check-styles.mjs")).toEqual({ status: 0, output: "" });
});

test.each([
  ["planted.module.css", ".a { color: #fff }", "a colour"],
  ["planted.module.css", ".a { border: 1px solid rgb(0 0 0) }", "a colour"],
  ["planted.module.css", ".a { background: white }", "a colour"],
  ["planted.module.css", ".a { padding: 4px 0 }", "a size"],
  ["planted.module.css", ".a { margin: -0.5rem }", "a size"],
  ["planted.module.css", ".a { font-family: Arial }", "a font"],
  ["planted.tsx", 'export const a = <i style={{ color: "#f00" }} />;', "a colour"],
  ["planted.ts", 'export const font = "12px Arial";', "a font"],
])("the check of styles finds in %s %s", (name, line, kind) => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-styles-"));
  mkdirSync(join(folder, "theme"));
  for (const place of ["theme", "."]) writeFileSync(join(folder, place, name), ".a { color: var(--white-ink); border: 1px solid }\n");
  writeFileSync(join(folder, "theme", name), `${line}\n`);
  const before = run("check-styles.mjs", folder);
  writeFileSync(join(folder, name), `${line}\n`);
  const { status, output } = run("check-styles.mjs", folder);
  rmSync(folder, { recursive: true });
  expect(before).toEqual({ status: 0, output: "" });
  expect([status, output]).toEqual([1, expect.stringContaining(`${name}:1 names ${kind}`)]);
});

test("settings have descriptions", () => {
  expect(run("check-settings.mjs")).toEqual({ status: 0, output: "" });
}, 60_000);

test.each([
  ["port: z.number(),", "port"],
  ["/** Retries. */ retries: z.strictObject({ limit: z.number() }),", "retries.limit"],
  ["/** Peers. */ peers: z.array(z.strictObject({ host: z.string() })),", "peers[].host"],
  ["/** Roles by name. */ roles: z.record(z.string(), z.strictObject({ scope: z.string() })),", "roles.NAME.scope"],
])(
  "the check of settings finds a setting without a description: %s",
  (line, setting) => {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-settings-"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const program = join(folder, "dist", "main.js");
    mkdirSync(dirname(program));
    const planted = (settings: string) =>
      writeFileSync(
        program,
        `import { z } from "zod";
const schema = z.object({ /** Address. */ host: z.string(), group: z.object({ /** Size, bytes. */ size: z.number() }), ${settings} });
console.log(JSON.stringify(z.toJSONSchema(schema)));\n`,
      );
    planted("");
    const before = run("check-settings.mjs", program);
    planted(line);
    const { status, output } = run("check-settings.mjs", program);
    rmSync(folder, { recursive: true });
    expect(before).toEqual({ status: 0, output: "" });
    expect([status, output]).toEqual([
      1,
      `${program}: the setting ${setting} has no description: add a documentation comment to its property\n`,
    ]);
  },
  60_000,
);

test.each([
  "packages/async/src/a.test.ts",
  "services/plugins/pod/src/b/a.fixture.ts",
  "services/propeller/simulation/a.ts",
  "bench/src/a.test.ts",
])("the check of the types of tests finds an unknown field in %s", (path) => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-types-"));
  for (const name of ["tsconfig.base.json", "tsconfig.tests.json"]) cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  const outputWith = (field: string) => {
    writeFileSync(join(folder, path), `export const changes: { readonly obsolete?: string } = { ${field}: "s1" };\n`);
    const tsc = [join(root, "node_modules/typescript/bin/tsc"), "-p", join(folder, "tsconfig.tests.json"), "--pretty", "false"];
    return spawnSync(process.execPath, tsc, { cwd: folder, encoding: "utf8" }).stdout;
  };
  const outputs = [outputWith("obsolete"), outputWith("obsoleteSlices")];
  rmSync(folder, { recursive: true });
  expect(outputs).toEqual(["", expect.stringContaining(`${path}(1,58): error TS2353`)]);
});

test("each package index shows at most 60 names, and packages/async has no dependencies and no clock", () => {
  expect(run("check-packages.mjs")).toEqual({ status: 0, output: "" });
});

test.each([
  ["packages/wide/src/index.ts", Array.from({ length: 61 }, (_, n) => `export const name${n} = ${n};`).join("\n"), "exports 61 names"],
  ["packages/wide/src/index.ts", 'export * from "./other.js";', "exports all names of another module"],
  ["packages/async/src/delay.ts", "export const later = (run: () => void) => setTimeout(run, 1);", "names setTimeout"],
  ["packages/async/src/delay.ts", 'import { createLogger } from "@flyte-ts/telemetry";', "imports @flyte-ts/telemetry"],
])("the check of packages finds a violation planted in %s", (path, text, problem) => {
  const tree = mkdtempSync(join(tmpdir(), "flyte-ts-packages-"));
  for (const name of ["async", "wide"]) {
    mkdirSync(join(tree, "packages", name, "src"), { recursive: true });
    writeFileSync(join(tree, "packages", name, "package.json"), JSON.stringify({ exports: { ".": { source: "./src/index.ts" } } }));
    writeFileSync(join(tree, "packages", name, "src/index.ts"), "export const one = 1;\n");
  }
  const before = run("check-packages.mjs", tree);
  writeFileSync(join(tree, path), text);
  const { status, output } = run("check-packages.mjs", tree);
  rmSync(tree, { recursive: true });
  expect(before).toEqual({ status: 0, output: "" });
  expect([status, output]).toEqual([1, expect.stringContaining(`${path} ${problem}`)]);
});

test("the generated types are those of the IDL", () => {
  expect(run("generate.mjs", "--check")).toMatchObject({ status: 0 });
}, 240_000);

describe("on a fresh clone, with the oldest Node for scripts", () => {
  const clone = mkdtempSync(join(tmpdir(), "flyte-ts-clone-"));
  cpSync(join(root, "scripts"), join(clone, "scripts"), { recursive: true });
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  // Every command imports these before it installs the Node that the other scripts need.
  test.each(["checks.mjs", "prepare.mjs", "child-process.mjs", "platform.mjs"])("%s loads before dependencies are installed", (module) => {
    const program = `Object.defineProperty(process.versions, "node", { value: "20.20.2" }); await import(${JSON.stringify(join(clone, "scripts", module))});`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  });
});

test("a PATH without npm is reported in one line", () => {
  const empty = mkdtempSync(join(tmpdir(), "flyte-ts-path-"));
  const start = join(root, "scripts", "start.mjs");
  const { status, stderr } = spawnSync(process.execPath, [start], { encoding: "utf8", env: { ...process.env, PATH: empty } });
  rmSync(empty, { recursive: true });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^flyte-ts: npm is not on the PATH: install it .*\n$/)]);
});
