import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { INSTALL_OFFLINE, packSdk, type PublishedSdk, shell } from "./published-packages.fixture.js";

// The SDK as npm installs it into an empty folder. SDK_NODES lists further versions of Node.js,
// which come from the registry of npm.
const versions = process.env["SDK_NODES"]?.split(",") ?? [];
let sdk: PublishedSdk;
let workspace: string;
beforeAll(() => {
  sdk = packSdk();
  workspace = mkdtempSync(join(tmpdir(), "flyte-ts-authors-"));
}, 300_000);
afterAll(() => {
  sdk.remove();
  rmSync(workspace, { recursive: true, force: true });
});

function emptyFolder(name: string): string {
  const folder = join(workspace, name);
  mkdirSync(folder);
  return folder;
}

function install(folder: string, node?: string): void {
  const archives = [...Object.values(sdk.own), ...sdk.others].join(" ");
  const ended = shell(folder, `npm ${INSTALL_OFFLINE.join(" ")} ${archives}`, node === undefined ? {} : { node });
  expect(ended).toMatchObject({ status: 0 });
}

/** Lists the exports of an installed package whose files it does not have. */
function missingExports(installed: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>;
  };
  return Object.values(exports).flatMap(({ default: file }) => (file.includes("*") || existsSync(join(installed, file)) ? [] : [file]));
}

const FIRST_STEPS = "npx flyte-ts init --yes && npm test && npx flyte-ts check";

/** Starts a workflow of `init`, whose types tsc checks, where no server is. */
const PROGRAM = `import { connect } from "@flyte-ts/sdk/client";
import type { hello } from "./flows/hello.ts";
const flyte = connect({ endpoint: "localhost:1" });
await flyte.run<typeof hello>("hello.hello", { name: "you" }).then(
  async (execution) => console.log((await execution.wait()).greeting.length),
  (error: Error) => console.log(error.message),
);
`;

test("an empty folder becomes a project whose tests and checks pass", { timeout: 300_000 }, () => {
  const folder = emptyFolder("first");
  install(folder);
  const ended = shell(folder, FIRST_STEPS);
  expect(ended, ended.text).toMatchObject({ status: 0, text: expect.stringContaining("3 entities are sound") });
  const run = shell(folder, "npx flyte-ts run src/flows/hello.ts hello --name you");
  expect(run, run.text).toMatchObject({ status: 0, text: expect.stringContaining('greeting = "Hello, you!"\nlength = 11\n') });
  writeFileSync(join(folder, "src", "program.ts"), PROGRAM);
  const program = shell(
    folder,
    "npx flyte-ts check && node --experimental-strip-types --disable-warning=ExperimentalWarning src/program.ts",
  );
  expect(program, program.text).toMatchObject({ status: 0, text: expect.stringContaining("http://localhost:1 cannot be reached") });
  const installed = shell(folder, "npm ls --all --parseable").text;
  expect(installed).toContain("node_modules/@flyte-ts/runtime");
  expect(installed).not.toMatch(/node_modules\/(pg|postgres|nats|@nats-io|@kubernetes|@flyte-ts\/(?!sdk|runtime|cli))/);
  const texts = ["LICENSE", "NOTICE", "README.md", "THIRD-PARTY-LICENSES"];
  const cli = join(folder, "node_modules", "@flyte-ts", "cli");
  expect(readdirSync(cli)).toEqual(expect.arrayContaining(texts));
  // Without its own copy of the SDK the command bundles that of the project in each run.
  expect(readdirSync(join(cli, "bundle", "sdk"))).toContain("index.js");
  for (const name of ["sdk", "runtime"]) expect(missingExports(join(folder, "node_modules", "@flyte-ts", name))).toEqual([]);
  const again = shell(folder, "npx flyte-ts init --yes").text;
  expect(again.split("\n").filter((line) => /^(created|extended)/.test(line))).toEqual([]);
});

test("check reports type errors and graph errors", { timeout: 300_000 }, () => {
  const folder = emptyFolder("mistakes");
  install(folder);
  expect(shell(folder, "npx flyte-ts init --yes")).toMatchObject({ status: 0 });
  const file = join(folder, "src", "flows", "hello.ts");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("length: t.int", "length: t.float"));
  const ended = shell(folder, "npx flyte-ts check");
  expect(ended.status).toBe(1);
  expect(ended.text).toMatch(/src\/flows\/hello\.ts\(\d+,\d+\): error TS\d+.*Type .Int. is not assignable to type .Float./s);
  expect(ended.text).toMatch(/hello\.hello: .*MismatchingTypes/s);
});

test("a Node.js that is too old is reported", () => {
  const folder = emptyFolder("old");
  install(folder);
  const old = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.11.0" } })';
  const ended = shell(folder, `node --import 'data:text/javascript,${old}' node_modules/@flyte-ts/cli/flyte-ts.mjs --help`);
  expect(ended).toEqual({ status: 1, text: "flyte-ts: Node.js 22.11.0 is too old; 22.12 or newer is needed\n" });
}, 120_000);

test("the runtime of images needs no package", () => {
  const folder = emptyFolder("image");
  expect(shell(folder, `npm ${INSTALL_OFFLINE.join(" ")} ${sdk.own["@flyte-ts/runtime"]}`)).toMatchObject({ status: 0 });
  const listed = shell(folder, "npm ls --all --parseable").text.trim().split("\n");
  expect(listed.slice(1).map((line) => line.split("node_modules/")[1])).toEqual(["@flyte-ts/runtime"]);
  const ended = shell(folder, "npx flyte-ts-execute --unknown");
  expect(ended.text).not.toContain("ERR_MODULE_NOT_FOUND");
  expect(ended.status).toBe(1);
});

test.skipIf(versions.length === 0).each(versions)(
  "a project is made, tested and checked by Node.js %s",
  { timeout: 600_000 },
  (version) => {
    const tools = emptyFolder(`node-${version}`);
    expect(shell(tools, `npm install --no-audit --no-fund node@${version}`)).toMatchObject({ status: 0 });
    const node = join(tools, "node_modules", "node", "bin", "node");
    const folder = emptyFolder(`with-${version}`);
    install(folder, node);
    const ended = shell(folder, `node --version && ${FIRST_STEPS}`, { node });
    expect(ended, ended.text).toMatchObject({ status: 0, text: expect.stringContaining("3 entities are sound") });
    expect(ended.text).toContain(`v${version.split(".")[0]}.`);
    expect(ended.text).not.toContain("ExperimentalWarning:");
  },
);
