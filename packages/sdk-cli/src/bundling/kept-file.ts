import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Kept<Value> {
  readonly key: string;
  readonly value: Value;
}

/** A result of the last run, kept below `.flyte-ts` with the key of all that it depends on. */
export class KeptFile<Value> {
  readonly #path: string;

  constructor(root: string, name: string) {
    this.#path = join(root, ".flyte-ts", name);
  }

  /** Returns the kept value of this key; computes and keeps it when another or none is kept. */
  get(key: string, compute: () => Value): Value {
    const known = this.find(key);
    if (known !== undefined) return known;
    const value = compute();
    this.keep(key, value);
    return value;
  }

  find(key: string): Value | undefined {
    try {
      const kept = JSON.parse(readFileSync(this.#path, "utf8")) as Kept<Value>;
      return kept.key === key ? kept.value : undefined;
    } catch {
      return undefined;
    }
  }

  keep(key: string, value: Value): void {
    const written = `${this.#path}.${process.pid}`;
    try {
      mkdirSync(dirname(this.#path), { recursive: true });
      writeFileSync(written, JSON.stringify({ key, value } satisfies Kept<Value>));
      renameSync(written, this.#path);
    } catch {
      // A folder that cannot be written costs time alone.
    }
  }
}
