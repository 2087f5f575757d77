import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";

/** Maximum of distinct messages kept; further ones are only counted. */
const KEPT = 10;
const MORE = "... and many more.";

/** Errors of failed items: each message once, with the indexes of its items. */
export class ItemFailures {
  readonly #messages = new Map<string, number[]>();
  #first: { readonly index: number; readonly error: ExecutionErrorJson } | undefined;
  #others = 0;

  get any(): boolean {
    return this.#first !== undefined;
  }

  has(message: string): boolean {
    return this.#messages.has(message);
  }

  /** Returns true when the message is kept. */
  add(index: number, error: ExecutionErrorJson): boolean {
    if (this.#first === undefined || index < this.#first.index) this.#first = { index, error };
    const known = this.#messages.get(error.message);
    if (known !== undefined) known.push(index);
    else if (this.#messages.size < KEPT) this.#messages.set(error.message, [index]);
    else {
      this.#others++;
      return false;
    }
    return true;
  }

  /** Item indexes and messages, one line per message, in Go Flyte's format. */
  summary(limit: number): string {
    let text = "";
    for (const message of [...this.#messages.keys()].toSorted()) {
      text += `${ranges(this.#messages.get(message) ?? [])}: ${message}\n`;
      if (text.length >= limit - MORE.length) return text + MORE;
    }
    return this.#others === 0 ? text : text + MORE;
  }

  /** Error of the array, with the kind and code of its first failed item. */
  error(limit: number): ExecutionErrorJson {
    const { code = "ArrayNodeFailing", kind = "UNKNOWN" } = this.#first?.error ?? {};
    return { code, kind, message: this.summary(limit) };
  }
}

function ranges(places: readonly number[]): string {
  let text = "";
  let [start, end] = [-1, -2];
  const close = () => {
    if (start >= 0) text += start === end ? `[${start}]` : `[${start}-${end}]`;
  };
  for (const place of places.toSorted((a, b) => a - b)) {
    if (place <= end + 1) end = Math.max(end, place);
    else {
      close();
      [start, end] = [place, place];
    }
  }
  close();
  return text;
}
