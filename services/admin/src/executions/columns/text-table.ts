/** Texts that columns refer to by number. */
export class TextTable {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];

  get length(): number {
    return this.#texts.length;
  }

  /** Returns the index plus 1 of a text, and adds a new one; 0 for the empty text. */
  numberOf(text: string): number {
    if (text === "") return 0;
    let number = this.#numbers.get(text);
    if (number === undefined) this.#numbers.set(text, (number = this.#texts.push(text)));
    return number;
  }

  /** Texts from an index on. */
  from(index: number): readonly string[] {
    return this.#texts.slice(index);
  }
}
