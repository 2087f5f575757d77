import { expect, test } from "vitest";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { structLiteral } from "../literal/convert/struct-data.js";
import type { Data } from "../literal/data/data.js";
import { readType } from "../literal/type/read-type.js";
import { curlCommand } from "./curl.js";
import { flytectlCommand } from "./flytectl.js";
import { flyteTsCommand } from "./flyte-ts.js";
import { highlight } from "./highlight.js";
import type { CommandInput, LaunchFacts } from "./launch-facts.js";
import { pyflyteCommand } from "./pyflyte.js";
import { pythonProgram } from "./python.js";
import { hereDocument, quote } from "./shell.js";

const optional = { unionType: { variants: [{ simple: "INTEGER" }, { simple: "NONE" }] } } as const;
const either = { unionType: { variants: [{ simple: "INTEGER" }, { simple: "STRING" }] } } as const;
const literals = {
  start: { type: { simple: "DATETIME" }, literal: { scalar: { primitive: { datetime: "2026-11-13T23:00:00Z" } } } },
  by: { type: { simple: "DURATION" }, literal: { scalar: { primitive: { duration: "5400s" } } } },
  text: { type: { simple: "STRING" }, literal: { scalar: { primitive: { stringValue: "it's" } } } },
  stop: { type: { simple: "BOOLEAN" }, literal: { scalar: { primitive: { boolean: false } } } },
  regions: {
    type: { collectionType: { simple: "STRING" } },
    literal: { collection: { literals: [{ scalar: { primitive: { stringValue: "a b" } } }] } },
  },
  limit: {
    type: optional,
    literal: { scalar: { union: { value: { scalar: { primitive: { integer: "5" } } }, type: { simple: "INTEGER" } } } },
  },
  value: {
    type: either,
    literal: { scalar: { union: { value: { scalar: { primitive: { stringValue: "5" } } }, type: { simple: "STRING" } } } },
  },
  data: { type: { blob: {} }, literal: { scalar: { blob: { uri: "s3://b/data.csv" } } } },
} as const;
const inputs = Object.entries(literals).map(([name, { type, literal }]) => ({
  name,
  type: readType(type as never),
  literal,
})) as unknown as readonly CommandInput[];
const facts: LaunchFacts = {
  origin: "http://localhost:30080",
  kind: "launch plan",
  inputs,
  request: {
    project: "p",
    domain: "d",
    name: "mine",
    spec: {
      launchPlan: { resourceType: "LAUNCH_PLAN", project: "p", domain: "d", name: "a.b", version: "v 1" },
      maxParallelism: 5,
      interruptible: false,
      labels: { values: { team: "x" } },
    },
    inputs: { literals: { start: literals.start.literal } },
  },
};

test("pyflyte has an option for each input, and says which it cannot be given", () => {
  expect(pyflyteCommand(facts).split(" \\\n  ")).toEqual([
    "FLYTE_PLATFORM_URL=localhost:30080 FLYTE_PLATFORM_INSECURE=true",
    "pyflyte run --project p",
    "--domain d",
    "--name mine",
    "--max-parallelism 5",
    "--interruptible false",
    "--labels team=x",
    "remote-launchplan",
    "'a.b:v 1'",
    "--start '2026-11-13 23:00:00+00:00'",
    "--by 5400s",
    "--text 'it'\\''s'",
    "--no_stop",
    `--regions '["a b"]'`,
    "--limit 5",
    "--data s3://b/data.csv\n\n# pyflyte cannot be given value: use Python or curl.",
  ]);
});

test("Python has values of its own, and literals where flytekit would guess the type", () => {
  const program = pythonProgram(facts);
  expect(program).toContain('"start": datetime.fromisoformat("2026-11-13T23:00:00+00:00"),');
  expect(program).toContain('"by": timedelta(microseconds=5400000000),');
  expect(program).toContain('"stop": False,');
  expect(program).toContain(
    '"value": literal({"scalar": {"union": {"value": {"scalar": {"primitive": {"stringValue": "5"}}}, "type": {"simple": "STRING"}}}}),',
  );
  expect(program).toContain('options=Options(labels=common.Labels({"team": "x"}), max_parallelism=5),');
});

test("flytectl reads a file, and says which settings it has no place for", () => {
  const command = flytectlCommand({ ...facts, kind: "task" });
  expect(command).toContain('  "limit": 5\n');
  expect(command).toContain('task: "a.b"');
  expect(command).toMatch(/no place for value, the name, parallelism, interruptible, labels: /);
});

test("flytectl is not given what it makes another value of", () => {
  const union = (value: object, type: object) => ({ scalar: { union: { value, type } } });
  const text = (stringValue: string) => ({ scalar: { primitive: { stringValue } } });
  const struct = (data: Data) => structLiteral(data, "msgpack") as LiteralJson;
  const leftOut = (type: object, literal: LiteralJson): boolean =>
    /no place for it\b/.test(flytectlCommand({ ...facts, inputs: [{ name: "it", type: readType(type as never), literal }] }));
  const { variants } = either.unionType;
  expect(leftOut(either, union(text("five"), variants[1]))).toBe(false);
  expect(leftOut(either, union(text("5"), variants[1]))).toBe(true);
  expect(leftOut(optional, union({ scalar: { primitive: { integer: "5" } } }, optional.unionType.variants[0]))).toBe(false);
  expect(leftOut({ unionType: { variants: [{ simple: "NONE" }, { simple: "STRING" }] } }, union(text("x"), { simple: "STRING" }))).toBe(
    true,
  );
  expect(leftOut({ collectionType: either }, { collection: { literals: [union(text("5"), variants[1])] } })).toBe(true);
  expect(leftOut({ simple: "STRUCT" }, struct({ rate: 0.5, name: "a" }))).toBe(false);
  expect(leftOut({ simple: "STRUCT" }, struct({ steps: [{ count: 100n }] }))).toBe(true);
  expect(leftOut({ simple: "STRING" }, text("a b"))).toBe(false);
  expect(leftOut({ simple: "STRING" }, text("ends with a line\n"))).toBe(true);
});

test("curl sends the call as it is", () => {
  const command = curlCommand(facts, true);
  expect(command).toContain("Bearer $FLYTE_TS_TOKEN");
  expect(JSON.parse(command.slice(command.indexOf("{"), command.lastIndexOf("}") + 1))).toEqual(facts.request);
});

test("flyte-ts reads the call", () => {
  const command = flyteTsCommand(facts);
  expect(command).toMatch(/^npx flyte-ts launch --endpoint localhost:30080 - <<'EOF'\n{/);
  expect(JSON.parse(command.slice(command.indexOf("{"), command.lastIndexOf("}") + 1))).toEqual(facts.request);
});

test("arguments and documents cannot leave their place", () => {
  expect([quote("a b"), quote("$(x)"), quote("a=b"), quote("")]).toEqual(["'a b'", "'$(x)'", "a=b", "''"]);
  expect(hereDocument("EOF\nx")).toBe("<<'EOF_'\nEOF\nx\nEOF_");
});

test("parts of a command join to the command", () => {
  const command = pyflyteCommand(facts);
  const parts = highlight(command);
  expect(parts.map(({ text }) => text).join("")).toBe(command);
  expect(parts.filter(({ kind }) => kind === "option").map(({ text }) => text)).toContain("--max-parallelism");
  expect(parts.at(-1)).toMatchObject({ kind: "comment" });
});
