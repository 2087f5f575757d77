import { expect, test } from "vitest";
import { parseFieldSelector } from "./field-selector.js";
import { parseLabelSelector, SelectorError } from "./label-selector.js";

test.each([
  { selector: "", labels: {}, matches: true },
  { selector: "a=1", labels: { a: "1" }, matches: true },
  { selector: "a==1", labels: { a: "2" }, matches: false },
  { selector: "a=", labels: { a: "" }, matches: true },
  { selector: "a!=1", labels: {}, matches: true },
  { selector: "a", labels: { a: "" }, matches: true },
  { selector: "!a", labels: { a: "x" }, matches: false },
  { selector: "a in (x, y)", labels: { a: "y" }, matches: true },
  { selector: "a in (x)", labels: {}, matches: false },
  { selector: "termination-status notin (terminated)", labels: { "termination-status": "terminated" }, matches: false },
  { selector: "termination-status notin (terminated)", labels: {}, matches: true },
  { selector: "a.b/c=1,d in (2),!e", labels: { "a.b/c": "1", d: "2" }, matches: true },
  { selector: "a>5", labels: { a: "6" }, matches: true },
  { selector: "a<5", labels: { a: "6" }, matches: false },
])("$selector on $labels: $matches", ({ selector, labels, matches }) => {
  expect(parseLabelSelector(selector)(labels as Record<string, string>)).toBe(matches);
});

test.each(["a=b=c", "a in x", "=b", "a b", "a=b c"])("%s is not a label selector", (text) => {
  expect(() => parseLabelSelector(text)).toThrow(SelectorError);
});

test("field selectors select by equality and inequality", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "n" },
    spec: { nodeName: "local" },
    status: { phase: "Running" },
  };
  const matches = (text: string) => parseFieldSelector(text, "Pod").matches(pod);
  expect(matches("status.phase=Running,spec.nodeName==local,metadata.name!=q")).toBe(true);
  expect(matches("status.phase!=Running")).toBe(false);
  expect(parseFieldSelector("metadata.name=p,metadata.namespace=n", "Pod")).toMatchObject({ name: "p", namespace: "n" });
  expect(() => parseFieldSelector("spec.other=1", "Pod")).toThrow("field label not supported: spec.other");
});
