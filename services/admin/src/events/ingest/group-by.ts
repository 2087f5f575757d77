export type NonEmpty<T> = [T, ...T[]];

/** Groups items by key; keys and items keep their order. */
export function groupBy<Key, T>(items: readonly T[], keyOf: (item: T) => Key): Map<Key, NonEmpty<T>> {
  const groups = new Map<Key, NonEmpty<T>>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
