import { usesTaskTemplatePath } from "@flyte-ts/domain/template";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type KubeClient, POD_TEMPLATES } from "@flyte-ts/kubernetes";
import { PermanentFailure } from "@flyte-ts/task-plugin";
import { readInputsFile, writeInputsFile, writeTaskTemplate } from "@flyte-ts/task-plugin/files";
import type { DataStore } from "../result/data-store.js";
import type { Container, PodTemplate } from "../pod-types.js";
import { InvalidPodSpecError } from "../build/invalid-pod-spec.js";
import type { BuildPodOptions } from "../build/pod-config.js";

export interface PrerequisiteDeps {
  readonly client: Pick<KubeClient, "get">;
  readonly store: DataStore;
  /** PodTemplate for tasks that name none; empty: none. */
  readonly defaultPodTemplate: string;
  /** Namespace of templates for all namespaces; empty: none. */
  readonly templateNamespace: string;
}

export interface Prerequisites extends Pick<BuildPodOptions, "base" | "taskTemplatePath"> {
  readonly inputs: LiteralMap | undefined;
}

const INPUT_REFERENCE = /\{\{\s*[.$]inputs\./i;

/** Prepares the creation of the pod: writes inputs.pb and task.pb, fetches the pod template. */
export async function ensurePrerequisites(request: TaskRequest, deps: PrerequisiteDeps): Promise<Prerequisites> {
  const strings = templatedStrings(request);
  const [base, taskTemplatePath, inputs] = await Promise.all([
    findPodTemplate(request, deps),
    usesTaskTemplatePath(strings) ? writeTaskTemplate(request, deps.store) : undefined,
    ensureInputsFile(request, { store: deps.store, wanted: strings.some((text) => INPUT_REFERENCE.test(text)) }),
  ]);
  return { base, taskTemplatePath, inputs };
}

/** All texts in which templates are rendered. */
function templatedStrings({ template, overrides }: TaskRequest): string[] {
  const strings: string[] = [];
  if (template?.target.case === "container") strings.push(...template.target.value.command, ...template.target.value.args);
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
        strings.push(...command, ...args);
    }
  }
  return strings.filter((text) => typeof text === "string");
}

async function findPodTemplate({ template, namespace }: TaskRequest, deps: PrerequisiteDeps): Promise<PodTemplate | undefined> {
  const requestedName = template?.metadata?.podTemplateName ?? "";
  const name = requestedName || deps.defaultPodTemplate;
  if (name === "") return undefined;
  const namespaces = [namespace, deps.templateNamespace].filter((candidate) => candidate !== "");
  for (const candidate of namespaces) {
    const template = await deps.client.get<PodTemplate>(POD_TEMPLATES, { namespace: candidate, name });
    if (template !== undefined) return template;
  }
  if (requestedName === "") return undefined;
  throw new InvalidPodSpecError(
    `template.metadata.pod_template_name: there is no PodTemplate ${JSON.stringify(requestedName)} in ${namespaces.join(" or ")}`,
  );
}

async function ensureInputsFile(
  request: TaskRequest,
  { store, wanted: needed }: { store: DataStore; wanted: boolean },
): Promise<LiteralMap | undefined> {
  const { inputs, inputsWritten } = request;
  if (!inputsWritten) {
    if (inputs === undefined) {
      throw new PermanentFailure({
        code: "InputsMissing",
        kind: "SYSTEM",
        message: "the request has neither inputs nor the URI of written inputs",
      });
    }
    await writeInputsFile(request, inputs, store);
    return inputs;
  }
  if (inputs !== undefined || !needed) return inputs;
  return readInputsFile(request, store);
}
