import { objectKey, type Stored } from "./stored-object.js";

/** Objects of one resource, indexed by key and namespace; sorted on demand. */
export class Table {
  readonly #objects = new Map<string, Stored>();
  readonly #namespaces = new Map<string, Map<string, Stored>>();
  #sorted: readonly Stored[] | undefined;
  readonly #sortedNamespaces = new Map<string, readonly Stored[]>();

  get(namespace: string, name: string): Stored | undefined {
    return this.#objects.get(objectKey(namespace, name));
  }

  set(stored: Stored): void {
    const { namespace = "", name } = stored.object.metadata;
    this.#objects.set(stored.key, stored);
    let within = this.#namespaces.get(namespace);
    if (within === undefined) this.#namespaces.set(namespace, (within = new Map()));
    within.set(name, stored);
    this.#forget(namespace);
  }

  delete(stored: Stored): void {
    const { namespace = "", name } = stored.object.metadata;
    this.#objects.delete(stored.key);
    this.#namespaces.get(namespace)?.delete(name);
    if (this.#namespaces.get(namespace)?.size === 0) this.#namespaces.delete(namespace);
    this.#forget(namespace);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Objects in key order, of one namespace or all. The list is an immutable snapshot. */
  list(namespace?: string): readonly Stored[] {
    if (namespace === undefined) return (this.#sorted ??= sortByKey(this.#objects.values()));
    let sorted = this.#sortedNamespaces.get(namespace);
    if (sorted === undefined) this.#sortedNamespaces.set(namespace, (sorted = sortByKey(this.#namespaces.get(namespace)?.values() ?? [])));
    return sorted;
  }

  /** Objects in any order, without sorting. */
  values(): Iterable<Stored> {
    return this.#objects.values();
  }

  within(namespace: string): Iterable<Stored> {
    return this.#namespaces.get(namespace)?.values() ?? [];
  }

  #forget(namespace: string): void {
    this.#sorted = undefined;
    this.#sortedNamespaces.delete(namespace);
  }
}

function sortByKey(objects: Iterable<Stored>): readonly Stored[] {
  return [...objects].sort((a, b) => (a.key < b.key ? -1 : 1));
}
