/** Target of a flyte:// URL: inputs, outputs or the deck. */
export type FlyteUrlKind = "inputs" | "outputs" | "deck";

/** Data of a node execution, or, with `attempt`, of one of its task executions. */
export interface FlyteUrl {
  readonly project: string;
  readonly domain: string;
  readonly execution: string;
  /** Unique id of the node. */
  readonly node: string;
  readonly attempt?: number | undefined;
  readonly kind: FlyteUrlKind;
  /** One variable of the inputs or outputs. */
  readonly variable?: string | undefined;
}

const LETTERS: Readonly<Record<FlyteUrlKind, string>> = { inputs: "i", outputs: "o", deck: "d" };
const KINDS: Readonly<Record<string, FlyteUrlKind>> = { i: "inputs", o: "outputs", d: "deck" };

const NAME = "[a-zA-Z0-9_-]+";
const URL_FORM = new RegExp(
  `^flyte://v1/(?<project>${NAME})/(?<domain>${NAME})/(?<execution>${NAME})/(?<node>${NAME})(?:/(?<attempt>[0-9]+))?` +
    `/(?:(?<kind>[iod])|(?<valueKind>[io])/(?<variable>${NAME}))$`,
);

/** `flyte://v1/{project}/{domain}/{execution}/{node}[/{attempt}]/{i|o|d}[/{variable}]` */
export function flyteUrl(url: FlyteUrl): string {
  const attempt = url.attempt === undefined ? "" : `/${url.attempt}`;
  const variable = url.variable === undefined ? "" : `/${url.variable}`;
  return `flyte://v1/${url.project}/${url.domain}/${url.execution}/${url.node}${attempt}/${LETTERS[url.kind]}${variable}`;
}

/**
 * Parses the result of flyteUrl; undefined for any other text, an attempt over 32 bits and a
 * variable of a deck.
 */
export function parseFlyteUrl(text: string): FlyteUrl | undefined {
  const groups = URL_FORM.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { project = "", domain = "", execution = "", node = "", attempt, variable } = groups;
  const kind = KINDS[groups["kind"] ?? groups["valueKind"] ?? ""];
  if (kind === undefined || (attempt !== undefined && Number(attempt) > 0xffff_ffff)) return undefined;
  return { project, domain, execution, node, attempt: attempt === undefined ? undefined : Number(attempt), kind, variable };
}
