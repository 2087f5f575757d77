import { errorTitle } from "../../format/error-title.js";

/** Failure of one node, or of the execution itself. */
export interface Failure {
  /** Id of the node; undefined for the execution. */
  readonly node: string | undefined;
  readonly code: string;
  readonly message: string;
  /** False: the list has cut the message short. */
  readonly isComplete: boolean;
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

/** Bytes after which lists cut messages short, less the longest character. */
const CUT_BYTES = 97;

/** Completes a message of a list, where the execution's error is the same one. */
export function completeMessage(listed: string, ofExecution: string): Pick<Failure, "message" | "isComplete"> {
  if (new TextEncoder().encode(listed).length < CUT_BYTES) return { message: listed, isComplete: true };
  return ofExecution.startsWith(listed) ? { message: ofExecution, isComplete: true } : { message: listed, isComplete: false };
}

/** Groups failures by code and message, without its numbers and quoted names; largest first. */
export function groupFailures(failures: readonly Failure[]): readonly ErrorGroup[] {
  const groups = new Map<string, Failure[]>();
  for (const failure of failures) {
    const key = `${failure.code}\n${patternOf(failure.message)}`;
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.entries()]
    .map(([key, members]) => ({ id: hashOf(key), title: errorTitle(members[0]?.message ?? "", members[0]?.code ?? ""), failures: members }))
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

/** Short stable id of a text. */
function hashOf(text: string): string {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash.toString(36);
}
