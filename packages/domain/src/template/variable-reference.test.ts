import { create } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { renderTemplate, type TemplateContext } from "./render.js";
import { escapeReferences } from "./variable-reference.js";

/** Expands a text as a kubelet does: `$$` is a dollar, `$(NAME)` the variable's value. */
const expanded = (text: string): string =>
  text.replace(/\$(\$|\(([^()]*)\))/g, (whole, mark: string, name?: string) => (mark === "$" ? "$" : name === "SECRET" ? "leaked" : whole));

const context = (value: string, prefix = "s3://b"): TemplateContext => ({
  inputPath: "",
  inputPrefix: "",
  outputPrefix: prefix,
  rawOutputPrefix: prefix,
  checkpointPrefix: "",
  previousCheckpointPrefix: "",
  uniqueId: "",
  namespace: "",
  inputs: create(LiteralMapSchema, {
    literals: {
      x: { value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "stringValue", value } } } } } },
    },
  }),
});
const rendered = (arg: string, value: string): string => renderTemplate([arg], context(value))[0] ?? "";

test.each([
  ["{{.inputs.x}}", "$(SECRET)", "$$(SECRET)"],
  ["{{.inputs.x}}", "costs $5", "costs $5"],
  ["{{.inputs.x}}(SECRET)", "a$", "a$$(SECRET)"],
  ["${{.inputs.x}}", "(SECRET)", "$$(SECRET)"],
  ["${{.inputs.x}}", "$(SECRET)", "$$$$(SECRET)"],
  ["$(SECRET) {{.inputs.x}}", "$(SECRET)", "$(SECRET) $$(SECRET)"],
])("%s with the input %j renders without a variable reference from the input", (arg, value, text) =>
  expect(rendered(arg, value)).toBe(text),
);

test("variable references in the output prefix of a user are escaped", () => {
  expect(renderTemplate(["{{.outputPrefix}} {{.rawOutputDataPrefix}}"], context("", "s3://$(SECRET)"))).toEqual([
    "s3://$$(SECRET) s3://$$(SECRET)",
  ]);
});

const part = fc.array(fc.constantFrom("$", "(SECRET)", "(", ")", "SECRET", "x"), { maxLength: 6 }).map((parts) => parts.join(""));

test("expansion by the kubelet leaves any input unchanged", () => {
  fc.assert(
    fc.property(part, part, (before, value) => {
      expect(expanded(escapeReferences(value))).toBe(value);
      // Where the author's own text begins a reference, the input is part of its name.
      fc.pre(!/\$\([^()]*$/.test(before));
      const text = rendered(`${before}{{.inputs.x}}`, value);
      expect(expanded(text).endsWith(value)).toBe(true);
      expect(expanded(text).split("leaked").length).toBe(expanded(before).split("leaked").length);
    }),
  );
});
