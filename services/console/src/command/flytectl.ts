import { isGiven } from "../format/given.js";
import { flytectlData } from "./flytectl-values.js";
import { formatData } from "../literal/data/json-text.js";
import { endpointOf, type LaunchFacts } from "./launch-facts.js";
import { hereDocument, quote } from "./shell.js";

/** Formats a launch as a file for `flytectl create execution`, and the command that reads it. */
export function flytectlCommand(facts: LaunchFacts): string {
  const { request, inputs, kind } = facts;
  const { project = "", domain = "", spec = {} } = request;
  const { name = "", version = "" } = spec.launchPlan ?? {};
  const { runAs } = spec.securityContext ?? {};
  const values = inputs.map((input) => ({ name: input.name, data: flytectlData(input.type, input.literal) }));
  const left = [...values.filter(({ data }) => data === undefined).map((each) => each.name), ...settingsWithoutField(facts)];
  const lines = values.flatMap(({ name: input, data }) => (data === undefined ? [] : [`  ${JSON.stringify(input)}: ${formatData(data)}`]));
  const file = [
    `iamRoleARN: ${JSON.stringify(runAs?.iamRole ?? "")}`,
    lines.length === 0 ? "inputs: {}" : "inputs:",
    ...lines,
    `kubeServiceAcct: ${JSON.stringify(runAs?.k8sServiceAccount ?? "")}`,
    'targetDomain: ""',
    'targetProject: ""',
    `version: ${JSON.stringify(version)}`,
    `${kind === "task" ? "task" : "workflow"}: ${JSON.stringify(name)}`,
    ...(spec.executionClusterLabel?.value ? [`targetExecutionCluster: ${JSON.stringify(spec.executionClusterLabel.value)}`] : []),
  ].join("\n");
  const { host, insecure } = endpointOf(facts);
  const address = `--admin.endpoint ${quote(`dns:///${host}`)}${insecure ? " --admin.insecure" : ""}`;
  const command = `cat > launch.yaml ${hereDocument(file)}\nflytectl create execution -p ${quote(project)} -d ${quote(domain)} --execFile launch.yaml \\\n  ${address}`;
  return left.length === 0 ? command : `${command}\n\n# flytectl's file has no place for ${left.join(", ")}: use Python or curl.`;
}

function settingsWithoutField({ request: { name, spec = {} } }: LaunchFacts): readonly string[] {
  const given: Readonly<Record<string, boolean>> = {
    "the name": name !== undefined && name !== "",
    parallelism: Boolean(spec.maxParallelism),
    interruptible: isGiven(spec.interruptible),
    "the cache": spec.overwriteCache === true,
    labels: isGiven(spec.labels),
    annotations: isGiven(spec.annotations),
    environment: isGiven(spec.envs),
    tags: (spec.tags ?? []).length > 0,
    "the output location": isGiven(spec.rawOutputDataConfig),
  };
  return Object.entries(given).flatMap(([title, isSet]) => (isSet ? [title] : []));
}
