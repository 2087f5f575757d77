import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Query, Queryable } from "@flyte-ts/postgres";
import { expect, test } from "vitest";
import { ClosureCache } from "./closure-cache.js";

const closureOf = (id: { name: string }, nodes: { id: string }[]) =>
  create(CompiledWorkflowClosureSchema, { primary: { template: { id, nodes } } });

/** A table of workflows whose names are their numbers of nodes; counts how often each is read. */
function table() {
  const reads: string[] = [];
  const query = async ({ values = [] }: Query) => {
    const name = String(values[2]);
    reads.push(name);
    const nodes = Array.from({ length: Number.parseInt(name, 10) }, () => ({ id: name.endsWith("-long") ? "a node's id" : "" }));
    const id = { name };
    return { rows: [{ closure: toBinary(CompiledWorkflowClosureSchema, closureOf(id, nodes)) }], count: 1 };
  };
  const cache = new ClosureCache({ query } as unknown as Queryable);
  const find = (name: string) => cache.find(create(IdentifierSchema, { name }));
  return { reads, find };
}

test("what was asked for lately is read once, however often and by however many at once", async () => {
  const { reads, find } = table();
  for (let i = 0; i < 40; i++) await find(`${1}-${i}`);
  await Promise.all([find("2"), find("2")]);
  reads.length = 0;
  await find("2");
  await find("1-39");
  expect(reads).toEqual([]);
  await find("1-0");
  expect(reads).toEqual(["1-0"]);
});

test("large graphs push out others, and what is larger than all that is kept is not kept", async () => {
  const { reads, find } = table();
  await find("12000-a");
  await find("30000");
  await find("10");
  reads.length = 0;
  await find("12000-a");
  expect(reads).toEqual([]);
  await find("12000-b");
  await find("12000-a");
  await find("30000");
  await find("30000");
  expect(reads).toEqual(["12000-b", "12000-a", "30000", "30000"]);
});

test("a graph without room in a resource comes as it is stored, and is not kept", async () => {
  const { reads, find } = table();
  const found = await find("10000-long");
  expect(found?.closure).toEqual(closureOf({ name: "10000-long" }, []));
  const whole = fromBinary(CompiledWorkflowClosureSchema, found?.encoded ?? new Uint8Array());
  expect(whole.primary?.template?.nodes).toHaveLength(10_000);
  expect((await find("9999-long"))?.encoded).toBeUndefined();
  reads.length = 0;
  await find("10000-long");
  await find("9999-long");
  expect(reads).toEqual(["10000-long"]);
});
