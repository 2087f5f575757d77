import { create } from "@bufbuild/protobuf";
import { LiteralMapSchema, LiteralSchema, type Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { msgpackText } from "./msgpack-text.js";
import { renderTemplate, renderText, TemplateError, usesTaskTemplatePath, type TemplateContext } from "./render.js";

type Value = NonNullable<Parameters<typeof create<typeof LiteralSchema>>[1]>["value"];
const literal = (value: Value): Literal => create(LiteralSchema, { value });
const primitive = (value: object): Literal =>
  create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "primitive", value: { value } } } } } as never);

const context: TemplateContext = {
  inputPath: "s3://b/n0/data/inputs.pb",
  inputPrefix: "s3://b/n0/data",
  outputPrefix: "s3://b/n0/data/0",
  rawOutputPrefix: "s3://raw/{{ .Namespace }}/ab/x-n0-0",
  checkpointPrefix: "s3://raw/ab/x-n0-0/_flytecheckpoints",
  previousCheckpointPrefix: "",
  uniqueId: "0x.y-n0-0",
  namespace: "p-d",
  inputs: create(LiteralMapSchema, {
    literals: {
      count: primitive({ case: "integer", value: 42n }),
      ratio: primitive({ case: "floatValue", value: 2_500_000 }),
      flag: primitive({ case: "boolean", value: true }),
      text: primitive({ case: "stringValue", value: "{{.outputPrefix}} $& $1" }),
      when: primitive({ case: "datetime", value: { seconds: 0n, nanos: 5_000_000 } }),
      wait: primitive({ case: "duration", value: { seconds: 1n, nanos: 500_000_000 } }),
      list: literal({
        case: "collection",
        value: { literals: [primitive({ case: "integer", value: 1n }), primitive({ case: "stringValue", value: "a" })] },
      }),
      file: literal({ case: "scalar", value: { value: { case: "blob", value: { uri: "s3://b/f" } } } }),
      struct: literal({
        case: "scalar",
        value: { value: { case: "binary", value: { tag: "msgpack", value: Buffer.from("81a14301", "hex") } } },
      }),
      broken: literal({
        case: "scalar",
        value: { value: { case: "binary", value: { tag: "msgpack", value: Buffer.from("81a143", "hex") } } },
      }),
      none: literal({ case: "scalar", value: { value: { case: "noneType", value: {} } } }),
    },
  }),
};

test.each([
  ["{{.input}}", "s3://b/n0/data/inputs.pb"],
  ["{{ .Input }}", "s3://b/n0/data/inputs.pb"],
  ["{{$INPUT}}|{{ $inputPrefix }}", "s3://b/n0/data/inputs.pb|s3://b/n0/data"],
  ["a {{.outputPrefix}}/x", "a s3://b/n0/data/0/x"],
  ["{{.rawOutputDataPrefix}}", "s3://raw/p-d/ab/x-n0-0"],
  ["{{.checkpointOutputPrefix}}", "s3://raw/ab/x-n0-0/_flytecheckpoints"],
  ["{{.prevCheckpointPrefix}}", '""'],
  ["{{.perRetryUniqueKey}}", "ax_y_n0_0"],
  ["{{.namespace}}", "p-d"],
  ["{{ .remote_package_path }} {{input}} {{.nothing}} {.input}", "{{ .remote_package_path }} {{input}} {{.nothing}} {.input}"],
  ["--n={{.inputs.count}} {{.Inputs.ratio}} {{ $inputs.flag }}", "--n=42 2.5e+06 true"],
  ["{{.inputs.when}} {{.inputs.wait}}", "1970-01-01T00:00:00.005Z 1.5s"],
  ["{{.inputs.list}} {{.inputs.file}} {{.inputs.struct}}", "[1,a] s3://b/f map[C:1]"],
  ["{{.inputs.text}}", "{{.outputPrefix}} $& $1"],
])("%s renders as %s", (template, expected) => {
  expect(renderTemplate([template], context)).toEqual([expected]);
});

