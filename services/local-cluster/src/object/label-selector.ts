/** A label selector that does not parse. The message names the text. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

type Labels = Readonly<Record<string, string>> | undefined;
export type LabelMatch = (labels: Labels) => boolean;

const TERM = /^\s*(?:(!)\s*([\w./-]+)|([\w./-]+)(?:\s*(==?|!=)\s*([\w.-]*)|\s+(in|notin)\s*\(([^()]*)\)|\s*([<>])\s*(-?\d+))?)\s*(?:,|$)/;
const NAME = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Parses `a=b,c!=d,e in (x,y),f notin (z),g,!h`. An empty selector matches everything. */
export function parseLabelSelector(text: string): LabelMatch {
  const matches: LabelMatch[] = [];
  let rest = text;
  while (rest.trim() !== "") {
    const term = TERM.exec(rest);
    if (term === null) throw new SelectorError(`unable to parse requirement: ${JSON.stringify(text)}`);
    matches.push(requirement(term));
    rest = rest.slice(term[0].length);
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
