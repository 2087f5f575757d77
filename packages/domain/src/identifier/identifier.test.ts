import { create } from "@bufbuild/protobuf";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { flyteUrl, parseFlyteUrl } from "./flyte-url.js";
import { executionKey, identifierKey, parseIdentifierKey, workflowIdText } from "./key.js";

test("any identifier is parsed from its key", () => {
  const text = fc.string({ unit: "binary" });
  const id = fc.record({
    resourceType: fc.nat(6),
    project: text,
    domain: text,
    name: text,
    version: text,
    org: text,
  });
  fc.assert(
    fc.property(id, (fields) => {
      const message = create(IdentifierSchema, fields);
      expect(parseIdentifierKey(identifierKey(message))).toEqual(message);
    }),
  );
});

test("keys of Go builds with single spaces are parsed, too", () => {
  const id = parseIdentifierKey('resource_type:TASK project:"p" domain:"d" name:"n \\"q\\"" version:"v"');
  expect(id).toEqual(create(IdentifierSchema, { resourceType: ResourceType.TASK, project: "p", domain: "d", name: 'n "q"', version: "v" }));
});

test.each(["x", 'project:"p', "project:p", "resource_type:NOTHING", 'flavor:"x"', 'project:"p" }'])("%s is not a key", (key) => {
  expect(() => parseIdentifierKey(key)).toThrow(SyntaxError);
});

test("short forms of ids join project, domain and name", () => {
  expect(executionKey({ project: "p", domain: "d", name: "e" })).toBe("p/d/e");
  expect(workflowIdText({ project: "p", domain: "d", name: "m.wf" })).toBe("p:d:m.wf");
});

test("flyte:// URLs are formatted and parsed", () => {
  const name = fc.stringMatching(/^[a-zA-Z0-9_-]+$/);
  const common = { project: name, domain: name, execution: name, node: name, attempt: fc.option(fc.nat(1000), { nil: undefined }) };
  const url = fc.oneof(
    fc.record({ ...common, kind: fc.constantFrom("inputs" as const, "outputs" as const), variable: fc.option(name, { nil: undefined }) }),
    fc.record({ ...common, kind: fc.constant("deck" as const), variable: fc.constant(undefined) }),
  );
  fc.assert(
    fc.property(url, (parts) => {
      const text = flyteUrl(parts);
      // Parsing is unambiguous even when a variable has the name of a kind (`i`, `o` or `d`).
      expect(flyteUrl(parseFlyteUrl(text) ?? parts)).toBe(text);
      expect(parseFlyteUrl(text)).toEqual(parts);
    }),
    { examples: [[{ project: "p", domain: "d", execution: "e", node: "n0", attempt: 3, kind: "outputs", variable: "o0" }]] },
  );
  expect(flyteUrl({ project: "p", domain: "d", execution: "e", node: "n0", attempt: 0, kind: "deck" })).toBe("flyte://v1/p/d/e/n0/0/d");
});

test.each([
  "flyte://v1/p/d/e/n0",
  "flyte://v1/p/d/e/n0/d/x",
  "flyte://v1/p/d/e/n0/x",
  "flyte://v2/p/d/e/n0/i",
  "flyte://v1/p/d/e/n0/99999999999/i",
  "flyte://v1/p/d/e/n 0/i",
  "x flyte://v1/p/d/e/n0/i",
])("%s is not a flyte:// URL", (text) => {
  expect(parseFlyteUrl(text)).toBeUndefined();
});
