import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";

/** Different messages that are kept; of further ones only the number. */
const KEPT = 10;
const MORE = "... and many more.";

/** What items failed with: each message once, with the places of those that told it. */
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

  /** Returns whether the message is one of those that are kept. */
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

  /** Places and messages, a line each, in the order of the messages (as Go Flyte writes them). */
  summary(limit: number): string {
    let text = "";
    for (const message of [...this.#messages.keys()].toSorted()) {
      text += `${ranges(this.#messages.get(message) ?? [])}: ${message}\n`;
      if (text.length >= limit - MORE.length) return text + MORE;
    }
    return this.#others === 0 ? text : text + MORE;
  }

  /** The array's own error: whose fault it is and of what kind is what its first failed item says. */
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
