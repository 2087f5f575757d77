import type { ExecutionSpecJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { isGiven } from "../../format/given.js";
import type { Problem } from "../../literal/form-value.js";

export interface Pair {
  readonly key: string;
  readonly value: string;
}

/** How an execution runs, as it is entered; an empty text leaves it to the launch plan. */
export interface Settings {
  readonly name: string;
  readonly maxParallelism: string;
  readonly interruptible: "" | "yes" | "no";
  readonly cache: "" | "overwrite";
  readonly labels: readonly Pair[];
  readonly annotations: readonly Pair[];
  readonly environment: readonly Pair[];
  /** Tags with commas between them. */
  readonly tags: string;
  readonly serviceAccount: string;
  readonly iamRole: string;
  readonly outputPrefix: string;
  readonly clusterLabel: string;
}

export const NO_SETTINGS: Settings = {
  name: "",
  maxParallelism: "",
  interruptible: "",
  cache: "",
  labels: [],
  annotations: [],
  environment: [],
  tags: "",
  serviceAccount: "",
  iamRole: "",
  outputPrefix: "",
  clusterLabel: "",
};

/** Reads the settings of an execution that is launched again; its name is its own. */
export function settingsFrom(spec: ExecutionSpecJson | undefined): Settings {
  if (spec === undefined) return NO_SETTINGS;
  const pairs = (values: Readonly<Record<string, string>> | undefined) =>
    Object.entries(values ?? {}).map(([key, value]) => ({ key, value }));
  const { runAs } = spec.securityContext ?? {};
  return {
    ...NO_SETTINGS,
    maxParallelism: spec.maxParallelism ? String(spec.maxParallelism) : "",
    interruptible: isGiven(spec.interruptible) ? (spec.interruptible ? "yes" : "no") : "",
    cache: spec.overwriteCache === true ? "overwrite" : "",
    labels: pairs(spec.labels?.values),
    annotations: pairs(spec.annotations?.values),
    environment: (spec.envs?.values ?? []).map(({ key = "", value = "" }) => ({ key, value })),
    tags: (spec.tags ?? []).join(", "),
    serviceAccount: runAs?.k8sServiceAccount ?? "",
    iamRole: runAs?.iamRole ?? "",
    outputPrefix: spec.rawOutputDataConfig?.outputLocationPrefix ?? "",
    clusterLabel: spec.executionClusterLabel?.value ?? "",
  };
}

/** Parts of a specification that the form does not show, and that another launch keeps. */
const KEPT = [
  "notifications",
  "disableAll",
  "securityContext",
  "authRole",
  "qualityOfService",
  "clusterAssignment",
  "executionEnvAssignments",
] as const;

export type KeptSpec = Pick<ExecutionSpecJson, (typeof KEPT)[number]>;

/** Returns the parts of a specification that {@link settingsFrom} leaves out. */
export function keptFrom(spec: ExecutionSpecJson = {}): KeptSpec {
  return givenFields(Object.fromEntries(KEPT.map((name) => [name, spec[name]])));
}

function givenFields<Fields extends object>(fields: Fields): Fields {
  const given = Object.entries(fields).filter(
    ([, value]) => isGiven(value) && value !== "" && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(given) as Fields;
}

/** Fields of an identity that the form, or admin, sets. */
const ENTERED: ReadonlySet<string> = new Set(["k8sServiceAccount", "iamRole", "executionIdentity"]);

/** Context of a launch: the entered identities, and the rest of the earlier execution's. */
function securityContextOf({ serviceAccount, iamRole }: Settings, kept: KeptSpec): ExecutionSpecJson["securityContext"] {
  const { runAs, ...rest } = kept.securityContext ?? {};
  // The execution runs as its caller.
  const others = Object.fromEntries(Object.entries(runAs ?? {}).filter(([name]) => !ENTERED.has(name)));
  const identity = givenFields({ ...others, k8sServiceAccount: serviceAccount, iamRole });
  const context = { ...givenFields(rest), ...(Object.keys(identity).length > 0 && { runAs: identity }) };
  return Object.keys(context).length > 0 ? context : undefined;
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/\S/i;
const MAX_INT32 = 2 ** 31 - 1;

/**
 * Returns the part of a specification that the settings and the kept parts of an earlier one make.
 * Adds the rules that they break.
 */
export function settingsSpec(settings: Settings, kept: KeptSpec, problems: Problem[]): Omit<ExecutionSpecJson, "launchPlan"> {
  const { maxParallelism, interruptible, cache, outputPrefix, clusterLabel } = settings;
  const { securityContext: _, ...otherKept } = kept;
  const securityContext = securityContextOf(settings, kept);
  for (const [path, text] of Object.entries(brokenRules(settings)))
    if (text !== undefined) problems.push({ path: `settings.${path}`, text });
  const values = (pairs: readonly Pair[]) => Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
  const tags = tagsOf(settings);
  return {
    ...otherKept,
    ...(maxParallelism !== "" && { maxParallelism: Number(maxParallelism) }),
    ...(interruptible !== "" && { interruptible: interruptible === "yes" }),
    ...(cache === "overwrite" && { overwriteCache: true }),
    ...(settings.labels.length > 0 && { labels: { values: values(settings.labels) } }),
    ...(settings.annotations.length > 0 && { annotations: { values: values(settings.annotations) } }),
    ...(settings.environment.length > 0 && { envs: { values: [...settings.environment] } }),
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(securityContext !== undefined && { securityContext }),
    ...(outputPrefix !== "" && { rawOutputDataConfig: { outputLocationPrefix: outputPrefix } }),
    ...(clusterLabel !== "" && { executionClusterLabel: { value: clusterLabel } }),
  };
}

export function tagsOf({ tags }: Pick<Settings, "tags">): readonly string[] {
  return tags
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

function brokenRules(settings: Settings): Readonly<Record<string, string | undefined>> {
  const { name, maxParallelism, outputPrefix } = settings;
  const parallelism = Number(maxParallelism);
  return {
    name: name === "" || NAME.test(name) ? undefined : "Write lower-case letters, digits and hyphens, at most 63, beginning with a letter.",
    maxParallelism:
      /^\d*$/.test(maxParallelism) && parallelism <= MAX_INT32 ? undefined : "Write a whole number; 0 is as the launch plan says.",
    outputPrefix:
      outputPrefix === "" || ADDRESS.test(outputPrefix) ? undefined : "Write an address with its scheme, such as s3://bucket/folder.",
    labels: pairProblem(settings.labels),
    annotations: pairProblem(settings.annotations),
    environment: pairProblem(settings.environment),
  };
}

function pairProblem(pairs: readonly Pair[]): string | undefined {
  if (pairs.some(({ key }) => key.trim() === "")) return "Each entry needs a key.";
  return new Set(pairs.map(({ key }) => key)).size === pairs.length ? undefined : "Keys must differ.";
}
