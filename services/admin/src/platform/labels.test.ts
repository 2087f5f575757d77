import { expect, test } from "vitest";
import { checkLabels } from "./labels.js";

const check = (values: Record<string, string>) => () => checkLabels({ $typeName: "flyteidl.admin.Labels", values });
const EXAMPLES =
  "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test("labels that are valid in Kubernetes are accepted", () => {
  expect(check({ a: "", "example.com/Name_1": "v-1.2_x", ["n".repeat(63)]: "v".repeat(63), [`${"p".repeat(253)}/n`]: "1" })).not.toThrow();
});

test.each([
  [
    { foo: "#bar" },
    `invalid label value [#bar]: [a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ${EXAMPLES}]`,
  ],
  [{ a: "v".repeat(64) }, "]: [must be no more than 63 characters]"],
  [{ "": "v" }, "invalid label key []: [name part must be non-empty]"],
  [{ "/n": "v" }, "[prefix part must be non-empty]"],
  [{ "a_b/n": "v" }, "[prefix part a lowercase RFC 1123 subdomain must consist of"],
  [{ [`${"p".repeat(254)}/n`]: "v" }, "[prefix part must be no more than 253 characters]"],
  [{ "a/b/c": "v" }, "[a qualified name must consist of"],
  [{ "-a": "v" }, "[name part must consist of"],
])("%j is refused with the error text of Kubernetes", (values, message) => {
  expect(check(values)).toThrow(message);
});
