import { invalidArgument, missingArgument, rejectNul } from "../platform/index.js";
import type { SearchQuery } from "./store/search-query.js";

const MAX_CHARACTERS = 100;
const MAX_WORDS = 8;

/** @throws RpcError INVALID_ARGUMENT when the text is empty or too long. */
export function parseText(given: string): Pick<SearchQuery, "text" | "patterns"> {
  const text = given.trim();
  if (text === "") throw missingArgument("text");
  rejectNul(text, "text");
  const words = text.split(/\s+/);
  if (text.length > MAX_CHARACTERS || words.length > MAX_WORDS)
    throw invalidArgument(`invalid value for text: at most ${MAX_WORDS} words and ${MAX_CHARACTERS} characters are allowed`);
  return { text, patterns: words.map((word) => `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`) };
}
