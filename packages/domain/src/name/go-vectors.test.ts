import { readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { expect, test } from "vitest";
import { identifierKey, parseIdentifierKey } from "../identifier/key.js";
import { floatText, timestampText } from "../template/go-text.js";
import { msgpackText } from "../template/msgpack-text.js";
import { fnv32a, fnv64a } from "./hash.js";
import { dns1123Subdomain, sanitizeLabelValue } from "./kubernetes.js";
import { rawOutputShard, shardOf } from "./shard.js";
import { fixedLengthUniqueId, type UniqueIdHash } from "./unique-id.js";

interface Vectors {
  hashes: { text: string; fnv32a: number; fnv64a: string; rawOutputShard: string; shard: number }[];
  ids: { parts: string[]; max: number; fnv32a?: string; fnv64a?: string }[];
  kubernetes: { text: string; subdomain: string; labelValue: string }[];
  identifiers: { resourceType: number; project: string; domain: string; name: string; version: string; org: string; key: string }[];
  floats: { bits: string; text: string }[];
  timestamps: { seconds: number; nanos: number; text: string }[];
  msgpack: { msgpack: string; text: string }[];
}
const vectors = JSON.parse(readFileSync(new URL("../../testdata/go-vectors.json", import.meta.url), "utf8")) as Vectors;

test.each(vectors.hashes)("hashes of $text equal Go's", (v) => {
  expect(fnv32a(v.text)).toBe(v.fnv32a);
  expect(String(fnv64a(v.text))).toBe(v.fnv64a);
  expect(rawOutputShard(v.text)).toBe(v.rawOutputShard);
  expect(shardOf(v.text)).toBe(v.shard);
});

test.each(vectors.ids)("the unique id of $parts within $max characters equals Go's", ({ parts, max, fnv32a: short, fnv64a: long }) => {
  expect(uniqueIdOrError(parts, max, "fnv32a")).toBe(short);
  expect(uniqueIdOrError(parts, max, "fnv64a")).toBe(long);
});

test("a maximum too short for a hash is refused", () => {
  expect(() => fixedLengthUniqueId(["longer than the length"], 13, "fnv64a")).toThrow(RangeError);
  expect(() => fixedLengthUniqueId(["longer than the length"], 7)).toThrow(RangeError);
});

function uniqueIdOrError(parts: string[], max: number, hash: UniqueIdHash): string | undefined {
  try {
    return fixedLengthUniqueId(parts, max, hash);
  } catch {
    return undefined;
  }
}

test.each(vectors.kubernetes)("Kubernetes names of $text equal Go's", (v) => {
  expect(dns1123Subdomain(v.text)).toBe(v.subdomain);
  expect(sanitizeLabelValue(v.text)).toBe(v.labelValue);
});

test.each(vectors.identifiers)("the identifier key $key equals Go's", ({ key, ...fields }) => {
  expect(identifierKey(create(IdentifierSchema, fields))).toBe(key);
  expect(parseIdentifierKey(key)).toEqual(create(IdentifierSchema, fields));
});

test.each(vectors.floats)("the float $text is formatted as in Go", ({ bits, text }) => {
  expect(floatText(Buffer.from(bits, "hex").readDoubleBE())).toBe(text);
});

test.each(vectors.timestamps)("the timestamp $text is formatted as in Go", ({ seconds, nanos, text }) => {
  expect(timestampText(BigInt(seconds), nanos)).toBe(text);
});

test.each(vectors.msgpack)("the MessagePack value $text is formatted as in Go", ({ msgpack, text }) => {
  expect(msgpackText(Buffer.from(msgpack, "base64"))).toBe(text);
});
