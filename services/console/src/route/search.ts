/** Parameters of a page's query as the address has them. */
export type RawSearch = Readonly<Record<string, string>>;

/** Reads and writes the state of a page that is in its address. */
export interface SearchCodec<State> {
  /** Reads a query; what is malformed has its default. */
  read(raw: Readonly<Record<string, unknown>>): State;
  /** Writes the state by short keys; what has its default is left out. */
  write(state: State): RawSearch;
}

/** One field of a state and its short key in the query. */
export interface SearchField<Value> {
  readonly key: string;
  readonly fallback: Value;
  /** Reads the text of the query; undefined where it is malformed. */
  decode(text: string): Value | undefined;
  encode(value: Value): string;
}

type StateOf<Fields> = { readonly [Name in keyof Fields]: Fields[Name] extends SearchField<infer Value> ? Value : never };

/** Makes the codec of a page from its fields. */
export function searchCodec<Fields extends Readonly<Record<string, SearchField<unknown>>>>(fields: Fields): SearchCodec<StateOf<Fields>> {
  const names = Object.keys(fields);
  return {
    read(raw) {
      const state: Record<string, unknown> = {};
      for (const name of names) {
        const field = fields[name] as SearchField<unknown>;
        const value = raw[field.key];
        state[name] = (typeof value === "string" ? field.decode(value) : undefined) ?? field.fallback;
      }
      return state as StateOf<Fields>;
    },
    write(state) {
      const raw: Record<string, string> = {};
      for (const name of names) {
        const field = fields[name] as SearchField<unknown>;
        const text = field.encode(state[name as keyof Fields]);
        if (text !== field.encode(field.fallback)) raw[field.key] = text;
      }
      return raw;
    },
  };
}

/** A text; default empty. */
export function textField(key: string): SearchField<string> {
  return { key, fallback: "", decode: (text) => text, encode: (text) => text };
}

/** One of several words; default the first. */
export function choiceField<const Choice extends string>(key: string, choices: readonly [Choice, ...Choice[]]): SearchField<Choice> {
  return { key, fallback: choices[0], decode: (text) => choices.find((each) => each === text), encode: (choice) => choice };
}

/** Several of some words, in the order of the choices; default none. */
export function choicesField<const Choice extends string>(key: string, choices: readonly Choice[]): SearchField<readonly Choice[]> {
  return {
    key,
    fallback: [],
    decode: (text) => choices.filter((choice) => text.split(".").includes(choice)),
    encode: (chosen) => chosen.join("."),
  };
}

/** Reads a query string; of a repeated parameter the first value counts. */
export function parseSearch(text: string): RawSearch {
  const found: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(text)) if (!Object.hasOwn(found, key)) found[key] = value;
  return found;
}

/** Writes a query string with its question mark; empty for none. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) if (typeof value === "string" && value !== "") parameters.set(key, value);
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}
