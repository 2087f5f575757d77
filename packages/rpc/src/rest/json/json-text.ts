/** The text of an integer that a JavaScript number cannot hold exactly. */
export class BigIntegerText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type ParsedJson = null | boolean | number | string | BigIntegerText | ParsedJson[] | { [key: string]: ParsedJson };

export interface ParsedText {
  /** Undefined when the text is empty or all white space. */
  readonly value: ParsedJson | undefined;
  /** True when the value contains a {@link BigIntegerText}. */
  readonly hasBigInteger: boolean;
}

/** The text is not JSON; the message names the reason and the offset. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
}

/** Maximum nesting. */
const MAX_JSON_DEPTH = 1_000;

/**
 * Parses the first JSON value of a text as Go's decoder does: the rest is ignored, a duplicate key
 * is an error, and integers keep all digits.
 */
export function parseJsonText(text: string): ParsedText {
  const reader = new Reader(text);
  const value = reader.read();
  return { value, hasBigInteger: reader.hasBigInteger };
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\r\n]*/y;
class Reader {
  readonly #text: string;
  #at = 0;
  hasBigInteger = false;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ParsedJson | undefined {
    this.#skipSpace();
    return this.#at === this.#text.length ? undefined : this.#value(0);
  }

  #value(depth: number): ParsedJson {
    if (depth > MAX_JSON_DEPTH) return this.#fail(`more than ${MAX_JSON_DEPTH} levels deep`);
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): ParsedJson {
    const entries = new Map<string, ParsedJson>();
    this.#at++;
    this.#skipSpace();
    if (this.#take("}")) return {};
    do {
      this.#skipSpace();
      const key = this.#string();
      if (entries.has(key)) this.#fail(`duplicate field ${JSON.stringify(key)}`);
      this.#skipSpace();
      if (!this.#take(":")) this.#fail("expected :");
      this.#skipSpace();
      entries.set(key, this.#value(depth + 1));
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("}")) this.#fail("expected , or }");
    return Object.fromEntries(entries);
  }

  #array(depth: number): ParsedJson {
    const items: ParsedJson[] = [];
    this.#at++;
    this.#skipSpace();
    if (this.#take("]")) return items;
    do {
      this.#skipSpace();
      items.push(this.#value(depth + 1));
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("]")) this.#fail("expected , or ]");
    return items;
  }

  #string(): string {
    const from = this.#at;
    if (!this.#take('"')) this.#fail("expected a string");
    // Skips to the closing quote: the next one without a backslash before it.
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    if (!this.#take('"')) this.#fail("unexpected end of a string");
    const text = unescape(this.#text.slice(from, this.#at)) ?? this.#fail("invalid character or escape in a string");
    if (!text.isWellFormed()) this.#fail("half of a surrogate pair in a string");
    return text;
  }

  #number(): ParsedJson {
    const raw = this.#match(NUMBER);
    if (raw === undefined) return this.#fail("unexpected token");
    const value = Number(raw);
    if (Number.isSafeInteger(value) || !/^-?[0-9]+$/.test(raw)) return value;
    this.hasBigInteger = true;
    return new BigIntegerText(raw);
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail("unexpected token");
    this.#at += word.length;
    return value;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #fail(reason: string): never {
    if (this.#at >= this.#text.length) throw new JsonTextError("unexpected end of JSON input");
    throw new JsonTextError(`${reason} at offset ${this.#at}`);
  }
}

function unescape(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
