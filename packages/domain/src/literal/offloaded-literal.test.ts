import { create, toBinary } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import { collectionLiteral, integerLiteral, literalMap, mapLiteral } from "./build.js";
import { loadOffloaded } from "./offloaded-literal.js";

const offloaded = (uri: string): Literal => create(LiteralSchema, { value: { case: "offloadedMetadata", value: { uri } } });
const encoded = (literal: Literal): Uint8Array => toBinary(LiteralSchema, literal);

test("offloaded literals are loaded at the top, in lists, in maps, and in each other", async () => {
  const contents: Record<string, Literal> = {
    "s3://b/one": integerLiteral(1),
    "s3://b/list": collectionLiteral([offloaded("s3://b/one"), integerLiteral(2)]),
  };
  const literals = literalMap([
    ["one", offloaded("s3://b/one")],
    ["list", offloaded("s3://b/list")],
    ["lists", collectionLiteral([mapLiteral([["k", offloaded("s3://b/one")]])])],
    ["plain", integerLiteral(3)],
  ]);
  const loaded = await loadOffloaded(literals, async (uri) => encoded(contents[uri] as Literal));
  expect(loaded).toEqual(
    literalMap([
      ["one", integerLiteral(1)],
      ["list", collectionLiteral([integerLiteral(1), integerLiteral(2)])],
      ["lists", collectionLiteral([mapLiteral([["k", integerLiteral(1)]])])],
      ["plain", integerLiteral(3)],
    ]),
  );
});

test("many offloaded literals are read a few at a time", async () => {
  let [running, most] = [0, 0];
  const read = async (): Promise<Uint8Array> => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    return encoded(integerLiteral(1));
  };
  const items = Array.from({ length: 100 }, (_, i) => offloaded(`s3://b/${i}`));
  const { literals } = await loadOffloaded(literalMap([["items", collectionLiteral(items)]]), read);
  expect(literals["items"]).toEqual(collectionLiteral(items.map(() => integerLiteral(1))));
  expect(most).toBe(16);
});

test("a literal that is offloaded to itself is refused", async () => {
  const own = offloaded("s3://b/own");
  await expect(loadOffloaded(literalMap([["own", own]]), async () => encoded(own))).rejects.toThrow("levels deep");
});
