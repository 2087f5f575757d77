/** A label selector is invalid; the message contains it. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/** Maximum number of terms; each is evaluated for each object of a collection. */
export const MAX_TERMS = 200;

export const tooManyTerms = () => new SelectorError(`a selector has at most ${MAX_TERMS} terms`);

/** Formats a selector, truncated, for error messages. */
export const shownSelector = (text: string): string => JSON.stringify(text.length > 1_000 ? `${text.slice(0, 1_000)}…` : text);

type Labels = Readonly<Record<string, string>> | undefined;
export type LabelMatch = (labels: Labels) => boolean;

/** Sticky pattern of one term. Blanks have a single place each, to avoid backtracking. */
const TERM =
  /\s*(?:(!)\s*([\w./-]+)|([\w./-]+)(?:\s*(==?|!=)(?:\s*([\w.-]+))?|\s+(in|notin)\s*\(([^()]*)\)|\s*([<>])\s*(-?\d+))?)\s*(?:,|$)/y;
const NAME = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Parses `a=b,c!=d,e in (x,y),f notin (z),g,!h`. An empty selector matches everything. */
export function parseLabelSelector(text: string): LabelMatch {
  const matches: LabelMatch[] = [];
  const { length } = text.trimEnd();
  TERM.lastIndex = 0;
  while (TERM.lastIndex < length) {
    const term = TERM.exec(text);
    if (term === null) throw new SelectorError(`unable to parse requirement: ${shownSelector(text)}`);
    matches.push(requirement(term));
    if (matches.length > MAX_TERMS) throw tooManyTerms();
  }
  return (labels) => matches.every((match) => match(labels));
}

function requirement(term: RegExpExecArray): LabelMatch {
  const [, , absent, key = "", equality, value = "", set, values = "", comparison, bound] = term;
  if (absent !== undefined) return (labels) => labels?.[absent] === undefined;
  if (equality !== undefined) {
    if (!NAME.test(value) || value.length > 63) throw new SelectorError(`invalid label value: ${JSON.stringify(value)}`);
    return equality === "!=" ? (labels) => labels?.[key] !== value : (labels) => labels?.[key] === value;
  }
  if (set !== undefined) {
    const wanted = new Set(values.split(",").map((v) => v.trim()));
    if (set === "in") return (labels) => labels?.[key] !== undefined && wanted.has(labels[key]);
    return (labels) => labels?.[key] === undefined || !wanted.has(labels[key]);
  }
  if (comparison !== undefined) {
    const limit = Number(bound);
    return (labels) => {
      const found = labels?.[key];
      if (found === undefined || !/^-?\d+$/.test(found)) return false;
      return comparison === ">" ? Number(found) > limit : Number(found) < limit;
    };
  }
  return (labels) => labels?.[key] !== undefined;
}
