/** Part of a text: characters to be read, or a mark that changes their direction. */
export interface MarkedPart {
  readonly text: string;
  readonly isMark: boolean;
}

/**
 * Marks, embeddings, overrides and isolates of direction by their ranges in Unicode. They are
 * invisible, and make other characters appear in another order than they have.
 */
const MARK = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const MARK_OR_TEXT = new RegExp(`${MARK.source}|${MARK.source.replace("[", "[^")}+`, "g");

/** Splits a text at its marks of direction, and names these, such as `U+202E`. */
export function splitDirectionMarks(text: string): readonly MarkedPart[] {
  if (!MARK.test(text)) return [{ text, isMark: false }];
  return Array.from(text.matchAll(MARK_OR_TEXT), ([part]) =>
    MARK.test(part) ? { text: nameOf(part), isMark: true } : { text: part, isMark: false },
  );
}

function nameOf(mark: string): string {
  return `U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
