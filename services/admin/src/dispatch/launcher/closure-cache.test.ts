import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Query, Queryable } from "@flyte-ts/postgres";
import { expect, test } from "vitest";
import { ClosureCache } from "./closure-cache.js";

const closureOf = (id: { name: string }, nodes: { id: string }[]) =>
  create(CompiledWorkflowClosureSchema, { primary: { template: { id, nodes } } });

/** Node id with which a node has a size of 1 KiB. */
const NODE = "n".repeat(1_020);

/** A table of workflows whose names begin with their size in KiB; counts the reads of each. */
function table() {
  const reads: string[] = [];
  const query = async ({ values = [] }: Query) => {
    const name = String(values[2]);
    reads.push(name);
    const nodes = Array.from({ length: Number.parseInt(name, 10) }, () => ({ id: NODE }));
    return { rows: [{ closure: toBinary(CompiledWorkflowClosureSchema, closureOf({ name }, nodes)) }], count: 1 };
  };
  const cache = new ClosureCache({ query } as unknown as Queryable);
  const find = (name: string) => cache.find(create(IdentifierSchema, { name }));
  return { reads, find };
}

test("a recently read closure is read once for all callers", async () => {
  const { reads, find } = table();
  for (let i = 0; i < 150; i++) await find(`1-${i}`);
  reads.length = 0;
  await Promise.all([find("2"), find("2")]);
  expect(reads).toEqual(["2"]);
  reads.length = 0;
  await find("2");
  await find("1-149");
  expect(reads).toEqual([]);
  await find("1-0");
  expect(reads).toEqual(["1-0"]);
});

test("large closures evict others, and one larger than the cache is not cached", async () => {
  const { reads, find } = table();
  await find("2400-a");
  await find("5000");
  await find("10");
  reads.length = 0;
  await find("2400-a");
  expect(reads).toEqual([]);
  await find("2400-b");
  await find("2400-a");
  await find("5000");
  await find("5000");
  expect(reads).toEqual(["2400-b", "2400-a", "5000", "5000"]);
});

test("a closure is returned as stored, and without its nodes when it is too large for a resource", async () => {
  const { find } = table();
  const nodesOf = (encoded: Uint8Array = new Uint8Array()) =>
    fromBinary(CompiledWorkflowClosureSchema, encoded).primary?.template?.nodes.length;
  const small = await find("7");
  expect(small?.closure.primary?.template?.nodes).toHaveLength(7);
  expect(small?.large).toBe(false);
  expect(nodesOf(small?.encoded)).toBe(7);
  const large = await find("9");
  expect(large?.closure).toEqual(closureOf({ name: "9" }, []));
  expect(large?.large).toBe(true);
  expect(nodesOf(large?.encoded)).toBe(9);
  expect(await find("9")).toBe(large);
});
