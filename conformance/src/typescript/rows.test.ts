import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { isCastable } from "@flyte-ts/domain/type";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type FlyteDataset, t } from "@flyte-ts/sdk";
import { decodeInputs, encodeInputs, interfaceOf, literalTypeOf, LocalFileStore } from "@flyte-ts/sdk/runtime";
import { expect, onTestFinished, test } from "vitest";
import { cachedPython } from "../recorded/python.js";
import { root } from "../repository.js";

const Rows = t.dataset({ id: t.int, rate: t.float, text: t.string, on: t.boolean });

async function rowsOf(literal: Literal, files: LocalFileStore): Promise<readonly unknown[]> {
  const own = interfaceOf({ table: Rows }, undefined);
  const { table } = await decodeInputs(own, { $typeName: "flyteidl.core.LiteralMap", literals: { table: literal } }, files);
  const rows: unknown[] = [];
  for await (const row of (table as FlyteDataset<unknown>).rows()) rows.push(row);
  return rows;
}

test("flytekit reads the rows that TypeScript wrote, and TypeScript those of flytekit", async () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-rows-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = new LocalFileStore(folder);
  const rows = [
    { id: 1, rate: 2, text: "ä", on: true },
    { id: 2 ** 40, rate: 0.5, text: "", on: false },
  ];
  const literals = await encodeInputs(interfaceOf({ table: Rows }, undefined), { table: rows }, files);
  const [given, output] = [join(folder, "given"), join(folder, "output")];
  mkdirSync(output);
  writeFileSync(given, toBinary(LiteralSchema, literals.literals["table"] as Literal));
  await promisify(execFile)(cachedPython(), ["-W", "ignore", join(root, "conformance/python/rows.py"), given, output], { cwd: folder });
  expect(JSON.parse(readFileSync(join(output, "rows"), "utf8"))).toEqual(rows);
  const answer = fromBinary(LiteralSchema, readFileSync(join(output, "literal")));
  expect(await rowsOf(answer, files)).toEqual(rows.map((row) => ({ ...row, rate: row.rate * 2 })));
  const declared = fromBinary(LiteralTypeSchema, readFileSync(join(output, "type")));
  expect([isCastable(declared, literalTypeOf(Rows)), isCastable(literalTypeOf(Rows), declared)]).toEqual([true, true]);
});
