import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startPostgres } from "@flyte-ts/local-servers";
import { createLogger } from "@flyte-ts/telemetry";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bigintArray, booleanArray, byteaArray, createPool, type Database, integerArray, isInvalidText, textArray } from "./index.js";

const folder = mkdtempSync(join(tmpdir(), "postgres-"));
let server: LocalServer;
let db: Database;

beforeAll(async () => {
  server = await startPostgres({ dataDir: join(folder, "data"), durable: false });
  db = createPool({ url: server.url, logger: createLogger({ service: "test", level: "silent" }) });
});
afterAll(async () => {
  await db.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Returns the elements as the server reads them, and whether it considers the array equal to the
 * one that node-postgres writes as text.
 */
async function readBack(type: string, array: Buffer, values: readonly unknown[]): Promise<{ same: boolean; elements: unknown[] }> {
  const { rows } = await db.query<{ element: unknown }>({
    name: `elements-${type}`,
    text: `SELECT element FROM unnest($1::${type}[]) WITH ORDINALITY AS given (element, place) ORDER BY place`,
    values: [array],
  });
  const compared = await db.query<{ same: boolean }>({
    name: `same-${type}`,
    text: `SELECT $1::${type}[] IS NOT DISTINCT FROM $2::${type}[] AS same`,
    values: [array, values],
  });
  return { same: compared.rows[0]?.same ?? false, elements: rows.map(({ element }) => element) };
}

const text = fc
  .oneof(
    fc.string({ unit: "binary" }),
    fc.string({ maxLength: 40 }),
    fc.string({ minLength: 200, maxLength: 400 }),
    fc.constantFrom("", "NULL", '"{},\\', "\ud800", "x\udc00".repeat(20), "é".repeat(16), "𝄞".repeat(9)),
  )
  .map((some) => some.replaceAll("\0", ""));
const int64 = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -5n, max: 5n }));
const number = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -5, max: 5 }));
const int32 = fc.oneof(fc.integer(), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1, -0));
const arrays = <T>(element: fc.Arbitrary<T>) => fc.array(fc.option(fc.option(element, { nil: undefined, freq: 8 }), { freq: 8 }));

test("arrays of every type are returned unchanged, with NULL for absent elements", async () => {
  const given = fc.record({
    texts: arrays(text),
    bytes: arrays(fc.uint8Array({ maxLength: 300 })),
    bigints: arrays(fc.oneof(int64, number)),
    integers: arrays(int32),
    booleans: arrays(fc.boolean()),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ texts, bytes, bigints, integers, booleans }) => {
      const wellFormed = texts.map((some) => some?.toWellFormed() ?? null);
      expect(await readBack("text", textArray(texts), wellFormed)).toEqual({ same: true, elements: wellFormed });
      const buffers = bytes.map((some) => (some ? Buffer.from(some) : null));
      expect(await readBack("bytea", byteaArray(bytes), buffers)).toEqual({ same: true, elements: buffers });
      const exact = bigints.map((some) => (some === undefined || some === null ? null : BigInt(some)));
      expect(await readBack("bigint", bigintArray(bigints), exact)).toEqual({ same: true, elements: exact });
      const numbers = integers.map((some) => (some === undefined || some === null ? null : some + 0));
      expect(await readBack("integer", integerArray(integers), numbers)).toEqual({ same: true, elements: numbers });
      const flags = booleans.map((some) => some ?? null);
      expect(await readBack("boolean", booleanArray(booleans), flags)).toEqual({ same: true, elements: flags });
    }),
    { numRuns: 100 },
  );
});

test("empty and large arrays are returned unchanged", async () => {
  expect(await readBack("text", textArray([]), [])).toEqual({ same: true, elements: [] });
  expect(await readBack("bigint", bigintArray([]), [])).toEqual({ same: true, elements: [] });
  const texts = Array.from({ length: 20_000 }, (_, index) => (index % 7 === 0 ? null : `${index} ${"ß".repeat(index % 40)}`));
  expect(await readBack("text", textArray(texts), texts)).toEqual({ same: true, elements: texts });
  const long = ["a", "é".repeat(500_000), "b"];
  expect(await readBack("text", textArray(long), long)).toEqual({ same: true, elements: long });
  const bytes = [Buffer.alloc(1_000_000, 0xfe), null, Buffer.from("x")];
  expect(await readBack("bytea", byteaArray(bytes), bytes)).toEqual({ same: true, elements: bytes });
});

test("a NUL character is refused in short and in long texts", async () => {
  for (const refused of ["a\0b", `${"a".repeat(100)}\0`]) {
    const refusedQuery = db.query({ text: "SELECT $1::text[]", values: [textArray(["fine", refused])] });
    await expect(refusedQuery).rejects.toSatisfy(isInvalidText);
  }
});

test.each([
  ["bigint", () => bigintArray([2n ** 63n])],
  ["bigint", () => bigintArray([-(2n ** 63n) - 1n])],
  ["bigint", () => bigintArray([2 ** 60])],
  ["bigint", () => bigintArray([0.5])],
  ["integer", () => integerArray([2 ** 31])],
  ["integer", () => integerArray([Number.NaN])],
])("a value out of the range of %s is refused with the server's code (%#)", (_, make) => {
  expect(make).toThrow(expect.objectContaining({ name: "OutOfRange", code: "22003" }));
});
