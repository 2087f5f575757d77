/**
 * Properties of declarations that determine the wire format and the REST paths.
 * Keys are full names (a field is `package.Message.field`).
 */
export type Facts = ReadonlyMap<string, string>;

export interface FieldFact {
  readonly number: number;
  /** Scalar name or full type name; `map<key, value>` for maps. */
  readonly type: string;
  readonly label: "single" | "optional" | "repeated" | "map";
  readonly oneof: string | undefined;
  readonly jsonName: string;
}

export function fieldFact({ number, type, label, oneof, jsonName }: FieldFact): string {
  return `field ${label} ${type} = ${number}, JSON ${jsonName}${oneof === undefined ? "" : `, in oneof ${oneof}`}`;
}

export interface MethodFact {
  readonly input: string;
  readonly output: string;
  readonly clientStreams: boolean;
  readonly serverStreams: boolean;
}

export function methodFact({ input, output, clientStreams, serverStreams }: MethodFact): string {
  return `rpc (${clientStreams ? "stream " : ""}${input}) returns (${serverStreams ? "stream " : ""}${output})`;
}

export interface HttpFact {
  readonly verb: string;
  readonly path: string;
  readonly body: string;
}

/** The HTTP bindings of a method, in the order of their declaration. */
export function httpFact(bindings: readonly HttpFact[]): string {
  return `http ${bindings.map(({ verb, path, body }) => `${verb} ${path}${body === "" ? "" : ` body ${body}`}`).join("; ")}`;
}

/** Returns one line for each declaration that is missing, extra or different. */
export function compareFacts({ ours, published }: { readonly ours: Facts; readonly published: Facts }): string[] {
  const names = [...new Set([...ours.keys(), ...published.keys()])].sort();
  return names.flatMap((name) => {
    const [mine, theirs] = [ours.get(name), published.get(name)];
    if (mine === theirs) return [];
    if (mine === undefined) return [`missing ${name}: ${theirs}`];
    if (theirs === undefined) return [`extra ${name}: ${mine}`];
    return [`different ${name}: ${mine}; published ${theirs}`];
  });
}
