import { createHash } from "node:crypto";

/**
 * Tag of an attempt's lines in the log of a reused pod. It follows from the names of the attempt,
 * so that a reader finds the lines without other records.
 */
export function attemptLogTag({ namespace, generatedName }: { readonly namespace: string; readonly generatedName: string }): string {
  return createHash("sha256").update(`${namespace}/${generatedName}`).digest("hex").slice(0, 16);
}

/** A line of an attempt, or a mark of the supervisor. */
export type TaggedLine = { readonly kind: "line"; readonly text: string } | { readonly kind: "mark"; readonly json: string };

/** Reads a line of a reused pod's log; undefined when it is not of this tag. */
export function readTaggedLine(text: string, tag: string): TaggedLine | undefined {
  if (!text.startsWith(tag)) return undefined;
  const rest = text.slice(tag.length);
  if (rest.startsWith("| ")) return { kind: "line", text: rest.slice(2) };
  return rest.startsWith("= ") ? { kind: "mark", json: rest.slice(2) } : undefined;
}
