import { type Json, type JsonObject, type KubeObject, isObject } from "../object/model.js";

/** Objects above this many bytes of text are logged as patches and encoded part by part. */
export const LARGE_BYTES = 8 * 1024;

/**
 * One revision of an object. Never changed; a write makes a new one that shares
 * the parts that stayed the same.
 */
export class Stored {
  readonly object: KubeObject;
  /** Revision of the store at which this state was written; equals metadata.resourceVersion. */
  readonly revision: number;
  /** Length of the JSON text: exact, or an estimate that is at most a quarter too large. */
  readonly size: number;
  /** The last length that was counted, not estimated. */
  readonly #counted: number;
  #text: string | undefined;

  /** After a small change the size may be given as the former revision and the most it can have grown. */
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

  /** The object as JSON, kept until `release`. */
  text(): string {
    this.#text ??= (this.size ?? 0) > LARGE_BYTES ? encodeByParts(this.object, 0) : JSON.stringify(this.object);
    return this.#text;
  }

  /** Lets go of the text; called when a newer revision replaces this one. */
  release(): void {
    this.#text = undefined;
  }
}

/** Orders as the real store does: by namespace, then by name. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

const PART_DEPTH = 3;
const partTexts = new WeakMap<object, string>();

/**
 * JSON of a large object, put together from the remembered texts of its parts
 * down to three levels (spec.nodes.x, status.nodeStatus.x): a change to one node
 * of a workflow encodes that node again and copies the rest.
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
