import { create, fromBinary } from "@bufbuild/protobuf";
import { Semaphore } from "@flyte-ts/async/semaphore";
import { type Literal, type LiteralMap, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { MAX_NESTING } from "../type/nesting.js";

/** Literals that are read at a time. */
const CONCURRENCY = 16;

type Read = (uri: string) => Promise<Literal>;

/**
 * Replaces literals that are kept beside a message by their content, in lists and maps too.
 *
 * @param read returns the object at an address: an encoded literal
 */
export function loadOffloaded(literals: LiteralMap, read: (uri: string) => Promise<Uint8Array>): Promise<LiteralMap> {
  const permits = new Semaphore(CONCURRENCY);
  return loadMap(literals, async (uri) => fromBinary(LiteralSchema, await permits.run(() => read(uri))), 0);
}

async function loadMap({ literals }: LiteralMap, read: Read, depth: number): Promise<LiteralMap> {
  const entries = await Promise.all(Object.entries(literals).map(async ([name, item]) => [name, await load(item, read, depth)] as const));
  return create(LiteralMapSchema, { literals: Object.fromEntries(entries) });
}

async function load(literal: Literal, read: Read, depth: number): Promise<Literal> {
  const { value } = literal;
  if (depth > MAX_NESTING) throw new Error(`a literal is offloaded more than ${MAX_NESTING} levels deep`);
  switch (value.case) {
    case "offloadedMetadata":
      return load(await read(value.value.uri), read, depth + 1);
    case "collection": {
      if (!mayBeOffloaded(value.value.literals)) return literal;
      const literals = await Promise.all(value.value.literals.map((item) => load(item, read, depth + 1)));
      return { ...literal, value: { case: "collection", value: { ...value.value, literals } } };
    }
    case "map": {
      if (!mayBeOffloaded(Object.values(value.value.literals))) return literal;
      return { ...literal, value: { case: "map", value: await loadMap(value.value, read, depth + 1) } };
    }
    case "scalar":
    case undefined:
      return literal;
  }
}

const mayBeOffloaded = (literals: readonly Literal[]): boolean => literals.some(({ value }) => value.case !== "scalar");
