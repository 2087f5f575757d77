import { toBinary } from "@bufbuild/protobuf";
import { canonicalQuantity } from "@flyte-ts/domain";
import { TypedInterfaceSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type DataLoadingConfig, DataLoadingConfig_LiteralMapFormat } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Container, PodSpec, Volume, VolumeMount } from "../kube/pod-types.js";
import { storageSize } from "./resources.js";

export interface CopilotConfig {
  readonly image: string;
  readonly namePrefix: string;
  readonly cpu: string;
  readonly memory: string;
  /** Longest upload, seconds; the pod's grace period. */
  readonly timeoutSeconds: number;
  readonly inputPath: string;
  readonly outputPath: string;
  readonly inputVolume: string;
  readonly outputVolume: string;
  /** How flytecopilot reaches the blob store (`--storage.…`). */
  readonly storageArgs: readonly string[];
}

/** A spec with the copilot's containers, and the name of the one that stands for `primary-init` in pod templates. */
export interface Copiloted {
  readonly spec: PodSpec;
  readonly initContainer: string;
}

/** For containers without flytekit: a copilot that brings inputs as files before, and takes outputs from files after (contract §6.5). */
export function withCopilot(spec: PodSpec, request: TaskRequest, options: { config: CopilotConfig; primaryContainer: string }): Copiloted {
  const data = dataConfig(request);
  const iface = request.template?.interface;
  if (data === undefined || !data.enabled || iface === undefined) return { spec, initContainer: "" };
  const { config, primaryContainer } = options;
  const size = storageSize(request.overrides?.resources) ?? storageSizeOf(request);
  const volumes: Volume[] = [...(spec.volumes ?? [])];
  const mounts: VolumeMount[] = [];
  let initContainers: Container[] = [...(spec.initContainers ?? [])];
  let initContainer = "";
  if (Object.keys(iface.inputs?.variables ?? {}).length > 0) {
    const mount = { name: config.inputVolume, mountPath: data.inputPath || config.inputPath };
    const inputs = base64(toBinary(VariableMapSchema, iface.inputs as NonNullable<typeof iface.inputs>));
    const args = [
      "download",
      "--from-remote",
      request.inputUri,
      "--to-output-prefix",
      request.outputPrefix,
      "--to-local-dir",
      mount.mountPath,
    ];
    args.push("--format", DataLoadingConfig_LiteralMapFormat[data.format], "--input-interface", inputs);
    const downloader = copilot("downloader", { config, args, mount });
    volumes.push(emptyDir(config.inputVolume, size));
    mounts.push(mount);
    initContainers.push(downloader);
    initContainer = downloader.name;
  }
  const hasOutputs = Object.keys(iface.outputs?.variables ?? {}).length > 0;
  if (hasOutputs) {
    const mount = { name: config.outputVolume, mountPath: data.outputPath || config.outputPath };
    const args = [
      "sidecar",
      "--timeout",
      `${config.timeoutSeconds}s`,
      "--to-raw-output",
      request.rawOutputPrefix,
      "--to-output-prefix",
      request.outputPrefix,
    ];
    args.push("--from-local-dir", mount.mountPath, "--interface", base64(toBinary(TypedInterfaceSchema, iface)));
    volumes.push(emptyDir(config.outputVolume, size));
    mounts.push(mount);
    // A sidecar of Kubernetes; the first one, so that it watches before the task can end.
    initContainers = [{ ...copilot("uploader", { config, args, mount }), restartPolicy: "Always" }, ...initContainers];
  }
  return {
    spec: {
      ...spec,
      volumes,
      initContainers,
      containers: spec.containers.map((container) => (container.name === primaryContainer ? mounted(container, mounts) : container)),
      ...(hasOutputs ? { terminationGracePeriodSeconds: config.timeoutSeconds } : {}),
    },
    initContainer,
  };
}

/** How the task wants its data moved; undefined for tasks that move it themselves. */
export function dataConfig({ template }: TaskRequest): DataLoadingConfig | undefined {
  return template?.target.case === "container" || template?.target.case === "k8sPod" ? template.target.value.dataConfig : undefined;
}

function storageSizeOf({ template }: TaskRequest): string | undefined {
  return template?.target.case === "container" ? storageSize(template.target.value.resources) : undefined;
}

function copilot(role: string, { config, args, mount }: { config: CopilotConfig; args: string[]; mount: VolumeMount }): Container {
  const quantities = { cpu: config.cpu, memory: config.memory };
  return {
    name: `${config.namePrefix}${role}`,
    image: config.image,
    command: ["/bin/flyte-copilot", "--storage.limits.maxDownloadMBs=0", ...config.storageArgs],
    args,
    workingDir: "/",
    resources: { limits: quantities, requests: quantities },
    volumeMounts: [mount],
    terminationMessagePolicy: "FallbackToLogsOnError",
    imagePullPolicy: "IfNotPresent",
  };
}

function mounted(container: Container, mounts: readonly VolumeMount[]): Container {
  return {
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), ...mounts],
    securityContext: { capabilities: {}, ...container.securityContext },
  };
}

function emptyDir(name: string, size: string | undefined): Volume {
  return { name, emptyDir: size === undefined ? {} : { sizeLimit: canonicalQuantity(size) } };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
