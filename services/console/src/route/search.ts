import * as z from "zod/mini";

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
  readonly codec: z.ZodMiniType<Value, string>;
}

type StateOf<Fields> = { readonly [Name in keyof Fields]: Fields[Name] extends SearchField<infer Value> ? Value : never };

/** Makes the codec of a page from its fields. */
export function searchCodec<Fields extends Readonly<Record<string, SearchField<unknown>>>>(fields: Fields): SearchCodec<StateOf<Fields>> {
  const names = Object.keys(fields);
  return {
    read(raw) {
      const state: Record<string, unknown> = {};
      for (const name of names) {
        const { key, fallback, codec } = fields[name] as SearchField<unknown>;
        const value = raw[key];
        const read = typeof value === "string" ? z.safeDecode(codec, value) : undefined;
        state[name] = read?.success === true ? read.data : fallback;
      }
      return state as StateOf<Fields>;
    },
    write(state) {
      const raw: Record<string, string> = {};
      for (const name of names) {
        const { key, fallback, codec } = fields[name] as SearchField<unknown>;
        const [text, omitted] = [z.encode(codec, state[name as keyof Fields]), z.encode(codec, fallback)];
        if (text !== omitted) raw[key] = text;
      }
      return raw;
    },
  };
}

/** A text; default empty. */
export function textField(key: string): SearchField<string> {
  return { key, fallback: "", codec: z.codec(z.string(), z.string(), { decode: (text) => text, encode: (text) => text }) };
}

/** One of several words; default the first. */
export function choiceField<const Choice extends string>(key: string, choices: readonly [Choice, ...Choice[]]): SearchField<Choice> {
  const codec = z.codec(z.string(), z.enum(choices), { decode: (text) => text as Choice, encode: (choice) => choice as string });
  return { key, fallback: choices[0], codec };
}

/** Several of some words, in the order of the choices; default none. */
export function choicesField<const Choice extends string>(key: string, choices: readonly Choice[]): SearchField<readonly Choice[]> {
  const codec = z.codec(z.string(), z.readonly(z.array(z.enum(choices as readonly [Choice, ...Choice[]]))), {
    decode: (text) => choices.filter((choice) => text.split(".").includes(choice)),
    encode: (chosen) => chosen.join("."),
  });
  return { key, fallback: [], codec: codec as SearchField<readonly Choice[]>["codec"] };
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
