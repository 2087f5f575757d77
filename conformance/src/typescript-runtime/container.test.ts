import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { collectionLiteral, integerLiteral, stringLiteral } from "@flyte-ts/domain/literal";
import { ContainerError_Kind } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { container, type Container, unpackBundle } from "./container.fixture.js";

// The contract between a TypeScript task and its pod: files and exit statuses.
let made: Container;
let folder: string;
beforeAll(() => {
  made = container();
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-unpacked-"));
}, 300_000);
afterAll(() => {
  made.remove();
  rmSync(folder, { recursive: true, force: true });
});

const errors = (name: string, environment: Readonly<Record<string, string>> = {}) =>
  made.run({ module: "flows/errors", name, environment });
const RECOVERABLE = ContainerError_Kind.RECOVERABLE;
const NON_RECOVERABLE = ContainerError_Kind.NON_RECOVERABLE;
const { SYSTEM, USER } = ExecutionError_ErrorKind;

test("a failed task ends with 0 and its error, or with 1 where the pod's status has to tell", async () => {
  const plain = await errors("throws").ended;
  expect(plain).toMatchObject({ status: 0, files: ["error.pb"], error: { code: "USER:TypeError", kind: NON_RECOVERABLE, origin: USER } });
  const told = await errors("throws", { FLYTE_FAIL_ON_ERROR: "true" }).ended;
  expect(told).toMatchObject({ status: 1, files: ["error.pb"] });
});

test("a task that ignores its outputs leaves nothing", async () => {
  expect(await errors("ignores").ended).toMatchObject({ status: 0, files: [] });
});

test("process.exit keeps its status and is named in the log", async () => {
  const run = errors("exits");
  expect(await run.ended).toMatchObject({ status: 7, files: [] });
  expect(run.log()).toContain("the task called process.exit(7)");
});

test("a task whose pod is terminated writes a recoverable system error before it is killed", async () => {
  const run = errors("outlivesItsTime", { FLYTE_TS_GRACE_PERIOD_SECONDS: "6" });
  // The task has begun when it is about to wait.
  await expect.poll(() => run.log(), { timeout: 60_000 }).toContain("waits");
  run.child.kill("SIGTERM");
  expect(await run.ended).toMatchObject({ status: 143, files: ["error.pb"], error: { code: "SYSTEM", kind: RECOVERABLE, origin: SYSTEM } });
  expect(run.log()).toContain("received SIGTERM");
});

test("each of several workers leaves an error with its name", async () => {
  const { files, error } = await errors("throws", { _F_DES: "Earliest", _F_WN: "worker-3" }).ended;
  expect(files).toEqual([expect.stringMatching(/^error-[0-9a-f]{32}\.pb$/)]);
  expect(error).toMatchObject({ worker: "worker-3", code: "USER:TypeError" });
});

test("inputs of another type fail the task with their place", async () => {
  const { error } = await made.run({
    module: "flows/context",
    name: "square",
    inputs: [
      ["x", stringLiteral("2")],
      ["offset", integerLiteral(1n)],
    ],
  }).ended;
  expect(error).toMatchObject({ code: "USER:InvalidInput", kind: NON_RECOVERABLE, message: expect.stringContaining("x") });
});

test("a mapped task takes the element of its index", async () => {
  const inputs = [
    ["x", collectionLiteral([2n, 3n, 4n].map(integerLiteral))],
    ["offset", integerLiteral(10n)],
  ] as const;
  const environment = { BATCH_JOB_ARRAY_INDEX_VAR_NAME: "INDEX", INDEX: "1", BATCH_JOB_ARRAY_INDEX_OFFSET: "1" };
  const { outputs } = await made.run({
    module: "flows/context",
    name: "square",
    inputs,
    environment,
    flags: ["--map"],
    words: ["vars", "offset"],
  }).ended;
  expect(outputs?.literals["o0"]).toEqual(integerLiteral(26n));
});

test("a large output is written beside the outputs, with its type, size and hash", async () => {
  const environment = { _F_L_MIN_SIZE_MB: "0.000001" };
  const { outputs, files, read } = await made.run({ module: "flows/context", name: "shows", environment }).ended;
  expect(files).toEqual(["deck.html", "o0_offloaded_metadata.pb", "outputs.pb"]);
  const stored = read("o0_offloaded_metadata.pb");
  expect(outputs?.literals["o0"]).toMatchObject({
    hash: expect.stringMatching(/^[\w-]{43}$/),
    value: { case: "offloadedMetadata", value: { sizeBytes: BigInt(stored.length), inferredType: { type: { case: "simple" } } } },
  });
  expect(fromBinary(LiteralSchema, stored).value.case).toBe("scalar");
});

test("the deck shows what the task made, and interprets no HTML in Markdown", async () => {
  const { read } = await made.run({ module: "flows/context", name: "shows" }).ended;
  const page = Buffer.from(read("deck.html")).toString();
  expect(page).toContain("<h1>Results</h1>");
  expect(page).toContain("<li><strong>two</strong></li>");
  expect(page).toContain("<em>html</em>");
});

test("a bundle with another digest than the registered one does not run", async () => {
  const { error } = await made.run({ module: "flows/errors", name: "throws", digest: "0".repeat(64) }).ended;
  expect(error).toMatchObject({ code: "SYSTEM", kind: RECOVERABLE, origin: SYSTEM, message: expect.stringContaining("as registered") });
});

test("a task that the bundle lacks is named", async () => {
  const { error } = await errors("renamed").ended;
  expect(error).toMatchObject({ code: "USER:UnknownTask", message: expect.stringContaining("no task renamed in flows/errors") });
});

test("code in the image runs without a bundle, and another format is refused", async () => {
  unpackBundle(made.bundle, folder);
  const entry = join(folder, "entry.mjs");
  const { outputs } = await made.run({ module: "flows/context", name: "shows", flags: ["--entry", entry] }).ended;
  expect(outputs?.literals["o0"]).toBeDefined();
  const newer = join(folder, "newer.mjs");
  copyFileSync(entry, newer);
  writeFileSync(
    newer,
    readFileSync(newer, "utf8")
      .replace(/const RUN_FORMAT ?= ?1/, "const RUN_FORMAT=2")
      .replaceAll(/format ?= ?entry\.format/g, "format=2"),
  );
  const { error } = await made.run({ module: "flows/context", name: "shows", flags: ["--entry", newer] }).ended;
  expect(error).toMatchObject({ code: "SYSTEM", message: expect.stringContaining("has the format 2, this runtime runs 1") });
});

test("a bundle contains no source text, no place of this machine and no time", () => {
  const maps = readdirSync(join(folder, "chunks")).filter((name) => name.endsWith(".map"));
  const texts = maps.map((name) => readFileSync(join(folder, "chunks", name), "utf8"));
  const sources = texts.flatMap((text) => (JSON.parse(text) as { readonly sources: readonly string[] }).sources);
  expect(sources).toContain("../src/flows/errors.ts");
  expect(sources.filter((source) => !/^\.\.\/(src|node_modules)\//.test(source))).toEqual([]);
  expect(texts.some((text) => text.includes('"sourcesContent":["'))).toBe(false);
});
