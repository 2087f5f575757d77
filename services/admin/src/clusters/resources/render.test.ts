import fc from "fast-check";
import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import { clusterResourcesSchema } from "./config-schema.js";
import { inOrder, redact, render, within } from "./render.js";
import { valuesFor, type ValueSources } from "./values.js";

const scope = { project: "p1", domain: "development", namespace: "p1-development" };

function values(config: object, more: Partial<ValueSources> = {}) {
  const sources = { attributes: {}, env: {}, readText: () => "", ...more };
  return valuesFor(scope, { ...sources, config: clusterResourcesSchema.parse(config) });
}
const rendered = (text: string, given = values({})) => render({ name: "t.yaml", text }, given);
const rules = (text: string, given = values({})) => rendered(text, given).problems.map(({ rule }) => rule);
const NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ namespace }}\n";
const map = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: ${value}\n`;
const data = (text: string, given = values({})) =>
  (rendered(text, given).manifests[0]?.body as { data?: { key?: unknown } } | undefined)?.data?.key;

describe("values", () => {
  const config = {
    templateData: { a: { value: "all" }, b: { value: "all" }, c: { value: "all" } },
    customData: { development: { b: { value: "domain" }, c: { value: "domain" } }, production: { a: { value: "other" } } },
  };

  test("from attributes override those of the domain, which override the defaults", () => {
    const given = values(config, { attributes: { c: "attribute" } });
    expect(["a", "b", "c"].map((name) => data(map(`{{ ${name} }}`), given))).toEqual(["all", "domain", "attribute"]);
  });

  test("come from the environment or files, and a missing value is reported with the reason", () => {
    const from = (valueFrom: object) => values({ templateData: { x: { valueFrom } } }, { env: { SET: "e", EMPTY: "" }, readText });
    const readText = (path: string) => {
      if (path === "/there") return "file";
      throw Object.assign(new Error("no"), { code: "ENOENT" });
    };
    expect(data(map("{{ x }}"), from({ env: "SET" }))).toBe("e");
    expect(data(map("{{x}}"), from({ filePath: "/there" }))).toBe("file");
    expect(rules(map("{{ x }}"), from({ env: "EMPTY" }))).toEqual(["{{ x }} has no value: environment variable EMPTY is not set"]);
    expect(rules(map("{{ x }}"), from({ filePath: "/gone" }))).toEqual(["{{ x }} has no value: file /gone cannot be read (ENOENT)"]);
    expect(rules(map("{{ y }}"))).toEqual(["{{ y }} has no value: no attribute, customData of the domain or templateData gives it one"]);
  });

  test("for namespace, project and domain cannot be overridden", () => {
    expect(data(map("{{ namespace }} {{ project }} {{ domain }}"), values({}, { attributes: { namespace: "kube-system" } }))).toBe(
      "p1-development p1 development",
    );
    expect(() => values({ templateData: { project: { value: "x" } } })).toThrow(/templateData/);
    expect(() => values({ templateData: { x: { value: "v", valueFrom: { env: "E" } } } })).toThrow(/exactly one/);
  });
});

describe("templates", () => {
  test("may contain a YAML value from an operator", () => {
    const given = values({ templateData: { list: { value: "[1, 2]" } } });
    expect(data(map("{{ list }}"), given)).toEqual([1, 2]);
  });

  test("insert an attribute as a string or number, for any content", () => {
    const of = (text: string, place = "{{ v }}") => data(map(place), values({}, { attributes: { v: text } }));
    expect([of("4"), of("2.5"), of("true"), of("100Mi"), of("1e9"), of("0x10"), of("null"), of("")]).toEqual([
      4,
      2.5,
      true,
      "100Mi",
      "1e9",
      "0x10",
      "null",
      "",
    ]);
    expect([of("4", '"{{ v }}"'), of("4", "{{ v }}Gi"), of("a: b\nc: d", "|\n    {{ v }}")]).toEqual(["4", "4Gi", "a: b\nc: d\n"]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const { manifests, problems } = rendered(`${NAMESPACE}---\n${map("<{{ v }}>")}`, values({}, { attributes: { v: text } }));
        expect(problems).toEqual([]);
        expect(manifests.map(({ body }) => body)).toEqual([
          parse(NAMESPACE.replace("{{ namespace }}", scope.namespace)),
          { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { key: `<${text}>` } },
        ]);
      }),
    );
  });

  test("are reported if they break a rule, and the others are used", () => {
    const text = `${map("1")}---\nkind: X\n---\napiVersion: v1\nkind: Secret\nmetadata: {}\n---\n- a\n---\n# nothing\n`;
    expect(rendered(text).manifests).toHaveLength(1);
    expect(rules(text)).toEqual([
      "apiVersion: must be set",
      "metadata.name: must be a string",
      "it must be a mapping with apiVersion, kind and metadata",
    ]);
    expect(rules("a: b\n  c: [")).toEqual([expect.stringMatching(/^line \d is not YAML \([A-Z_]+\)$/)]);
  });

  test("put namespaces first and objects into the namespace of their project and domain", () => {
    const { manifests } = rendered(`${map("1")}---\n${NAMESPACE}`);
    const [namespace, config] = inOrder(manifests);
    if (namespace === undefined || config === undefined) throw new Error("two are expected");
    expect(namespace).toMatchObject({ kind: "Namespace", name: "p1-development" });
    expect(within(scope, namespace, false)).toBe(namespace.body);
    expect(within(scope, config, true)).toMatchObject({ metadata: { name: "a", namespace: "p1-development" } });
    const elsewhere = { ...config, body: { ...config.body, metadata: { namespace: "kube-system" } } };
    expect(within(scope, elsewhere, true)).toEqual({ rule: expect.stringContaining("it must be p1-development") });
    expect(within(scope, elsewhere, false)).toEqual({ rule: expect.stringContaining("a ConfigMap is cluster-scoped") });
  });

  test("do not show values in errors", () => {
    const given = values({ templateData: { password: { value: "hunter2" }, longer: { value: "hunter2 and more" }, n: { value: "4" } } });
    const base64 = Buffer.from("hunter2").toString("base64");
    expect(redact(`bad "hunter2", hunter2 and more, ${base64} of p1-development: 4`, given)).toBe(
      'bad "{{ password }}", {{ longer }}, {{ password }} of p1-development: 4',
    );
  });
});
