import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MsgpackError, type MsgpackHead, readHead, skipValue } from "./msgpack.js";

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));

describe("readHead", () => {
  it.each<[hex: string, head: Partial<MsgpackHead>]>([
    ["00", { kind: "integer", value: 0n }],
    ["7f", { kind: "integer", value: 127n }],
    ["ff", { kind: "integer", value: -1n }],
    ["e0", { kind: "integer", value: -32n }],
    ["cc ff", { kind: "integer", value: 255n }],
    ["cd ffff", { kind: "integer", value: 65535n }],
    ["ce ffffffff", { kind: "integer", value: 4294967295n }],
    ["cf ffffffffffffffff", { kind: "integer", value: 18446744073709551615n }],
    ["d0 80", { kind: "integer", value: -128n }],
    ["d1 8000", { kind: "integer", value: -32768n }],
    ["d2 80000000", { kind: "integer", value: -2147483648n }],
    ["d3 8000000000000000", { kind: "integer", value: -9223372036854775808n }],
    ["ca 3fc00000", { kind: "float", value: 1.5 }],
    ["cb 3ff0000000000000", { kind: "float", value: 1 }],
    ["c0", { kind: "nil" }],
    ["c2", { kind: "boolean", value: false }],
    ["c3", { kind: "boolean", value: true }],
    ["a3 c3a961", { kind: "string", value: "éa" }],
    ["d9 01 61", { kind: "string", value: "a" }],
    ["da 0001 61", { kind: "string", value: "a" }],
    ["db 00000001 61", { kind: "string", value: "a" }],
    ["93", { kind: "array", count: 3 }],
    ["dc 0102", { kind: "array", count: 258 }],
    ["dd 00010000", { kind: "array", count: 65536 }],
    ["82", { kind: "map", count: 2 }],
    ["de 0001", { kind: "map", count: 1 }],
    ["df 00000001", { kind: "map", count: 1 }],
    ["c4 02 0000", { kind: "binary" }],
    ["c5 0001 00", { kind: "binary" }],
    ["c6 00000001 00", { kind: "binary" }],
    ["c7 01 05 00", { kind: "extension" }],
    ["c8 0001 05 00", { kind: "extension" }],
    ["c9 00000001 05 00", { kind: "extension" }],
    ["d4 05 00", { kind: "extension" }],
    ["d6 ff 00000000", { kind: "extension" }],
    ["d8 05 00000000000000000000000000000000", { kind: "extension" }],
  ])("reads %s", (hex, head) => {
    expect(readHead(bytes(hex), 0)).toMatchObject({ ...head, next: bytes(hex).length });
    // The same within a larger view.
    const shifted = bytes(`c0 c0 ${hex} c0`).subarray(1);
    expect(readHead(shifted, 1)).toMatchObject({ ...head, next: bytes(hex).length + 1 });
  });

  it("refuses truncated bytes and the unused code", () => {
    for (const hex of ["", "cc", "cf 00", "a2 61", "db ffffffff 61", "c4 05 00", "d8 05 00", "dd 0000", "c1"]) {
      expect.soft(() => readHead(bytes(hex), 0), hex).toThrow(MsgpackError);
    }
  });
});

describe("skipValue", () => {
  it("skips a value with all its contents", () => {
    expect(skipValue(bytes("82 a161 92 01 c0 a162 81 00 93 c2 c3 cb3ff0000000000000 05"), 0)).toBe(22);
  });

  it("needs neither stack for nesting nor memory for counts beyond the data", () => {
    const deep = new Uint8Array(1_000_001).fill(0x91);
    deep[1_000_000] = 0xc0;
    expect(skipValue(deep, 0)).toBe(1_000_001);
    expect(() => skipValue(bytes("dd ffffffff"), 0)).toThrow(MsgpackError);
    expect(() => skipValue(bytes("df ffffffff 00 00"), 0)).toThrow(MsgpackError);
  });

  it("either ends within the bytes or throws MsgpackError, for any bytes", () => {
    const endOf = (any: Uint8Array): number | MsgpackError => {
      try {
        return skipValue(any, 0);
      } catch (error) {
        if (error instanceof MsgpackError) return error;
        throw error;
      }
    };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (any) => {
        const end = endOf(any);
        expect(end instanceof MsgpackError || (end > 0 && end <= any.length)).toBe(true);
      }),
    );
  });
});
