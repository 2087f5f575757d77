import fc from "fast-check";
import { expect, test } from "vitest";
import { parseFilterTerms } from "./filter-term.js";

test.each([
  ["eq(name,a)", [{ function: "eq", field: "name", values: ["a"] }]],
  ["eq(name, a)", [{ function: "eq", field: "name", values: ["a"] }]],
  ["eq(name,  a)", [{ function: "eq", field: "name", values: [" a"] }]],
  ["value_in(workflow.name,a;b;c)", [{ function: "value_in", field: "workflow.name", values: ["a", "b", "c"] }]],
  ["eq(name,a(b))", [{ function: "eq", field: "name", values: ["a(b)"] }]],
  ["eq(name,a,b)", [{ function: "eq", field: "name,a", values: ["b"] }]],
  ["eq(name, )", [{ function: "eq", field: "name", values: [" "] }]],
  [
    "eq(a,b)+ne(c,d)",
    [
      { function: "eq", field: "a", values: ["b"] },
      { function: "ne", field: "c", values: ["d"] },
    ],
  ],
])("%s", (text, terms) => expect(parseFilterTerms(text)).toEqual(terms));

test.each(["", "name", "eq(name,)", "eq(,a)", "(a,b)", "eq(name,a)+", "eq(a\n,b)", "eq(name)", "eq name,a)"])(
  "%j is not a filter",
  (text) => expect(parseFilterTerms(text)).toBeUndefined(),
);

test("terms are parsed as by the documented expression", () => {
  // The documented expression; used only here, since its time grows with the cube of the text.
  const documented = /([^\n]+)\(([^\n]+),\s?([^\n]+)\)/;
  const text = fc.string({ unit: fc.constantFrom("e", "q", "(", ")", ",", " ", ".", "\t", ";"), maxLength: 24 });
  fc.assert(
    fc.property(text, (term) => {
      const match = documented.exec(term);
      const parsed = parseFilterTerms(term);
      expect(parsed?.[0] && [parsed[0].function, parsed[0].field, parsed[0].values.join(";")]).toEqual(
        match === null ? undefined : match.slice(1),
      );
    }),
    { numRuns: 5_000 },
  );
});

test("a long hostile text is refused in linear time", () => {
  // The expression above would exceed the test's timeout.
  expect(parseFilterTerms("(,".repeat(200_000))).toBeUndefined();
});
