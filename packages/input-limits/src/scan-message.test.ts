import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FieldMaskSchema, FileDescriptorProtoSchema, SourceCodeInfo_LocationSchema } from "@bufbuild/protobuf/wkt";
import { LiteralCollectionSchema, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import { measureMessage, scanMessage, violationText } from "./index.js";

const ample = { bytes: 1 << 26, elements: 1_000_000, depth: 100 };

test("each present field at any depth is an element", () => {
  const map = create(LiteralMapSchema, {
    literals: {
      a: { value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: 7n } } } } } },
      b: { value: { case: "collection", value: { literals: [{}, {}, {}] } } },
    },
  });
  // Two entries with key and value each; scalar, primitive, integer; collection and three empty
  // literals.
  expect(measureMessage(LiteralMapSchema, toBinary(LiteralMapSchema, map), ample)).toEqual({
    elements: 13,
    depth: 5,
    violation: undefined,
  });
});

test("many empty messages are rejected by their number", () => {
  const bytes = Buffer.alloc(2_000_000, Buffer.from([0x0a, 0x00]));
  expect(scanMessage(LiteralCollectionSchema, bytes, ample)).toBeUndefined();
  expect(scanMessage(LiteralCollectionSchema, bytes, { ...ample, elements: 999_999 })).toEqual({ kind: "elements", limit: 999_999 });
});

test("each element of a packed list counts", () => {
  const bytes = toBinary(SourceCodeInfo_LocationSchema, create(SourceCodeInfo_LocationSchema, { path: [1, 300, 70_000], span: [1] }));
  expect(measureMessage(SourceCodeInfo_LocationSchema, bytes, ample).elements).toBe(6);
  expect(scanMessage(SourceCodeInfo_LocationSchema, bytes, { ...ample, elements: 5 })).toMatchObject({ kind: "elements" });
});

test("each unknown field counts", () => {
  const bytes = Buffer.alloc(20, Buffer.from([0x78, 0x01]));
  expect(measureMessage(FieldMaskSchema, bytes, ample).elements).toBe(10);
});

test("nesting is limited by the library's depth and by lower limits", () => {
  const chain = (levels: number): Uint8Array => {
    const parts: Uint8Array[] = [];
    let length = 0;
    // From the innermost outwards: a collection (field 1) in a literal (field 2).
    for (let level = 0; level < levels; level++) {
      for (const field of [1, 2]) {
        const head = new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
        parts.push(head);
        length += head.length;
      }
    }
    return Buffer.concat(parts.toReversed());
  };
  expect(scanMessage(LiteralSchema, chain(40), ample)).toBeUndefined();
  expect(() => fromBinary(LiteralSchema, chain(40))).not.toThrow();
  expect(scanMessage(LiteralSchema, chain(10_000), ample)).toEqual({ kind: "depth", limit: 100 });
  expect(scanMessage(LiteralSchema, chain(60), ample)).toEqual({ kind: "depth", limit: 100 });
  expect(() => fromBinary(LiteralSchema, chain(60))).toThrow(/recursion/);
});

test.each([
  ["a length beyond the end of its message", [0x0a, 0x02, 0x0a, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00]],
  ["a message field with the wire type of a number", [0x08, 0x00]],
  ["a group", [0x7b, 0x7c]],
  ["field number zero", [0x02, 0x00]],
  ["an end within a varint", [0x0a, 0x80]],
  ["a varint of more than ten bytes", [0x78, ...Array.from({ length: 11 }, () => 0xff), 0x01]],
])("%s is not well-formed", (_, bytes) => {
  const violation = scanMessage(LiteralCollectionSchema, Uint8Array.from(bytes), ample);
  expect(violation?.kind).toBe("malformed");
  expect(violation && violationText(violation)).toMatch(/^is not well-formed at byte \d+$/);
});

test("the size is checked before the scan", () => {
  expect(scanMessage(LiteralCollectionSchema, new Uint8Array(11).fill(0xff), { ...ample, bytes: 10 })).toEqual({
    kind: "bytes",
    limit: 10,
  });
});

test("messages that the library encodes are well-formed", () => {
  const descriptor = create(FileDescriptorProtoSchema, {
    name: "a.proto",
    dependency: ["b", "c"],
    publicDependency: [1, 2],
    messageType: [{ name: "M", field: [{ name: "f", number: 1, options: { packed: true } }] }],
    sourceCodeInfo: { location: [{ path: [4, 0, 2], span: [1, 2, 3], leadingComments: "ü" }] },
  });
  expect(scanMessage(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, descriptor), ample)).toBeUndefined();
});
