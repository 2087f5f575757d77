/** A parsed term `eq(name,value)`, not yet checked against columns. */
export interface FilterTerm {
  readonly function: string;
  readonly field: string;
  readonly values: readonly string[];
}

/**
 * Parses `fn(field,value)` terms joined with `+`; a value may contain several, separated by `;`.
 * Returns undefined when a term has another form. As in Flyte, the function extends to the last
 * parenthesis that leaves a field and a value, the field to the last comma, and the value to the
 * last closing parenthesis; one space after the comma is not part of the value.
 */
export function parseFilterTerms(filters: string): readonly FilterTerm[] | undefined {
  const terms: FilterTerm[] = [];
  for (const text of filters.split("+")) {
    const term = parseTerm(text);
    if (term === undefined) return undefined;
    terms.push(term);
  }
  return terms;
}

function parseTerm(text: string): FilterTerm | undefined {
  if (text.includes("\n")) return undefined;
  const close = text.lastIndexOf(")");
  const comma = close < 2 ? -1 : text.lastIndexOf(",", close - 2);
  const open = comma < 2 ? -1 : text.lastIndexOf("(", comma - 2);
  if (open < 1) return undefined;
  const start = /\s/.test(text.charAt(comma + 1)) && comma + 2 < close ? comma + 2 : comma + 1;
  return { function: text.slice(0, open), field: text.slice(open + 1, comma), values: text.slice(start, close).split(";") };
}
