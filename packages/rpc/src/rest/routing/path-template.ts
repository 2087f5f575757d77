/** A segment of a path: a literal, any one component, or all remaining ones. */
type Segment = { readonly kind: "literal"; readonly text: string } | { readonly kind: "one" } | { readonly kind: "rest" };

interface Variable {
  /** Names of proto fields from the request inwards: `id.project` is ["id", "project"]. */
  readonly fieldPath: readonly string[];
  readonly from: number;
  /** Index after its last segment. */
  readonly to: number;
}

/** A path template of google.api.http, such as `/v1/{id.name}/items/{rest=**}:verb`. */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  readonly verb: string | undefined;
}

export interface PathValue {
  readonly fieldPath: readonly string[];
  readonly text: string;
}

/**
 * Parses a template. Throws when google.api.http does not allow it; templates come from this
 * project's own descriptors.
 */
export function parseTemplate(text: string): PathTemplate {
  const fail = (reason: string): never => {
    throw new Error(`path template ${text}: ${reason}`);
  };
  const match = /^\/(.*?)(?::([A-Za-z0-9_]+))?$/.exec(text);
  if (!match) return fail("it must start with /");
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  for (const part of (match[1] ?? "").match(/\{[^}]*\}|[^/]+/g) ?? []) {
    const variable = /^\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?:=(.+))?\}$/.exec(part);
    const from = segments.length;
    if (variable?.[1] === undefined) {
      if (/[{}]/.test(part)) fail(`${part} is not a variable`);
      segments.push(segmentOf(part));
      continue;
    }
    segments.push(...(variable[2] ?? "*").split("/").map(segmentOf));
    variables.push({ fieldPath: variable[1].split("."), from, to: segments.length });
  }
  if (segments.slice(0, -1).some((segment) => segment.kind === "rest")) fail("** must come last");
  return { text, segments, variables, verb: match[2] };
}

function segmentOf(text: string): Segment {
  switch (text) {
    case "*":
      return { kind: "one" };
    case "**":
      return { kind: "rest" };
    default:
      return { kind: "literal", text };
  }
}

/**
 * Returns the variables' values when the decoded components of a path match, else undefined. A
 * component may be empty: `/items/` gives `/items/{name}` an empty name, as in grpc-gateway.
 */
export function matchTemplate(template: PathTemplate, components: readonly string[]): PathValue[] | undefined {
  const { segments, variables, verb } = template;
  const parts = verb === undefined ? components : withoutVerb(components, verb);
  if (!parts) return undefined;
  const open = segments.at(-1)?.kind === "rest";
  if (open ? parts.length < segments.length - 1 : parts.length !== segments.length) return undefined;
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === "literal" && segment.text !== parts[index]) return undefined;
  }
  return variables.map(({ fieldPath, from, to }) => {
    const end = segments[to - 1]?.kind === "rest" ? parts.length : to;
    return { fieldPath, text: parts.slice(from, end).join("/") };
  });
}

function withoutVerb(components: readonly string[], verb: string): string[] | undefined {
  const last = components.at(-1) ?? "";
  const ending = `:${verb}`;
  if (!last.endsWith(ending) || last === ending) return undefined;
  return [...components.slice(0, -1), last.slice(0, -ending.length)];
}
