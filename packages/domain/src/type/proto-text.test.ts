import { create } from "@bufbuild/protobuf";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { BinarySchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { describe, expect, it } from "vitest";
import { compareText } from "./order.js";
import { protoText } from "./proto-text.js";
import { simpleType } from "./simple.js";
import { typeToText } from "./text.js";

describe("typeToText", () => {
  it("formats protobuf text on one line", () => {
    const list = create(LiteralTypeSchema, { type: { case: "collectionType", value: simpleType(SimpleType.INTEGER) } });
    expect(typeToText(list)).toBe("collection_type:{simple:INTEGER}");
    const variants = [list, simpleType(SimpleType.NONE)];
    expect(typeToText(create(LiteralTypeSchema, { type: { case: "unionType", value: { variants } } }))).toBe(
      "union_type:{variants:{collection_type:{simple:INTEGER}} variants:{simple:NONE}}",
    );
    expect(typeToText(create(LiteralTypeSchema, { type: { case: "blob", value: {} } }))).toBe("blob:{}");
    expect(typeToText(create(LiteralTypeSchema))).toBe("");
    expect(typeToText(undefined)).toBe("<nil>");
  });

  it("truncates text that is too long or nested too deep", () => {
    let deep: LiteralType = simpleType(SimpleType.INTEGER);
    for (let i = 0; i < 10_000; i++) deep = create(LiteralTypeSchema, { type: { case: "collectionType", value: deep } });
    expect(typeToText(deep)).toContain("{…}");
    const wide = create(LiteralTypeSchema, { type: { case: "enumType", value: { values: Array.from({ length: 10_000 }, String) } } });
    expect(typeToText(wide)).toHaveLength(4001);
  });
});

describe("protoText", () => {
  it("writes fields in the order of their declaration and maps in the order of their keys, and escapes texts", () => {
    const id = create(IdentifierSchema, { name: 'a"\n', project: "p", resourceType: ResourceType.WORKFLOW });
    expect(protoText(IdentifierSchema, id)).toBe('resource_type:WORKFLOW project:"p" name:"a\\"\\n"');
    const literal = create(LiteralSchema, { metadata: { z: "1", a: "2" }, hash: "h" });
    expect(protoText(LiteralSchema, literal)).toBe('hash:"h" metadata:{key:"a" value:"2"} metadata:{key:"z" value:"1"}');
    expect(protoText(BinarySchema, create(BinarySchema, { value: Uint8Array.of(0x41, 0, 0x22) }))).toBe('value:"A\\x00\\x22"');
  });
});

describe("compareText", () => {
  it("orders by code point, as UTF-8 bytes do", () => {
    const texts = ["", "a", "ab", "b", "é", "\uffff", "😀", "😀a"];
    for (const a of texts) {
      for (const b of texts) {
        expect.soft(Math.sign(compareText(a, b)), `${a} ${b}`).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
      }
    }
  });
});
