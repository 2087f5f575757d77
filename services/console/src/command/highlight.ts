/** Part of a command with one look. */
export interface CodePart {
  readonly kind: "plain" | "option" | "text" | "number" | "comment";
  readonly text: string;
}

/** Comments, texts in quotes, options and numbers, in this order of precedence. */
const PARTS =
  /(#[^\n]*(?=\n|$))|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|((?<![\w-])--?[a-zA-Z][\w-]*)|((?<![\w.-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.-]))/g;
const KINDS = ["comment", "text", "option", "number"] as const;

/** Splits a command into parts by what they are. */
export function highlight(code: string): readonly CodePart[] {
  const parts: CodePart[] = [];
  let at = 0;
  for (const match of code.matchAll(PARTS)) {
    const index = match.index;
    if (index > at) parts.push({ kind: "plain", text: code.slice(at, index) });
    const kind = KINDS[match.slice(1).findIndex((group) => group !== undefined)] ?? "plain";
    parts.push({ kind, text: match[0] });
    at = index + match[0].length;
  }
  if (at < code.length) parts.push({ kind: "plain", text: code.slice(at) });
  return parts;
}
