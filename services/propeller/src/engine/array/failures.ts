import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";

/** Maximum of distinct messages kept; further ones are only counted. */
const MAX_MESSAGES = 10;
const TRUNCATED = "... and many more.";

/** Errors of failed items: each message once, with the indexes of its items. */
export class ItemFailures {
  readonly #messages = new Map<string, number[]>();
  #lowest: { readonly index: number; readonly error: ExecutionErrorJson } | undefined;
  #uncounted = 0;

  get any(): boolean {
    return this.#lowest !== undefined;
  }

  has(message: string): boolean {
    return this.#messages.has(message);
  }

  /** Returns true when the message is kept. */
  add(index: number, error: ExecutionErrorJson): boolean {
    if (this.#lowest === undefined || index < this.#lowest.index) this.#lowest = { index, error };
    const known = this.#messages.get(error.message);
    if (known !== undefined) known.push(index);
    else if (this.#messages.size < MAX_MESSAGES) this.#messages.set(error.message, [index]);
    else {
      this.#uncounted++;
      return false;
    }
    return true;
  }

  /** Item indexes and messages, one line per message, in Go Flyte's format. */
  summary(limit: number): string {
    let text = "";
    for (const message of [...this.#messages.keys()].toSorted()) {
      text += `${ranges(this.#messages.get(message) ?? [])}: ${message}\n`;
      if (text.length >= limit - TRUNCATED.length) return text + TRUNCATED;
    }
    return this.#uncounted === 0 ? text : text + TRUNCATED;
  }

  /** Error of the array, with the kind and code of its first failed item. */
  error(limit: number): ExecutionErrorJson {
    const { code = "ArrayNodeFailing", kind = "UNKNOWN" } = this.#lowest?.error ?? {};
    return { code, kind, message: this.summary(limit) };
  }
}

function ranges(indexes: readonly number[]): string {
  let text = "";
  let [start, end] = [-1, -2];
  const close = () => {
    if (start >= 0) text += start === end ? `[${start}]` : `[${start}-${end}]`;
  };
  for (const index of indexes.toSorted((a, b) => a - b)) {
    if (index <= end + 1) end = Math.max(end, index);
    else {
      close();
      [start, end] = [index, index];
    }
  }
  close();
  return text;
}
