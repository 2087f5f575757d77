/**
 * Interns lists of ids, most of which are short and alike: lists of one id are shared, and no list
 * reserves more memory than it needs.
 */
export class ListInterner {
  readonly #single = new Map<string, readonly [string]>();

  intern(ids: readonly string[]): readonly string[] {
    const [id] = ids;
    if (id === undefined) return EMPTY_LIST;
    // Copies the list, since a list filled by push reserves memory for sixteen more items.
    if (ids.length > 1) return ids.slice();
    let list = this.#single.get(id);
    if (list === undefined) {
      list = [id];
      this.#single.set(id, list);
    }
    return list;
  }
}

const EMPTY_LIST: readonly string[] = [];
