import { type Json, type JsonObject, type KubeObject, isObject } from "../object/model.js";

/** Larger objects are logged as patches and encoded by parts, bytes of text. */
export const LARGE_BYTES = 8 * 1024;

/** One revision of an object. Immutable; a new revision shares unchanged parts. */
export class Stored {
  readonly object: KubeObject;
  /** Revision of the store that wrote this state; equals metadata.resourceVersion. */
  readonly revision: number;
  /** Length of the JSON text: exact, or an estimate that is at most a quarter too large. */
  readonly size: number;
  /** Last exact length. */
  readonly #counted: number;
  #text: string | undefined;

  /** `grown` derives the size from the previous revision and the maximum growth. */
  constructor(object: KubeObject, { revision, grown }: { revision: number; grown?: { from: Stored; by: number } }) {
    this.object = object;
    this.revision = revision;
    if (grown !== undefined && grown.from.size + grown.by <= grown.from.#counted * 1.25) {
      this.size = grown.from.size + grown.by;
      this.#counted = grown.from.#counted;
    } else {
      this.size = grown === undefined ? this.text().length : encodeByParts(object, 0).length;
      this.#counted = this.size;
    }
  }

  get key(): string {
    return objectKey(this.object.metadata.namespace ?? "", this.object.metadata.name);
  }

  /** JSON text, cached until `release`. */
  text(): string {
    this.#text ??= (this.size ?? 0) > LARGE_BYTES ? encodeByParts(this.object, 0) : JSON.stringify(this.object);
    return this.#text;
  }

  /** Drops the cached text; called when a newer revision replaces this one. */
  release(): void {
    this.#text = undefined;
  }
}

/** Key in the order of Kubernetes: by namespace, then by name. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

const PART_DEPTH = 3;
const partTexts = new WeakMap<object, string>();

/**
 * Encodes a large object from the cached texts of its parts, down to three levels (spec.nodes.x,
 * status.nodeStatus.x): a change of one node of a workflow encodes that node and copies the rest.
 */
function encodeByParts(value: JsonObject, depth: number): string {
  const fields: string[] = [];
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) fields.push(`${JSON.stringify(key)}:${encodePart(member, depth + 1)}`);
  }
  return `{${fields.join(",")}}`;
}

function encodePart(value: Json, depth: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const known = partTexts.get(value);
  if (known !== undefined) return known;
  const text = isObject(value) && depth < PART_DEPTH ? encodeByParts(value, depth) : JSON.stringify(value);
  partTexts.set(value, text);
  return text;
}
