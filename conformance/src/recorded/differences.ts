/** A place where our answer may differ from the record, and why it is right that it does. */
export interface AcceptedDifference {
  /** Case names; absent: every case. */
  readonly cases?: readonly string[];
  /** Regular expression over the whole path. */
  readonly path: string;
  readonly reason: string;
}

export interface Difference {
  readonly path: string;
  readonly recorded: unknown;
  readonly here: unknown;
}

const ABSENT = "<absent>";
/** Lists whose order says nothing: each item is a leaf of its own. */
const SETS = new Set(["blobs", "admin_blobs"]);
/** Facts of the installation and of timing. */
const NEVER_COMPARED = new Set(["lab", "soft"]);

/** Every leaf that differs between two records, by its path. */
export function differences(recorded: unknown, here: unknown): Difference[] {
  const [a, b] = [flatten(recorded), flatten(here)];
  return [...new Set([...a.keys(), ...b.keys()])]
    .sort()
    .map((path) => ({ path, recorded: a.has(path) ? a.get(path) : ABSENT, here: b.has(path) ? b.get(path) : ABSENT }))
    .filter(({ recorded: x, here: y }) => JSON.stringify(x) !== JSON.stringify(y));
}

/** The first entry of the list that accepts the difference, or undefined. */
export function acceptance(list: readonly AcceptedDifference[], name: string, { path }: Difference): AcceptedDifference | undefined {
  return list.find((entry) => (entry.cases === undefined || entry.cases.includes(name)) && new RegExp(`^(?:${entry.path})$`).test(path));
}

/** An entry that accepts nothing in cases that it is there for. */
export interface IdleEntry {
  readonly entry: AcceptedDifference;
  /** Undefined: in none at all. */
  readonly cases: readonly string[] | undefined;
}

/**
 * Entries that are broader than they need be, as far as what was compared shows: one for named cases must accept
 * something in each of them, one for all (`names`) in one of them.
 */
export function idle(
  list: readonly AcceptedDifference[],
  names: readonly string[],
  found: ReadonlyMap<string, readonly Difference[]>,
): readonly IdleEntry[] {
  const used = (entry: AcceptedDifference, name: string) => found.get(name)?.some((d) => acceptance(list, name, d) === entry);
  return list.flatMap((entry): IdleEntry[] => {
    if (entry.cases !== undefined) {
      const cases = entry.cases.filter((name) => !names.includes(name) || used(entry, name) === false);
      return cases.length === 0 ? [] : [{ entry, cases }];
    }
    const known = names.every((name) => found.has(name));
    return known && !names.some((name) => used(entry, name)) ? [{ entry, cases: undefined }] : [];
  });
}

function flatten(value: unknown, path = "", out = new Map<string, unknown>()): Map<string, unknown> {
  if (Array.isArray(value) && value.length > 0) for (const [index, item] of value.entries()) flatten(item, `${path}[${index}]`, out);
  else if (value !== null && typeof value === "object" && Object.keys(value).length > 0) {
    for (const [key, item] of Object.entries(value)) {
      if (SETS.has(key) && Array.isArray(item)) for (const each of item) out.set(`${path}/${key}/${each}`, true);
      else if (!NEVER_COMPARED.has(key)) flatten(item, `${path}/${key}`, out);
    }
  } else out.set(path, value);
  return out;
}
