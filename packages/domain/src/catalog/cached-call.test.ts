import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { describe, expect, test } from "vitest";
import { cacheKeyOf, keyForExecution } from "./cached-call.js";
import { hashInputs } from "./literal-hash.js";

const map = (literals: JsonValue) => fromJson(LiteralMapSchema, { literals });
const integer = (value: number): JsonValue => ({ scalar: { primitive: { integer: String(value) } } });
const text = (stringValue: string): JsonValue => ({ scalar: { primitive: { stringValue } } });

function template(type: JsonValue, input: string, more: { readonly [key: string]: JsonValue } = {}) {
  return fromJson(TaskTemplateSchema, {
    id: { resourceType: "TASK", project: "flytesnacks", domain: "development", name: "t", version: "v" },
    metadata: { discoverable: true, discoveryVersion: "1", ...more },
    interface: { inputs: { variables: { [input]: { type } } }, outputs: { variables: { o0: { type } } } },
  });
}

// Recorded from Go Flyte 1.16 for the same tasks and inputs.
describe("cache keys recorded from Go Flyte", () => {
  test.each<[string, JsonValue, JsonValue, { version: string; tag: string }]>([
    [
      "a",
      { simple: "INTEGER" },
      integer(1),
      { version: "1-rJudYX8l-PmK8qF6C", tag: "flyte_cached-DNhkpTTPC5YDtRGb4yT-PFxgMSgHzHrKAQKgQGEfGRY" },
    ],
    [
      "b",
      { simple: "STRING" },
      text("x"),
      { version: "1-tPYiu7qn-zCZxwZgs", tag: "flyte_cached-4RahDC8HTg9JmtvrKe2Q3vzujLr7MxI5i-00kJ-lk6o" },
    ],
    [
      "d",
      { mapValueType: { collectionType: { simple: "INTEGER" } } },
      { map: { literals: { k: { collection: { literals: [integer(1), integer(2)] } } } } },
      { version: "1-_cT5OzRF-YwHesPaA", tag: "flyte_cached-SRmup65B7NUCklzsGueTozIjVUsKdbIKJjgQG--mdEM" },
    ],
  ])("are computed for the input %s", (name, type, value, { version, tag }) => {
    const call = cacheKeyOf(template(type, name), map({ [name]: value }));
    expect(call).toEqual({ dataset: { project: "flytesnacks", domain: "development", name: "flyte_task-t", version }, tag });
  });
});

test("a task without a cache version has no cache key", () => {
  const versionless = template({ simple: "INTEGER" }, "a", { discoveryVersion: "  " });
  expect(cacheKeyOf(versionless, map({ a: integer(1) }))).toBeUndefined();
});

test("spaces around a cache version are ignored", () => {
  const spaced = template({ simple: "INTEGER" }, "a", { discoveryVersion: " 1 " });
  expect(cacheKeyOf(spaced, map({ a: integer(1) }))?.dataset.version).toBe("1-rJudYX8l-PmK8qF6C");
});

test("ignored inputs do not change the key", () => {
  const ignoring = template({ simple: "INTEGER" }, "a", { cacheIgnoreInputVars: ["b"] });
  expect(cacheKeyOf(ignoring, map({ a: integer(1), b: integer(2) }))?.tag).toBe(
    cacheKeyOf(ignoring, map({ a: integer(1), b: integer(3) }))?.tag,
  );
  expect(cacheKeyOf(ignoring, map({ a: integer(1), b: integer(2) }))?.tag).toBe(`flyte_cached-${hashInputs(map({ a: integer(1) }))}`);
});

describe("literals with a hash", () => {
  const hashed = (value: JsonValue, hash: string): JsonValue => ({ ...(value as object), hash });
  test.each<[string, JsonValue, JsonValue]>([
    ["by themselves", hashed(text("s3://a"), "h"), hashed(text("s3://b"), "h")],
    ["in a list", { collection: { literals: [hashed(text("a"), "h")] } }, { collection: { literals: [hashed(text("b"), "h")] } }],
    ["in a map", { map: { literals: { k: hashed(text("a"), "h") } } }, { map: { literals: { k: hashed(text("b"), "h") } } }],
    [
      "deep down",
      { map: { literals: { k: { collection: { literals: [hashed(integer(1), "h")] } } } } },
      { map: { literals: { k: { collection: { literals: [hashed(integer(2), "h")] } } } } },
    ],
  ])("have a key that depends only on the hash, %s", (_, one, other) => {
    expect(hashInputs(map({ a: one }))).toBe(hashInputs(map({ a: other })));
  });

  test("have different keys for different hashes", () => {
    expect(hashInputs(map({ a: hashed(text("a"), "h") }))).not.toBe(hashInputs(map({ a: hashed(text("a"), "i") })));
  });
});

test("empty inputs have a hash", () => {
  expect(hashInputs(create(LiteralMapSchema))).toBe(hashInputs(map({})));
});

test("a cache version with a million spaces is trimmed in linear time", { timeout: 20_000 }, () => {
  const version = `a${" ".repeat(1_000_000)}b`;
  const spaced = template({ simple: "INTEGER" }, "a", { discoveryVersion: ` ${version} ` });
  expect(cacheKeyOf(spaced, create(LiteralMapSchema))?.dataset.version.startsWith(`${version}-`)).toBe(true);
});

describe("the key for an execution", () => {
  const dataset = { project: "a", domain: "development", name: "flyte_task-t", version: "1" };
  test("is the task's own in its project and domain", () => {
    expect(keyForExecution({ dataset, tag: "x" }, dataset)).toEqual({ dataset, tag: "x" });
  });
  test.each([
    { project: "b", domain: "development" },
    { project: "a", domain: "production" },
  ])("names the task's project and domain in another dataset: $project, $domain", (execution) => {
    const own = { ...execution, name: "flyte_task-a:development:t", version: "1" };
    expect(keyForExecution({ dataset, tag: "x" }, execution)).toEqual({ dataset: own, tag: "x" });
  });
});
