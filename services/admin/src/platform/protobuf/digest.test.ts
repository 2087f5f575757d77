import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "./digest.js";

const literal = (value: bigint) =>
  create(LiteralSchema, {
    value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value } } } } },
  });

function nested(entries: readonly [string, bigint][]): LiteralMap {
  const inner = create(LiteralSchema, {
    value: { case: "map", value: { literals: Object.fromEntries(entries.map(([k, v]) => [k, literal(v)])) } },
  });
  return create(LiteralMapSchema, {
    literals: Object.fromEntries([...entries.map(([k, v]) => [k, literal(v)] as const), ["inner", inner]]),
  });
}

test("the digest depends on the content of maps and not on their order", () => {
  const entries = fc.uniqueArray(fc.tuple(fc.string(), fc.bigInt({ min: 0n, max: 9n })), { minLength: 1, selector: ([key]) => key });
  fc.assert(
    fc.property(entries, (given) => {
      const forward = digestOf(LiteralMapSchema, nested(given));
      const backward = digestOf(LiteralMapSchema, nested([...given].reverse()));
      expect(backward.digest).toEqual(forward.digest);
      expect(fromBinary(LiteralMapSchema, forward.bytes)).toEqual(fromBinary(LiteralMapSchema, toBinary(LiteralMapSchema, nested(given))));
      const [[key, value] = ["", 0n], ...rest] = given;
      expect(digestOf(LiteralMapSchema, nested([[key, value + 1n], ...rest])).digest).not.toEqual(forward.digest);
    }),
  );
});

test("the digest does not depend on the order of free-form structs either", () => {
  const pod = (spec: { [key: string]: number | { [key: string]: number } }) =>
    digestOf(TaskTemplateSchema, create(TaskTemplateSchema, { target: { case: "k8sPod", value: { podSpec: spec } } })).digest;
  expect(pod({ a: 1, b: { c: 1, d: 2 } })).toEqual(pod({ b: { d: 2, c: 1 }, a: 1 }));
  expect(pod({ a: 1 })).not.toEqual(pod({ a: 2 }));
});
