import { toBinary } from "@bufbuild/protobuf";
import { BlobTooLargeError } from "@flyte-ts/blobstore";
import { usesTaskTemplatePath } from "@flyte-ts/domain";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { readStored, StoredMessageRefused } from "@flyte-ts/input-limits";
import { type KubeClient, POD_TEMPLATES } from "@flyte-ts/kubernetes";
import { inputsForFile, inputsFromFile, NotYet, PermanentFailure } from "@flyte-ts/task-plugin";
import type { DataStore } from "../end/data-store.js";
import type { Container, PodTemplate } from "../kube/pod-types.js";
import { BadSpecification } from "./bad-specification.js";
import type { BuildPodOptions } from "./build-pod.js";

export interface PrepareParts {
  readonly client: Pick<KubeClient, "get">;
  readonly store: DataStore;
  /** PodTemplate for tasks that name none; empty: none. */
  readonly defaultPodTemplate: string;
  /** Namespace of templates for all namespaces; empty: none. */
  readonly templateNamespace: string;
}

export interface Prepared extends Pick<BuildPodOptions, "base" | "taskTemplatePath"> {
  readonly inputs: LiteralMap | undefined;
}

const INPUT_TEMPLATE = /\{\{\s*[.$]inputs\./i;

/** Prepares the creation of the pod: writes inputs.pb and task.pb, fetches the pod template. */
export async function prepare(request: TaskRequest, parts: PrepareParts): Promise<Prepared> {
  const words = commandWords(request);
  const [base, taskTemplatePath, inputs] = await Promise.all([
    podTemplate(request, parts),
    usesTaskTemplatePath(words) ? writeTemplate(request, parts.store) : undefined,
    provideInputs(request, { store: parts.store, wanted: words.some((word) => INPUT_TEMPLATE.test(word)) }),
  ]);
  return { base, taskTemplatePath, inputs };
}

/** All texts in which templates are rendered. */
function commandWords({ template, overrides }: TaskRequest): string[] {
  const words: string[] = [];
  if (template?.target.case === "container") words.push(...template.target.value.command, ...template.target.value.args);
  const specs = [
    template?.target.case === "k8sPod" ? template.target.value.podSpec : undefined,
    overrides?.podTemplate?.podSpec,
    template?.custom,
  ];
  for (const spec of specs) {
    const own = (spec ?? {}) as {
      containers?: Container[];
      initContainers?: Container[];
      podSpec?: { containers?: Container[]; initContainers?: Container[] };
    };
    for (const level of [own, own.podSpec ?? {}]) {
      for (const { command = [], args = [] } of [...(level.containers ?? []), ...(level.initContainers ?? [])])
        words.push(...command, ...args);
    }
  }
  return words.filter((word) => typeof word === "string");
}

async function podTemplate({ template, namespace }: TaskRequest, parts: PrepareParts): Promise<PodTemplate | undefined> {
  const named = template?.metadata?.podTemplateName ?? "";
  const name = named || parts.defaultPodTemplate;
  if (name === "") return undefined;
  const namespaces = [namespace, parts.templateNamespace].filter((place) => place !== "");
  for (const place of namespaces) {
    const found = await parts.client.get<PodTemplate>(POD_TEMPLATES, { namespace: place, name });
    if (found !== undefined) return found;
  }
  if (named === "") return undefined;
  throw new BadSpecification(
    `template.metadata.pod_template_name: there is no PodTemplate ${JSON.stringify(named)} in ${namespaces.join(" or ")}`,
  );
}

/** Written beside inputs.pb; the same for every attempt. */
async function writeTemplate({ inputUri, template }: TaskRequest, store: DataStore): Promise<string> {
  const uri = `${inputUri.slice(0, inputUri.lastIndexOf("/"))}/task.pb`;
  if (template !== undefined) await store.put(uri, toBinary(TaskTemplateSchema, template));
  return uri;
}

async function provideInputs(
  request: TaskRequest,
  { store, wanted }: { store: DataStore; wanted: boolean },
): Promise<LiteralMap | undefined> {
  const { inputs, inputsWritten, inputUri } = request;
  if (!inputsWritten) {
    if (inputs === undefined) {
      throw new PermanentFailure({
        code: "InputsMissing",
        kind: "SYSTEM",
        message: "the request has neither inputs nor says that they are written",
      });
    }
    await store.put(inputUri, toBinary(LiteralMapSchema, inputsForFile(request, inputs)));
    return inputs;
  }
  if (inputs !== undefined || !wanted) return inputs;
  const stored = await readStored(store, { uri: inputUri, schema: LiteralMapSchema }).catch((cause: unknown) => {
    if (!(cause instanceof StoredMessageRefused || cause instanceof BlobTooLargeError)) throw cause;
    throw new PermanentFailure({ code: "InputsBadFormat", message: `inputs at [${inputUri}] cannot be read: ${cause.message}` });
  });
  if (stored === undefined) throw new NotYet(`inputs are not at ${inputUri} yet`);
  return inputsFromFile(request, stored);
}
