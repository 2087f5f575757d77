export interface StoredLease {
  readonly version: number;
  readonly holder: string;
}

export interface LeaseChange {
  readonly name: string;
  /** Undefined after deletion. */
  readonly stored: StoredLease | undefined;
}

/** The Leases of the propellers in a Kubernetes API: memberships, by member name, and shards. */
export class Leases {
  readonly all = new Map<string, StoredLease>();
  readonly #watchers: ((change: LeaseChange) => void)[] = [];
  #version = 0;

  watch(watcher: (change: LeaseChange) => void): void {
    this.#watchers.push(watcher);
  }

  /**
   * A write that applies to this version only; `holder` undefined deletes. Returns the new version;
   * undefined when refused.
   */
  write(name: string, expected: number | undefined, holder: string | undefined): number | undefined {
    if (this.all.get(name)?.version !== expected) return undefined;
    const stored = holder === undefined ? undefined : { version: ++this.#version, holder };
    if (stored === undefined) this.all.delete(name);
    else this.all.set(name, stored);
    for (const watcher of this.#watchers) watcher({ name, stored });
    return stored?.version ?? 0;
  }

  /** True when the member may act for a shard, whatever each process believes. */
  isHolder(member: string, shard: number): boolean {
    return this.all.get(shardLease(shard))?.holder === member && this.all.has(member);
  }
}

export function shardLease(shard: number): string {
  return `shard-${shard}`;
}
