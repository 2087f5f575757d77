import { expect, test } from "vitest";
import { parseFlags } from "./flags.js";

const DIGEST = "9f".repeat(32);
const BASE = ["--inputs", "s3://b/in.pb", "--output-prefix", "s3://b/out", "--raw-output-data-prefix", "s3://b/raw"];
const CODE = ["--bundle", "s3://b/x.tar.gz", "--bundle-digest", DIGEST];
const TASK = ["--", "task-module", "flows/train", "task-name", "fit"];

test("the flags of a container are read", () => {
  const flags = parseFlags([
    ...BASE,
    "--checkpoint-path",
    "s3://b/cp",
    "--prev-checkpoint",
    '""',
    ...CODE,
    "--map",
    ...TASK,
    "vars",
    "a,b",
  ]);
  expect(flags).toEqual({
    task: { module: "flows/train", name: "fit" },
    addresses: {
      inputs: "s3://b/in.pb",
      outputPrefix: "s3://b/out",
      rawOutputPrefix: "s3://b/raw",
      checkpoint: "s3://b/cp",
      previousCheckpoint: undefined,
    },
    code: { kind: "bundle", uri: "s3://b/x.tar.gz", digest: DIGEST },
    map: { bound: ["a", "b"] },
  });
});

test("an image with the code names its entry", () => {
  expect(parseFlags([...BASE, "--entry", "/app/flyte/entry.mjs", ...TASK]).code).toEqual({ kind: "entry", path: "/app/flyte/entry.mjs" });
});

test.each([
  ["an unknown flag", [...BASE, "--unknown", ...CODE, ...TASK], "Unknown option '--unknown'"],
  ["a missing prefix", [...BASE.slice(2), ...CODE, ...TASK], "--inputs is missing"],
  ["a template that was not filled", ["--inputs", "{{.input}}", ...BASE.slice(2), ...CODE, ...TASK], "--inputs is missing"],
  ["a missing digest", [...BASE, ...CODE.slice(0, 2), ...TASK], "--bundle and --bundle-digest"],
  ["a digest that is a path", [...BASE, "--bundle", "s3://b/x", "--bundle-digest", "../x", ...TASK], "must be a SHA-256"],
  ["a missing task", [...BASE, ...CODE], "task-module MODULE"],
])("%s is refused", (_name, argv, message) => {
  expect(() => parseFlags(argv)).toThrow(message);
});
