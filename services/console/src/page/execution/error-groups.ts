import type { ExecutionErrorJson } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Failure of one node, or of the execution itself. */
export interface Failure {
  /** Id of the node; undefined for the execution. */
  readonly node: string | undefined;
  readonly code: string;
  readonly message: string;
  /** Kind of the error: `USER`, `SYSTEM`. */
  readonly kind: string;
  readonly endedMs: number | undefined;
}

/** Failures that are alike. */
export interface ErrorGroup {
  /** Stays while the page is open; part of its address. */
  readonly id: string;
  readonly title: string;
  readonly failures: readonly Failure[];
}

/** Makes a failure of an error. */
export function failureOf(error: ExecutionErrorJson | undefined, node: string | undefined, endedMs: number | undefined): Failure {
  return { node, code: error?.code ?? "", message: error?.message ?? "", kind: error?.kind ?? "UNKNOWN", endedMs };
}

/** Groups failures by their code and message without its numbers and quoted names, largest first. */
export function groupFailures(failures: readonly Failure[]): readonly ErrorGroup[] {
  const groups = new Map<string, Failure[]>();
  for (const failure of failures) {
    const key = `${failure.code}\n${patternOf(failure.message)}`;
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.entries()]
    .map(([key, members]) => ({ id: hashOf(key), title: titleOf(members[0]), failures: members }))
    .sort((one, other) => other.failures.length - one.failures.length);
}

/** Returns a message without parts that differ from node to node. */
export function patternOf(message: string): string {
  return message
    .replace(/s3:\/\/\S+|gs:\/\/\S+|https?:\/\/\S+/g, "URL")
    .replace(/"[^"\n]*"|'[^'\n]*'/g, "NAME")
    .replace(/\b[0-9a-z]*\d[0-9a-z-]*\b/gi, "N")
    .trim();
}

const MAX_TITLE = 160;
/** Last line of a Python traceback: `ValueError: column is missing`. */
const EXCEPTION = /^\s*(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt|Exit|Warning|Timeout)\w*)\b:? ?(.*)$/;

/** Returns the line of a failure that says most: its last exception, else the first line. */
export function titleOf(failure: Failure | undefined): string {
  const lines = (failure?.message ?? "").split("\n").filter((line) => line.trim() !== "");
  const exception = lines.map((line) => EXCEPTION.exec(line)).findLast((match) => match !== null);
  const text =
    exception === undefined || exception === null ? (lines[0] ?? "") : `${exception[1]}${exception[2] === "" ? "" : `: ${exception[2]}`}`;
  const title = text.trim().slice(0, MAX_TITLE);
  return title === "" ? (failure?.code ?? "") || "No message" : title;
}

/** Short stable id of a text. */
function hashOf(text: string): string {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash.toString(36);
}
