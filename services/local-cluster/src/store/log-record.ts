import type { JsonObject, KubeObject } from "../object/model.js";

/** A line of the log: an object, a merge patch to the previous state, or a removal. */
export type LogRecord =
  | { readonly r: number; readonly k: string; readonly o: KubeObject }
  | { readonly r: number; readonly k: string; readonly s: string; readonly n: string; readonly p: JsonObject }
  | { readonly r: number; readonly k: string; readonly s: string; readonly n: string; readonly d: 1 };

/** Parses a line; undefined when a crash truncated it. */
export function parseRecord(line: string): LogRecord | undefined {
  try {
    const record = JSON.parse(line) as Partial<{ r: number; k: string }> | null;
    return typeof record?.r === "number" && typeof record.k === "string" ? (record as LogRecord) : undefined;
  } catch {
    return undefined;
  }
}

export function putLine(revision: number, resource: string, text: string): string {
  return `{"r":${revision},"k":${JSON.stringify(resource)},"o":${text}}\n`;
}

interface RecordKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

const placeText = ({ resource, namespace, name }: RecordKey) =>
  `"k":${JSON.stringify(resource)},"s":${JSON.stringify(namespace)},"n":${JSON.stringify(name)}`;

export function patchLine(revision: number, place: RecordKey, patchText: string): string {
  return `{"r":${revision},${placeText(place)},"p":${patchText}}\n`;
}

export function removeLine(revision: number, place: RecordKey): string {
  return `{"r":${revision},${placeText(place)},"d":1}\n`;
}
