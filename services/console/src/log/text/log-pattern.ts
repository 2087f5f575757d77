/** Text that is searched for; a regular expression if `isRegex`. Case is ignored. */
export interface LogQuery {
  readonly text: string;
  readonly isRegex: boolean;
}

/** Compiled query. */
export interface LogPattern {
  /** Matches in one line. Flags `g`, `i`, `m`. */
  readonly regex: RegExp;
  /** True if the expression neither matches nor looks at line ends: many lines are one text. */
  readonly isOfOneLine: boolean;
}

/** Expressions of literals, plain classes, groups and quantifiers. */
const OF_ONE_LINE = /^(?:[^\\[\](\p{Cc}]|\\[dwb.*+?()[\]{}|^$\\/]|\((?!\?)|\(\?:|\[(?!\^)[^\\[\]\p{Cc}]*\])*$/u;
const SPECIAL = /[\\^$.*+?()[\]{}|/]/g;

/**
 * Compiles a query.
 *
 * @throws SyntaxError when the regular expression is malformed.
 */
export function compileQuery({ text, isRegex }: LogQuery): LogPattern {
  const source = isRegex ? text : text.replace(SPECIAL, String.raw`\$&`);
  const isOfOneLine = isRegex ? OF_ONE_LINE.test(source) : !/[\n\r]/.test(source);
  try {
    return { regex: new RegExp(source, "gimu"), isOfOneLine };
  } catch {
    // Expressions such as `\-` and `a{` are valid without the Unicode mode alone.
    return { regex: new RegExp(source, "gim"), isOfOneLine };
  }
}

/** Part of a text, by its offsets. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Lists the matches in a line that are not empty, at most `max`. */
export function findRanges({ regex }: LogPattern, text: string, max = 1_000): readonly TextRange[] {
  const ranges: TextRange[] = [];
  regex.lastIndex = 0;
  for (const match of text.matchAll(regex)) {
    if (match[0] !== "") ranges.push({ from: match.index, to: match.index + match[0].length });
    if (ranges.length === max) break;
  }
  return ranges;
}
