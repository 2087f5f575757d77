/** A word outside of quotes, comments and parentheses. */
export interface TopWord {
  readonly word: string;
  readonly at: number;
}

/** One statement of a script. */
export interface Statement {
  readonly text: string;
  /** Lower-case words outside of parentheses; an opening parenthesis counts as one. */
  readonly words: readonly TopWord[];
}

/** Quoted texts, comments, words, and single signs, one after the other. */
const TOKEN = /'(?:\\[^]|[^'\\])*'?|"(?:\\[^]|[^"\\])*"?|`[^`]*`?|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z_]\w*|[^]/g;
const WORD = /^[A-Za-z_]/;

/** Splits a script at semicolons outside of quotes and comments. Empty statements are left out. */
export function splitStatements(script: string): Statement[] {
  const statements: Statement[] = [];
  let from = 0;
  let depth = 0;
  let words: TopWord[] = [];
  const end = (at: number) => {
    if (words.length > 0) statements.push({ text: script.slice(from, at), words });
    words = [];
    depth = 0;
    from = at + 1;
  };
  for (const { 0: token, index } of script.matchAll(TOKEN)) {
    if (token === ";") end(index);
    else if (token === ")") depth--;
    else if (depth === 0 && (token === "(" || WORD.test(token))) words.push({ word: token.toLowerCase(), at: index - from });
    if (token === "(") depth++;
  }
  end(script.length);
  return statements.map(trimmed);
}

function trimmed({ text, words }: Statement): Statement {
  const start = text.length - text.trimStart().length;
  return { text: text.trim(), words: words.map(({ word, at }) => ({ word, at: at - start })) };
}
