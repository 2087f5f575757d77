import type { ExecutionSpecJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { isGiven } from "../format/given.js";
import type { Data } from "../literal/data/data.js";
import { formatData } from "../literal/data/json-text.js";
import { formatFloat } from "../literal/scalar/number.js";
import type { FieldType, UnionVariant } from "../literal/type/field-type.js";
import { type CommandInput, endpointOf, type LaunchFacts } from "./launch-facts.js";
import { plainData } from "../literal/convert/plain-data.js";
import { joinLines, quote } from "./shell.js";

/** Within lists and maps, pyflyte takes JSON, which has no times. */
const NESTED = { dateTime: () => undefined, duration: () => undefined };

/** Formats a launch as `pyflyte run`, which runs what is registered. */
export function pyflyteCommand(facts: LaunchFacts): string {
  const { request, inputs, kind } = facts;
  const { name = "", version = "" } = request.spec?.launchPlan ?? {};
  const options = inputs.map((input) => ({ input, text: optionOf(input) }));
  const left = options.filter(({ text }) => text === undefined).map(({ input }) => input.name);
  const { host, insecure } = endpointOf(facts);
  const command = joinLines([
    `FLYTE_PLATFORM_URL=${quote(host)}${insecure ? " FLYTE_PLATFORM_INSECURE=true" : ""}`,
    `pyflyte run --project ${quote(request.project ?? "")}`,
    `--domain ${quote(request.domain ?? "")}`,
    ...settingOptions(request.name ?? "", request.spec ?? {}),
    kind === "task" ? "remote-task" : "remote-launchplan",
    quote(`${name}:${version}`),
    ...options.flatMap(({ text }) => (text === undefined || text === "" ? [] : [text])),
  ]);
  return left.length === 0 ? command : `${command}\n\n# pyflyte cannot be given ${left.join(", ")}: use Python or curl.`;
}

/** Option of an input: empty where pyflyte assumes it; undefined where it takes no such value. */
function optionOf({ name, type, literal }: CommandInput): string | undefined {
  // Click has no options with capital letters.
  if (name !== name.toLowerCase()) return undefined;
  const { primitive, union } = literal.scalar ?? {};
  if (isGiven(union?.value)) {
    // pyflyte takes the first variant that the text fits.
    if (isGiven(union.value.scalar?.noneType)) return "";
    return isChosen(type, literal) ? textOption(name, union.value) : undefined;
  }
  if (isGiven(primitive?.boolean)) return primitive.boolean ? `--${name}` : `--no_${name}`;
  return textOption(name, literal);
}

/** Texts that pyflyte takes for a kind of value; a kind that is missing may take any. */
const TAKES: Readonly<Record<string, RegExp>> = {
  integer: /^\s*[+-]?\d+\s*$/,
  float: /^\s*[+-]?(\d+\.?\d*|\.\d+|nan|inf)(e[+-]?\d+)?\s*$/i,
  boolean: /^(true|false|1|0|yes|no|on|off|t|f|y|n)$/i,
  string: /(?:)/,
};

/** Reports whether pyflyte takes the variant of a literal: the first that fits, texts last. */
function isChosen(type: FieldType, literal: CommandInput["literal"]): boolean {
  const value = literal.scalar?.union?.value;
  const data = isGiven(value) ? plainData(value, NESTED) : undefined;
  if (type.kind !== "union" || data === undefined) return type.kind === "union" && type.variants.filter(isValue).length === 1;
  const variants = type.variants.filter(isValue).toSorted((a, b) => Number(a.type.kind === "string") - Number(b.type.kind === "string"));
  const first = variants.find((variant) => TAKES[variant.type.kind]?.test(textOf(data)) ?? true);
  return variants.length === 1 || JSON.stringify(first?.literalType) === JSON.stringify(literal.scalar?.union?.type);
}

const isValue = ({ type }: UnionVariant): boolean => type.kind !== "none";

function textOption(name: string, literal: CommandInput["literal"]): string | undefined {
  const { datetime, duration } = literal.scalar?.primitive ?? {};
  if (isGiven(datetime)) return `--${name} ${quote(datetime.replace("T", " ").replace(/Z$/, "+00:00"))}`;
  if (isGiven(duration)) return `--${name} ${quote(duration)}`;
  const data = plainData(literal, NESTED);
  return data === undefined ? undefined : `--${name} ${quote(textOf(data))}`;
}

function textOf(data: Data): string {
  return typeof data === "string" ? data : typeof data === "number" ? formatFloat(data) : formatData(data);
}

function settingOptions(name: string, spec: ExecutionSpecJson): readonly string[] {
  const { runAs } = spec.securityContext ?? {};
  const pairs = (option: string, values: Readonly<Record<string, string>> | undefined) =>
    Object.entries(values ?? {}).map(([key, value]) => `${option} ${quote(`${key}=${value}`)}`);
  const given = (option: string, value: string | number | undefined) =>
    value === undefined || value === "" || value === 0 ? [] : [`${option} ${quote(String(value))}`];
  return [
    ...given("--name", name),
    ...given("--max-parallelism", spec.maxParallelism),
    ...(isGiven(spec.interruptible) ? [`--interruptible ${spec.interruptible}`] : []),
    ...(spec.overwriteCache === true ? ["--overwrite-cache"] : []),
    ...pairs("--labels", spec.labels?.values),
    ...pairs("--annotations", spec.annotations?.values),
    ...(spec.envs?.values ?? []).map(({ key = "", value = "" }) => `--env ${quote(`${key}=${value}`)}`),
    ...(spec.tags ?? []).map((tag) => `--tag ${quote(tag)}`),
    ...given("--service-account", runAs?.k8sServiceAccount),
    ...given("--raw-output-data-prefix", spec.rawOutputDataConfig?.outputLocationPrefix),
    ...given("--execution-cluster-label", spec.executionClusterLabel?.value),
  ];
}
