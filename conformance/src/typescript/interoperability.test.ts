import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { isCastable } from "@flyte-ts/domain/type";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { decodeInputs, encodeInputs, interfaceOf, literalTypeOf, LocalFileStore } from "@flyte-ts/sdk/runtime";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cachedPython } from "../recorded/python.js";
import { root } from "../repository.js";
import { type Canonical, canonical, type Shape, shapes, typeOfShape, valuesOfShape } from "./shapes.fixture.js";

const PAIRS = 1500;
/** Python loads flytekit and makes thousands of classes, on a machine that may be busy. */
const PYTHON_LIMIT_MS = 600_000;
const DEPTH = 3;

interface Pair {
  readonly shape: Shape;
  readonly received: unknown;
  readonly literal: Literal;
}

interface Answer {
  readonly error?: string;
  /** The value that flytekit read. */
  readonly value: Canonical;
  /** The LiteralType and literal that flytekit writes for it, in base64. */
  readonly type: string;
  readonly literal: string;
}

let folder: string;
let pairs: readonly Pair[];
let answers: readonly Answer[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-interop-"));
  const files = new LocalFileStore(folder);
  const generated = fc.sample(
    shapes(DEPTH).chain((shape) => valuesOfShape(shape).map((given) => ({ shape, given }))),
    { numRuns: PAIRS, seed: 77 },
  );
  pairs = await Promise.all(generated.map(({ shape, given }) => pairOf(shape, given, files)));
  const [cases, results] = [join(folder, "cases"), join(folder, "answers")];
  writeFileSync(cases, pairs.map(({ shape, literal }) => `${JSON.stringify({ shape, literal: base64(literal) })}\n`).join(""));
  const script = join(root, "conformance/python/interoperate.py");
  await promisify(execFile)(cachedPython(), ["-W", "ignore", script, cases, results], { cwd: folder, env: { ...process.env, TZ: "UTC" } });
  answers = readFileSync(results, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);
}, PYTHON_LIMIT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function pairOf(shape: Shape, given: unknown, files: LocalFileStore): Promise<Pair> {
  const own = interfaceOf({ value: typeOfShape(shape) }, undefined);
  const literals = await encodeInputs(own, { value: given }, files);
  const { value } = await decodeInputs(own, literals, files);
  return { shape, received: value, literal: literals.literals["value"] as Literal };
}

const base64 = (literal: Literal): string => Buffer.from(toBinary(LiteralSchema, literal)).toString("base64");

/** Names the failed pairs of a check; empty when all hold. */
function failures(check: (pair: Pair, answer: Answer) => boolean): readonly string[] {
  return pairs.flatMap((pair, i) => {
    const answer = answers[i] as Answer;
    if (answer.error !== undefined) return [`${JSON.stringify(pair.shape)}: ${answer.error}`];
    return check(pair, answer)
      ? []
      : [`${JSON.stringify(pair.shape)}: ${JSON.stringify(canonical(pair.received))} and ${JSON.stringify(answer.value)}`];
  });
}

describe(`${PAIRS} generated pairs of type and value`, () => {
  test("flytekit reads the values that TypeScript wrote", () => {
    expect(answers).toHaveLength(PAIRS);
    expect(failures(({ shape, received }, { value }) => same(expectedIn(shape, received), value))).toEqual([]);
  });

  test("TypeScript reads the values that flytekit wrote", async () => {
    const files = new LocalFileStore(folder);
    const problems: string[] = [];
    for (const [i, { shape, received }] of pairs.entries()) {
      const literal = fromBinary(LiteralSchema, Buffer.from(answers[i]?.literal ?? "", "base64"));
      const own = interfaceOf({ value: typeOfShape(shape) }, undefined);
      const { value } = await decodeInputs(own, { $typeName: "flyteidl.core.LiteralMap", literals: { value: literal } }, files);
      if (!same(canonical(value), canonical(received))) problems.push(`${JSON.stringify(shape)}: ${JSON.stringify(canonical(value))}`);
    }
    expect(problems).toEqual([]);
  });

  test("the types of both are castable to each other", () => {
    const problems = failures(({ shape }, { type }) => {
      const python = fromBinary(LiteralTypeSchema, Buffer.from(type, "base64"));
      const own = literalTypeOf(typeOfShape(shape));
      return isCastable(python, own) && isCastable(own, python);
    });
    expect(problems).toEqual([]);
  });

  test("they contain every kind of type", () => {
    const kinds = new Set(pairs.flatMap(({ shape }) => [...JSON.stringify(shape).matchAll(/"kind":"(\w+)"/g)].map(([, kind]) => kind)));
    expect([...kinds].sort()).toEqual([
      "bigint",
      "boolean",
      "datetime",
      "directory",
      "duration",
      "enum",
      "file",
      "float",
      "int",
      "json",
      "list",
      "map",
      "object",
      "optional",
      "string",
      "union",
    ]);
  });
});

function same(one: Canonical, other: Canonical): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: Canonical): Canonical {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Readonly<Record<string, Canonical>>).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/** Returns the value that Python should have: ints of this SDK are numbers in TypeScript. */
function expectedIn(shape: Shape, value: unknown): Canonical {
  if (value === null) return null;
  switch (shape.kind) {
    case "int":
      return { int: String(value as number | bigint) };
    case "json":
      return jsonIn(value);
    case "list":
      return (value as readonly unknown[]).map((item) => expectedIn(shape.of, item));
    case "map":
      return Object.fromEntries(Object.entries(value as object).map(([key, item]) => [key, expectedIn(shape.of, item)]));
    case "optional":
      return expectedIn(shape.of, value);
    case "union":
      return expectedIn(variantIn(shape.of, value), value);
    case "object":
      return Object.fromEntries(
        Object.entries(shape.fields).map(([name, of]) => [name, expectedIn(of, (value as Record<string, unknown>)[name])]),
      );
    default:
      return canonical(value);
  }
}

/** JSON has one kind of number; Python's dict has integers where they are whole. */
function jsonIn(value: unknown): Canonical {
  if (typeof value === "number") return Number.isSafeInteger(value) ? { int: String(value) } : canonical(value);
  if (Array.isArray(value)) return value.map(jsonIn);
  if (typeof value !== "object" || value === null) return canonical(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonIn(item)]));
}

function variantIn(shapesOf: readonly Shape[], value: unknown): Shape {
  const kinds = (accepted: readonly Shape["kind"][]): Shape | undefined => shapesOf.find(({ kind }) => accepted.includes(kind));
  const found =
    typeof value === "number"
      ? kinds(["int", "float"])
      : typeof value === "string"
        ? kinds(["string"])
        : typeof value === "boolean"
          ? kinds(["boolean"])
          : Array.isArray(value)
            ? kinds(["list"])
            : value instanceof Date
              ? kinds(["datetime"])
              : kinds(["object", "duration"]);
  if (found === undefined) throw new Error("no variant has this value");
  return found;
}
