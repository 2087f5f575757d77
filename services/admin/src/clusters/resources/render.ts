import { type Document, isScalar, LineCounter, parseAllDocuments, type Scalar, visit } from "yaml";
import type { Scope, TemplateValue } from "./values.js";

/** Desired object in the data plane. */
export interface Manifest {
  readonly template: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Object to apply; without a namespace unless the template has one. */
  readonly body: { readonly metadata: { readonly namespace?: string } } & Readonly<Record<string, unknown>>;
}

/** A template, or an object in it, that violates a rule. */
export interface TemplateProblem {
  readonly template: string;
  readonly kind: string;
  readonly name: string;
  readonly rule: string;
}

export interface Template {
  /** File name. */
  readonly name: string;
  readonly text: string;
}

export interface Rendered {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly TemplateProblem[];
}

type Given = Exclude<TemplateValue, { missing: string }>;

const VARIABLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\}/g;

/**
 * Renders a template. Values configured by operators are substituted as raw text, so that they may
 * be YAML; attributes, which users set, can only be a string, number or boolean in the template's
 * own structure.
 */
export function render(template: Template, values: ReadonlyMap<string, TemplateValue>): Rendered {
  const problem = (rule: string, { kind = "", name = "" } = {}): TemplateProblem => ({ template: template.name, kind, name, rule });
  const missing = missingIn(template.text, values);
  if (missing.length > 0) return { manifests: [], problems: missing.map((rule) => problem(rule)) };
  const plain = new Map<string, Given>();
  // The placeholder occurs nowhere else, and is a valid scalar at any place of a document.
  const placeholder = uniquePlaceholder(template.text, values);
  const text = template.text.replaceAll(VARIABLE, (_, name: string) => {
    const value = values.get(name) as Given;
    if (!value.scalarOnly) return value.text;
    const key = `${placeholder}${plain.size}z`;
    plain.set(key, value);
    return key;
  });
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { prettyErrors: false, lineCounter: lines }) as Document.Parsed[];
  const manifests: Manifest[] = [];
  const problems: TemplateProblem[] = [];
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error !== undefined) {
      problems.push(problem(`line ${lines.linePos(error.pos[0]).line} is not YAML (${error.code})`));
      continue;
    }
    substitute(document, { plain, mark: placeholder });
    const object: unknown = document.toJS();
    if (object === null || object === undefined) continue;
    const read = readManifest(template.name, object);
    if ("rule" in read) problems.push(read);
    else manifests.push(read);
  }
  return { manifests, problems };
}

/** Sorts namespaces first, since they contain other objects. */
export function inOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  return [...manifests.filter(({ kind }) => kind === "Namespace"), ...manifests.filter(({ kind }) => kind !== "Namespace")];
}

/** Returns the object, in the namespace of its project and domain if it is namespaced. */
export function within({ namespace }: Scope, manifest: Manifest, namespaced: boolean): Manifest["body"] | { readonly rule: string } {
  const { metadata } = manifest.body;
  if (!namespaced)
    return metadata.namespace === undefined ? manifest.body : { rule: `metadata.namespace: a ${manifest.kind} is cluster-scoped` };
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    return { rule: `metadata.namespace: it must be ${namespace}, the namespace of the project and domain, or be left out` };
  }
  return { ...manifest.body, metadata: { ...metadata, namespace } };
}

/** Replaces secret values in a text, which may quote them, by the names of their variables. */
export function redact(text: string, values: ReadonlyMap<string, TemplateValue>): string {
  const secrets = [...values].flatMap(([name, value]) => {
    if ("missing" in value || value.loggable || value.text.trim().length < 3) return [];
    return [
      ...new Set([value.text, value.text.trim(), JSON.stringify(value.text).slice(1, -1), Buffer.from(value.text).toString("base64")]),
    ].map((secret) => [secret, `{{ ${name} }}`] as const);
  });
  // Replaces the longest secret first: it may contain a shorter one.
  return secrets.toSorted(([a], [b]) => b.length - a.length).reduce((shown, [secret, name]) => shown.replaceAll(secret, () => name), text);
}

function missingIn(text: string, values: ReadonlyMap<string, TemplateValue>): string[] {
  const names = new Set([...text.matchAll(VARIABLE)].map(([, name = ""]) => name));
  return [...names].flatMap((name) => {
    const value = values.get(name);
    if (value === undefined) return [`{{ ${name} }} has no value: no attribute, customData of the domain or templateData gives it one`];
    return "missing" in value ? [`{{ ${name} }} has no value: ${value.missing}`] : [];
  });
}

function uniquePlaceholder(text: string, values: ReadonlyMap<string, TemplateValue>): string {
  const taken = [text, ...[...values.values()].map((value) => ("missing" in value ? "" : value.text))];
  for (let i = 0; ; i++) {
    const placeholder = `plain${i}x`;
    if (!taken.some((each) => each.includes(placeholder))) return placeholder;
  }
}

function substitute(
  document: Document.Parsed,
  { plain, mark: placeholder }: { readonly plain: ReadonlyMap<string, Given>; readonly mark: string },
): void {
  const placeholders = new RegExp(`${placeholder}\\d+z`, "g");
  visit(document, {
    Scalar(_, node: Scalar) {
      if (!isScalar(node) || typeof node.value !== "string" || !node.value.includes(placeholder)) return;
      const whole = node.type === "PLAIN" ? plain.get(node.value) : undefined;
      if (whole === undefined) node.value = node.value.replaceAll(placeholders, (key) => plain.get(key)?.text ?? key);
      else node.value = whole.loggable ? whole.text : plainValue(whole.text);
    },
  });
}

/** Parses a value that stands alone: a number or boolean if it reads as one, else a string. */
function plainValue(text: string): string | number | boolean {
  if (/^-?(0|[1-9]\d{0,14})(\.\d{1,9})?$/.test(text)) return Number(text);
  return text === "true" || text === "false" ? text === "true" : text;
}

function readManifest(template: string, object: unknown): Manifest | TemplateProblem {
  const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const refused = (rule: string, kind = "", name = ""): TemplateProblem => ({ template, kind, name, rule });
  if (!isMap(object)) return refused("it must be a mapping with apiVersion, kind and metadata");
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== "string" || apiVersion === "") return refused("apiVersion: must be set");
  if (typeof kind !== "string" || kind === "") return refused("kind: must be set");
  if (!isMap(metadata) || typeof metadata["name"] !== "string" || metadata["name"] === "") {
    return refused("metadata.name: must be a string", kind);
  }
  const { name, namespace } = metadata;
  if (namespace !== undefined && typeof namespace !== "string")
    return refused("metadata.namespace: must be a string", kind, name as string);
  return { template, apiVersion, kind, name: name as string, body: object as Manifest["body"] };
}
