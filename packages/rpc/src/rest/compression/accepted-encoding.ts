/** Content codings of answers, the preferred one first (RFC 9110, 8.4.1; RFC 7932). */
const CODINGS = ["br", "gzip"] as const;

export type Encoding = (typeof CODINGS)[number];

/**
 * Chooses the coding of an answer by `Accept-Encoding` (RFC 9110, 12.5.3): the one with the
 * greatest q-value. Undefined: the answer is sent as it is, because the client accepts no coding,
 * prefers none, or sent no such header.
 *
 * @param has false for a coding in which the answer does not exist
 */
export function chooseEncoding(header: string | undefined, has: (coding: Encoding) => boolean = () => true): Encoding | undefined {
  if (header === undefined) return undefined;
  const weights = parseWeights(header);
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get("*") ?? 0;
  let best: Encoding | undefined;
  let most = weights.get("identity") ?? 0;
  for (const coding of CODINGS.filter(has)) {
    const weight = weightOf(coding);
    // A coding that the client accepts as gladly as none is used.
    if (weight > 0 && (best === undefined ? weight >= most : weight > most)) [best, most] = [coding, weight];
  }
  return best;
}

/** Parses `gzip;q=0.5, br`; a coding without a valid weight has the weight 1. */
function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(",")) {
    const [name = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    if (name === "") continue;
    const weight = parameters.map((each) => /^q=(\d(?:\.\d{0,3})?)$/.exec(each)?.[1]).find((each) => each !== undefined);
    weights.set(name === "x-gzip" ? "gzip" : name, weight === undefined ? 1 : Math.min(Number(weight), 1));
  }
  return weights;
}