test.each([
  ["{{.inputs.absent}}", 'there is no input "absent"'],
  ["{{.inputs.constructor}}", 'there is no input "constructor"'],
  ["{{.inputs.none}}", "a scalar of kind noneType has no text form"],
  ["{{.inputs.broken}}", "truncated"],
  ["{{.taskTemplatePath}}", "the task template was not written"],
])("%s is refused: %s", (template, message) => {
  expect(() => renderTemplate(["ok", template], context)).toThrow(TemplateError);
  expect(() => renderTemplate([template], context)).toThrow(message);
});

test("without inputs, templates of inputs are kept", () => {
  expect(renderTemplate(["{{.inputs.x}}"], { ...context, inputs: undefined })).toEqual(["{{.inputs.x}}"]);
});

test("a text that no kubelet expands keeps its dollars and those of values", () => {
  const inputs = create(LiteralMapSchema, { literals: { price: primitive({ case: "stringValue", value: "$(US) $$1" }) } });
  expect(renderText("SELECT '$$', '{{ .inputs.price }}', {{.nothing}}", { ...context, inputs })).toBe(
    "SELECT '$$', '$(US) $$1', {{.nothing}}",
  );
  expect(() => renderText("{{.inputs.absent}}", context)).toThrow(TemplateError);
});

test("task.pb is requested only if a template names it", () => {
  expect(usesTaskTemplatePath(["a", "{{ .TaskTemplatePath }}"])).toBe(true);
  expect(usesTaskTemplatePath(["a", "{{.input}}"])).toBe(false);
  expect(renderTemplate(["{{.taskTemplatePath}}"], { ...context, taskTemplatePath: "s3://t" })).toEqual(["s3://t"]);
});

test("any text renders, and MessagePack of any bytes gives text or a RangeError", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(renderTemplate([text], { ...context, inputs: undefined })).toHaveLength(1);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(textOrRangeError(bytes)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

function textOrRangeError(bytes: Uint8Array): boolean {
  try {
    return typeof msgpackText(bytes) === "string";
  } catch (error) {
    return error instanceof RangeError;
  }
}

test("a deep or endless MessagePack value is refused quickly", () => {
  expect(() => msgpackText(new Uint8Array(1000).fill(0x91))).toThrow("too deep");
  expect(() => msgpackText(Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff))).toThrow("truncated");
  expect(() => msgpackText(Uint8Array.of(1, 2))).toThrow("ends at byte 1 of 2");
});

test("a million characters of unclosed names take linear time", { timeout: 20_000 }, () => {
  const open = "{{.inputs.".repeat(100_000);
  expect(renderTemplate([open, `${open} {{.input}}`, `${open}{{ .input }}`], context)).toEqual([
    open,
    `${open} s3://b/n0/data/inputs.pb`,
    `${open}s3://b/n0/data/inputs.pb`,
  ]);
  expect(() => renderTemplate([`{{.inputs.a{{.inputs.count}}`], context)).toThrow(TemplateError);
});

test("a million dollar signs before a template take linear time", { timeout: 20_000 }, () => {
  const text = `${"$".repeat(1_000_000)}x$`;
  // After an empty value a bracket could follow the dollar sign, so the sign is doubled.
  expect(renderTemplate([`${text}{{.namespace}}`], { ...context, namespace: "" })).toEqual([`${text}$`]);
});

function rendered(text: string): string | undefined {
  try {
    return renderTemplate([text], context)[0];
  } catch (error) {
    if (error instanceof TemplateError) return "refused";
    throw error;
  }
}

test("the templates found equal those of a global search", () => {
  const pieces = fc.constantFrom("{{", "{", "}}", "}", " ", ".inputs.count", ".inputs.", ".input", "$namespace", "x", "\n");
  const reference = /\{\{\s*[.$](?:inputs\.([^}\s]+)|(\w+))\s*\}\}/gi;
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
      const text = parts.join("");
      const known = [...text.matchAll(reference)].every(([, input]) => input === undefined || input === "count");
      const expected = text.replace(reference, (whole, input?: string, name?: string) => {
        if (input === "count") return "42";
        return name === "input" ? "s3://b/n0/data/inputs.pb" : name === "namespace" ? "p-d" : whole;
      });
      expect(rendered(text)).toBe(known ? expected : "refused");
    }),
    { numRuns: 2_000 },
  );
});
