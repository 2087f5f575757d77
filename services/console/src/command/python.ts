import type { ExecutionSpecJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { isGiven } from "../format/given.js";
import { withoutUnset } from "../literal/convert/raw-literal.js";
import { durationFromJson } from "../literal/scalar/duration.js";
import type { FieldType } from "../literal/type/field-type.js";
import { endpointOf, type LaunchFacts } from "./launch-facts.js";
import { pythonData, pythonText } from "./python-data.js";
import { structData } from "../literal/convert/struct-data.js";

/** Imports that the expressions of a program need. */
type Imports = Set<string>;

const MICROSECOND_NS = 1_000n;

/** Formats a launch as a program with FlyteRemote. */
export function pythonProgram(facts: LaunchFacts): string {
  const { request, inputs, kind } = facts;
  const { project = "", domain = "", spec = {} } = request;
  const { name = "", version = "" } = spec.launchPlan ?? {};
  const imports: Imports = new Set(["from flytekit.configuration import Config", "from flytekit.remote import FlyteRemote"]);
  const values = inputs.map((input) => `        ${pythonText(input.name)}: ${expression(input.type, input.literal, imports)},\n`);
  const { host, insecure } = endpointOf(facts);
  const entity = kind === "task" ? "task" : "launch_plan";
  const settings = settingArguments(request.name ?? "", spec, imports);
  const literalHelper = imports.has(LITERAL_IMPORT) ? LITERAL_HELPER : "";
  return `${[...imports].toSorted().join("\n")}
${literalHelper}
remote = FlyteRemote(
    Config.for_endpoint(${pythonText(host)}, insecure=${insecure ? "True" : "False"}),
    default_project=${pythonText(project)},
    default_domain=${pythonText(domain)},
)
entity = remote.fetch_${entity}(name=${pythonText(name)}, version=${pythonText(version)})
execution = remote.execute(
    entity,
    inputs={${values.length === 0 ? "" : `\n${values.join("")}    `}},
${settings.map((setting) => `    ${setting},\n`).join("")})
print(execution.id.name)
`;
}

const LITERAL_IMPORT = "import json";
/** Makes a literal from its JSON, for values that have no form in Python. */
const LITERAL_HELPER = `

def literal(value):
    message = json_format.Parse(json.dumps(value), literals_pb2.Literal())
    return Literal.from_flyte_idl(message)

`;

function expression(type: FieldType, literal: LiteralJson, imports: Imports): string {
  return nativeExpression(type, literal, imports) ?? literalExpression(literal, imports);
}

/** Expression of a value whose type flytekit tells from it; undefined for another one. */
function nativeExpression(type: FieldType, literal: LiteralJson, imports: Imports): string | undefined {
  const { collection, map, scalar, hash, metadata } = withoutUnset(literal);
  if (hash !== undefined || metadata !== undefined) return undefined;
  if (isGiven(collection)) {
    const items = (collection.literals ?? []).map((each) =>
      type.kind === "list" ? nativeExpression(type.item, each, imports) : undefined,
    );
    return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
  }
  if (isGiven(map)) {
    const entries = Object.entries(map.literals ?? {}).map(([key, each]) => {
      const value = type.kind === "map" ? nativeExpression(type.value, each, imports) : undefined;
      return value && `${pythonText(key)}: ${value}`;
    });
    return entries.includes(undefined) ? undefined : `{${entries.join(", ")}}`;
  }
  const { primitive, noneType, union } = scalar ?? {};
  if (isGiven(noneType)) return "None";
  if (isGiven(union?.value)) return optionalExpression(type, union.value, imports);
  // flytekit takes a dict as the value of any struct; a dataclass it would have to know.
  if (type.kind === "struct") {
    const struct = structData(literal);
    return struct && pythonData(struct.data);
  }
  if (!isGiven(primitive) || type.kind === "enum") return undefined;
  const { integer, floatValue, stringValue, boolean, datetime, duration } = primitive;
  if (isGiven(integer)) return String(integer);
  if (isGiven(floatValue)) return pythonData(Number(floatValue));
  if (isGiven(datetime)) return dateTime(datetime, imports);
  if (isGiven(duration)) return timeDelta(duration, imports);
  return isGiven(boolean) ? pythonData(boolean) : pythonText(stringValue ?? "");
}

/** flytekit tells none from the other variant; of more variants it would choose one itself. */
function optionalExpression(type: FieldType, literal: LiteralJson, imports: Imports): string | undefined {
  if (isGiven(literal.scalar?.noneType)) return "None";
  const [first, ...more] = type.kind === "union" ? type.variants.filter(({ type: { kind } }) => kind !== "none") : [];
  return first === undefined || more.length > 0 ? undefined : nativeExpression(first.type, literal, imports);
}

function dateTime(json: string, imports: Imports): string | undefined {
  // Python has microseconds.
  if (/\.\d{7,}Z$/.test(json)) return undefined;
  imports.add("from datetime import datetime, timedelta");
  return `datetime.fromisoformat(${pythonText(json.replace(/Z$/, "+00:00"))})`;
}

function timeDelta(json: string, imports: Imports): string | undefined {
  const ns = durationFromJson(json);
  if (ns === undefined || ns % MICROSECOND_NS !== 0n) return undefined;
  imports.add("from datetime import datetime, timedelta");
  return `timedelta(microseconds=${ns / MICROSECOND_NS})`;
}

function literalExpression(literal: LiteralJson, imports: Imports): string {
  imports.add(LITERAL_IMPORT);
  imports.add("from flyteidl.core import literals_pb2");
  imports.add("from flytekit.models.literals import Literal");
  imports.add("from google.protobuf import json_format");
  return `literal(${pythonData(JSON.parse(JSON.stringify(withoutUnset(literal))))})`;
}

function settingArguments(name: string, spec: ExecutionSpecJson, imports: Imports): readonly string[] {
  const options = optionArguments(spec, imports);
  if (options.length > 0) imports.add("from flytekit.core.options import Options");
  const envs = (spec.envs?.values ?? []).map(({ key = "", value = "" }) => `${pythonText(key)}: ${pythonText(value)}`);
  return [
    ...(name === "" ? [] : [`execution_name=${pythonText(name)}`]),
    ...(isGiven(spec.interruptible) ? [`interruptible=${pythonData(spec.interruptible)}`] : []),
    ...(spec.overwriteCache === true ? ["overwrite_cache=True"] : []),
    ...(envs.length === 0 ? [] : [`envs={${envs.join(", ")}}`]),
    ...(spec.tags === undefined ? [] : [`tags=${pythonData(spec.tags)}`]),
    ...(spec.executionClusterLabel?.value ? [`execution_cluster_label=${pythonText(spec.executionClusterLabel.value)}`] : []),
    ...(options.length === 0 ? [] : [`options=Options(${options.join(", ")})`]),
  ];
}

function optionArguments(
  { labels, annotations, maxParallelism, securityContext, rawOutputDataConfig }: ExecutionSpecJson,
  imports: Imports,
): readonly string[] {
  const { runAs } = securityContext ?? {};
  const prefix = rawOutputDataConfig?.outputLocationPrefix ?? "";
  if (isGiven(labels) || isGiven(annotations) || prefix !== "") imports.add("from flytekit.models import common");
  if (isGiven(runAs)) imports.add("from flytekit.models.security import Identity, SecurityContext");
  const identity = [
    ...(runAs?.k8sServiceAccount ? [`k8s_service_account=${pythonText(runAs.k8sServiceAccount)}`] : []),
    ...(runAs?.iamRole ? [`iam_role=${pythonText(runAs.iamRole)}`] : []),
  ];
  return [
    ...(isGiven(labels) ? [`labels=common.Labels(${pythonData(labels.values ?? {})})`] : []),
    ...(isGiven(annotations) ? [`annotations=common.Annotations(${pythonData(annotations.values ?? {})})`] : []),
    ...(maxParallelism ? [`max_parallelism=${maxParallelism}`] : []),
    ...(isGiven(runAs) ? [`security_context=SecurityContext(run_as=Identity(${identity.join(", ")}))`] : []),
    ...(prefix === "" ? [] : [`raw_output_data_config=common.RawOutputDataConfig(${pythonText(prefix)})`]),
  ];
}
