/** Lists of ids of which most are alike and short: those of one id are made once, and none takes more room than it needs. */
export class SharedLists {
  readonly #single = new Map<string, readonly [string]>();

  of(ids: readonly string[]): readonly string[] {
    const [id] = ids;
    if (id === undefined) return NONE;
    // A list that was filled one by one has room for sixteen more.
    if (ids.length > 1) return ids.slice();
    let list = this.#single.get(id);
    if (list === undefined) {
      list = [id];
      this.#single.set(id, list);
    }
    return list;
  }
}

const NONE: readonly string[] = [];
