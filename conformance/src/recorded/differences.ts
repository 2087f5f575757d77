/** A key of an object or an index of a list. */
export type PathStep = string | number;

/** A leaf that differs between a record and this system. */
export interface Difference {
  /** Printable path. */
  readonly path: string;
  /** Path from the root of the document. */
  readonly at: readonly PathStep[];
  readonly recorded: unknown;
  readonly observed: unknown;
}

/** Represents a leaf that one of the two documents lacks. */
export const ABSENT = "<absent>";
/** Lists without a meaningful order: items are compared by value. */
const UNORDERED_LISTS = new Set(["blobs", "admin_blobs"]);
/** Properties of the installation and of timing. */
const IGNORED_KEYS = new Set(["lab", "soft"]);

/** Lists the leaves that differ between two documents, sorted by path. */
export function differences(recorded: unknown, observed: unknown): Difference[] {
  const [theirs, ours] = [flatten(recorded), flatten(observed)];
  return [...new Set([...theirs.keys(), ...ours.keys()])]
    .sort()
    .map((path) => {
      const [their, our] = [theirs.get(path), ours.get(path)];
      const at = (their ?? our)?.at ?? [];
      return { path, at, recorded: their === undefined ? ABSENT : their.value, observed: our === undefined ? ABSENT : our.value };
    })
    .filter(({ recorded: their, observed: our }) => JSON.stringify(their) !== JSON.stringify(our));
}

interface Leaf {
  readonly at: readonly PathStep[];
  readonly value: unknown;
}

function flatten(document: unknown): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const add = (value: unknown, path: string, at: readonly PathStep[]): void => {
    if (Array.isArray(value) && value.length > 0) {
      for (const [index, item] of value.entries()) add(item, `${path}[${index}]`, [...at, index]);
    } else if (value !== null && typeof value === "object" && Object.keys(value).length > 0) {
      for (const [key, item] of Object.entries(value)) {
        if (UNORDERED_LISTS.has(key) && Array.isArray(item)) {
          for (const each of item) leaves.set(`${path}/${key}/${each}`, { at: [...at, key, String(each)], value: true });
        } else if (!IGNORED_KEYS.has(key)) add(item, `${path}/${key}`, [...at, key]);
      }
    } else leaves.set(path, { at, value });
  };
  add(document, "", []);
  return leaves;
}
