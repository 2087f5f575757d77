import { MAX_TERMS, SelectorError, shownSelector, tooManyTerms } from "./label-selector.js";
import { type KubeObject, at } from "./model.js";

export interface FieldSelector {
  readonly matches: (object: KubeObject) => boolean;
  /** Set when the selector requires one name, so that a list need not scan. */
  readonly name?: string;
  readonly namespace?: string;
}

/**
 * Selectable fields per kind besides `metadata.name` and `metadata.namespace`, as in Kubernetes.
 */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Pod: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  Event: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  Namespace: ["status.phase"],
  Secret: ["type"],
  Node: ["spec.unschedulable"],
};

/** Parses `a=b,c==d,e!=f`; a backslash escapes `,`, `=` and itself. */
export function parseFieldSelector(text: string, kind: string): FieldSelector {
  const written = text.match(/(?:\\.|[^,\\])+/g) ?? [];
  if (written.length > MAX_TERMS) throw tooManyTerms();
  const terms = written.map((term) => parseTerm(term, { text, kind }));
  const exact = (field: string) => terms.find((term) => term.field === field && !term.negated)?.value;
  const name = exact("metadata.name");
  const namespace = exact("metadata.namespace");
  return {
    matches: (object) => terms.every(({ field, value, negated }) => (fieldValue(object, field) === value) !== negated),
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function parseTerm(term: string, { text, kind }: { text: string; kind: string }): { field: string; value: string; negated: boolean } {
  const parts = /^\s*([\w./-]+)\s*(==?|!=)(.*)$/s.exec(term);
  if (parts === null) throw new SelectorError(`invalid selector: ${shownSelector(text)}; can't understand ${shownSelector(term)}`);
  const [, field = "", operator, value = ""] = parts;
  if (!["metadata.name", "metadata.namespace", ...(FIELDS[kind] ?? [])].includes(field)) {
    throw new SelectorError(`field label not supported: ${field}`);
  }
  return { field, value: value.trim().replace(/\\(.)/g, "$1"), negated: operator === "!=" };
}

function fieldValue(object: KubeObject, field: string): string {
  if (field === "source") return textOf(at(object, "source", "component"));
  return textOf(at(object, ...field.split(".")));
}

const textOf = (value: unknown) => (typeof value === "string" ? value : typeof value === "boolean" ? String(value) : "");
