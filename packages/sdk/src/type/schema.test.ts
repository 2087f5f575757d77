import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { isCastable } from "@flyte-ts/domain/type";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { decodeInputs, encodeInputs } from "../codec/interface-values.js";
import { literalTypeOf } from "../codec/literal-type.js";
import { interfaceOf } from "../entity/definition.js";
import { LocalFileStore } from "../file/local-store.js";
import { t } from "./t.js";
import type { AnyType, InOf, OutOf } from "./type.js";

const files = new LocalFileStore("/nonexistent");

async function carried(schema: AnyType, given: unknown): Promise<unknown> {
  const own = interfaceOf({ value: schema }, undefined);
  return (await decodeInputs(own, await encodeInputs(own, { value: given }, files), files))["value"];
}

describe("schemas of libraries", () => {
  const byZod = t.schema(z.object({ id: z.int(), rate: z.number() }));
  const byValibot = t.schema(toStandardJsonSchema(v.object({ id: v.pipe(v.number(), v.integer()), rate: v.number() })));
  const byArk = t.schema(type({ id: "number.integer", rate: "number" }));
  const own = t.object({ id: t.int, rate: t.float });

  test.each([
    ["zod", byZod],
    ["valibot", byValibot],
    ["arktype", byArk],
  ] as const)("%s describes the same type as t.object", async (_library, schema) => {
    expect(isCastable(literalTypeOf(schema), literalTypeOf(own))).toBe(true);
    expect(isCastable(literalTypeOf(own), literalTypeOf(schema))).toBe(true);
    expect(Object.keys(literalTypeOf(schema).structure?.dataclassType ?? {})).toEqual(["id", "rate"]);
    expect(await carried(schema, { id: 1, rate: 2 })).toEqual({ id: 1, rate: 2 });
    await expect(carried(schema, { id: "x", rate: 2 })).rejects.toThrow("value.id");
  });

  test("types of both sides come from the library", () => {
    const withDefault = t.schema(z.object({ tags: z.array(z.string()).default([]) }));
    expectTypeOf<InOf<typeof withDefault>>().toEqualTypeOf<{ tags?: string[] | undefined }>();
    expectTypeOf<OutOf<typeof withDefault>>().toEqualTypeOf<{ tags: string[] }>();
    expectTypeOf<OutOf<typeof byArk>>().toEqualTypeOf<{ id: number; rate: number }>();
  });

  test("a default is applied once, and travels", async () => {
    const schema = t.schema(z.object({ tags: z.array(z.string()).default(["a"]) }));
    expect(await carried(schema, {})).toEqual({ tags: ["a"] });
    expect(literalTypeOf(schema).metadata?.["required"]).toBeUndefined();
  });

  test("a transform is applied once", async () => {
    const schema = t.schema(z.object({ text: z.string().transform((text) => text.length) }));
    expect(await carried(schema, { text: "four" })).toEqual({ text: 4 });
    const trimmed = t.schema(z.object({ text: z.string().transform((text) => `${text}!`) }));
    expect(await carried(trimmed, { text: "a" })).toEqual({ text: "a!" });
  });

  test("optional and nullable fields keep their difference", async () => {
    const schema = t.schema(z.object({ a: z.string().optional(), b: z.string().nullable(), c: z.string().nullish() }));
    expect(await carried(schema, { b: null })).toEqual({ b: null, c: null });
    expect(await carried(schema, { a: "x", b: "y", c: "z" })).toEqual({ a: "x", b: "y", c: "z" });
  });

  test("nested forms become types of Flyte", async () => {
    const schema = t.schema(
      z.object({
        mode: z.enum(["read", "write"]),
        counts: z.record(z.string(), z.int()),
        either: z.union([z.int(), z.string()]),
        inner: z.array(z.object({ on: z.boolean(), level: z.literal("high") })),
        any: z.any(),
      }),
    );
    const value = { mode: "read", counts: { a: 1 }, either: "x", inner: [{ on: true, level: "high" }], any: { deep: [1, null] } };
    expect(await carried(schema, value)).toEqual(value);
    expect(literalTypeOf(schema).structure?.dataclassType["counts"]?.type.case).toBe("mapValueType");
  });

  test("forms that Flyte cannot carry name the place and the way out", () => {
    expect(() => literalTypeOf(t.schema(z.object({ at: z.date() })))).toThrow(/zod has no form.*t\.object\(\) knows dates/s);
    expect(() => literalTypeOf(t.schema(z.object({ pair: z.tuple([z.int(), z.string()]) })))).toThrow("#/properties/pair");
    const Tree = z.object({
      get children() {
        return z.array(Tree);
      },
    });
    expect(() => literalTypeOf(t.schema(Tree))).toThrow("refers to itself");
  });

  test("a scalar schema has a scalar type", async () => {
    expect(literalTypeOf(t.schema(z.string().email())).type).toEqual(literalTypeOf(t.string).type);
    await expect(carried(t.schema(z.string().email()), "no address")).rejects.toThrow("value: ");
  });
});
