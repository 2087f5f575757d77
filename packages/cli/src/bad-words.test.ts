import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bad-words-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The command of a checkout: it passes the verbs of the local stack on to this package. */
const main = join(import.meta.dirname, "..", "..", "sdk-cli", "flyte-ts.mjs");
const run = (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
    timeout: 60_000,
  });
  return { status, stdout, stderr };
};

test.each([
  [["bogus"], 2, /^flyte-ts: unknown command "bogus"; flyte-ts --help lists all commands\n$/],
  [["launch"], 2, /^usage: flyte-ts launch .*FILE\n$/],
  [["launch", "/none.json"], 2, /^flyte-ts: \/none\.json is not the JSON of an ExecutionCreateRequest: .*\n$/],
  [["watch", "a", "b"], 2, /^usage: flyte-ts watch .*NAME\n$/],
  [["logs", "a", "b", "c"], 2, /^usage: flyte-ts logs .*NODE\n$/],
  [
    ["python", "install"],
    2,
    /^usage: flyte-ts python install .*\n +flyte-ts python install .*\n +flyte-ts python uninstall .*\n +flyte-ts python list .*\n$/,
  ],
  [["logs", "a", "b", "c", "n0", "--attempt", "x"], 2, /^flyte-ts: --attempt must be a whole number of at least 0, not "x"\n$/],
  [["logs", "a", "b", "c", "n0", "--bogus"], 2, /^flyte-ts: Unknown option '--bogus'; --help lists the flags\n$/],
  [["backup"], 1, /^flyte-ts: configuration of backup: to: required\n$/],
  [["watch", "--endpoint", "nonsense", "a", "b", "c"], 2, /^flyte-ts: --endpoint: endpoint "nonsense" must be .*\n$/],
  [["start", "--port", "abc"], 1, /^flyte-ts: configuration of stack: port: .*\n$/],
  [["start", "--data", ""], 1, /^flyte-ts: configuration of stack: data: the name of a folder is needed\n$/],
  [
    ["start", "--port", "0", "--blobPort", "0", "--data", "d", "--kubeconfig", "none"],
    1,
    /^flyte-ts: kubeconfig .*none cannot be read .*\n$/,
  ],
  [
    ["start", "--port", "0", "--blobPort", "0", "--data", "d", "--s3", "http://127.0.0.1:1"],
    1,
    /^flyte-ts: --s3 .*: set its keys in .*\n$/,
  ],
  [
    ["start", "--port", "0", "--blobPort", "0", "--data", "/dev/null/d"],
    1,
    /^flyte-ts: the data folder .*a part of its path is a file.*\n$/,
  ],
  [
    ["backup", "--to", "b", "--databases.admin", "postgres://127.0.0.1:1/x"],
    1,
    /^flyte-ts: connect ECONNREFUSED 127\.0\.0\.1:1: start what is to listen there.*\n$/,
  ],
])("arguments %j are rejected in one line with the reason", (words, status, message) => {
  expect(run(words, { AWS_ACCESS_KEY_ID: "" })).toMatchObject({ status, stderr: expect.stringMatching(message) });
});

test.each([
  [["logs", "--help"], /^usage: flyte-ts logs [^\n]*NODE\n\n {2}logs {4}Prints [^]*--attempt [^]*FLYTE_TS_TOKEN[^]* say\.\n$/],
  [["help", "watch"], /^usage: flyte-ts watch [^]*FLYTE_TS_TOKEN[^]* say\.\n$/],
  [
    ["--help"],
    /^usage: flyte-ts init [^]*\n {7}flyte-ts logs [^]*\nusage: flyte-ts start [^]*\nThe flag --help after a command prints .*\n$/,
  ],
])("%j prints the help", (words, text) => {
  expect(run(words)).toEqual({ status: 0, stdout: expect.stringMatching(text), stderr: "" });
});

test("a failed start releases its data directory", () => {
  run(["start", "--port", "0", "--blobPort", "0", "--data", "d", "--kubeconfig", "none"]);
  expect(readdirSync(join(folder, "d"))).not.toContain("stack.pid");
});

test("an unusable cache directory is reported with the variable that overrides it", () => {
  writeFileSync(join(folder, "file"), "");
  const { status, stderr } = run(["start", "--no-example", "--port", "0", "--blobPort", "0", "--data", "d"], {
    FLYTE_TS_CACHE: join(folder, "file"),
  });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^flyte-ts: the cache folder .*file cannot be used .*FLYTE_TS_CACHE\n$/)]);
});

test.runIf(process.platform === "linux")("a data directory that cannot be created is rejected", () => {
  const { status, stderr } = run(["start", "--port", "0", "--blobPort", "0", "--data", "/proc/flyte-ts"]);
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^flyte-ts: the data folder \/proc\/flyte-ts cannot be used: no folder can be created there\..*\n$/),
  ]);
});
