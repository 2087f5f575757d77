import { toBinary } from "@bufbuild/protobuf";
import { canonicalQuantity } from "@flyte-ts/domain/quantity";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import {
  DataLoadingConfig_LiteralMapFormat,
  IOStrategy_DownloadMode as DownloadMode,
  IOStrategy_UploadMode as UploadMode,
} from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { storageSize } from "../build/resources.js";
import type { Container, PodSpec, Volume, VolumeMount } from "../pod-types.js";
import type { CopilotOptions } from "./copilot-config.js";
import { copilotContainer } from "./copilot-container.js";
import { dataConfig } from "./data-config.js";

/**
 * A spec with the copilot's containers, and the name of the one that represents `primary-init` in
 * pod templates.
 */
export interface PodWithCopilot {
  readonly spec: PodSpec;
  readonly initContainer: string;
}

/** Mounted in the copilot's containers only. */
const STATE_MOUNT: VolumeMount = { name: "flyte-copilot", mountPath: "/var/flyte/copilot" };
/** Created by the uploader once it handles signals. */
const READY_FILE = `${STATE_MOUNT.mountPath}/listening`;

/**
 * Adds the copilot to containers without flytekit: it downloads inputs to files before the task
 * runs, and uploads outputs from files afterwards. The uploader is a Kubernetes
 * sidecar, which gets SIGTERM when the task has terminated. The first process of a container
 * ignores signals until it has a handler. The downloader starts after the uploader and delays the
 * task until the uploader handles signals.
 */
export function addCopilot(spec: PodSpec, request: TaskRequest, options: CopilotOptions): PodWithCopilot {
  const data = dataConfig(request);
  const iface = request.template?.interface;
  if (data === undefined || !data.enabled || iface === undefined) return { spec, initContainer: "" };
  const { config, primaryContainer } = options;
  const size = storageSize(request.overrides?.resources) ?? storageSizeOf(request);
  const hasInputs = Object.keys(iface.inputs?.variables ?? {}).length > 0;
  const hasOutputs = Object.keys(iface.outputs?.variables ?? {}).length > 0;
  if (!hasInputs && !hasOutputs) return { spec, initContainer: "" };
  const inputs = { name: config.inputVolume, mountPath: data.inputPath || config.inputPath };
  const outputs = { name: config.outputVolume, mountPath: data.outputPath || config.outputPath };
  const timeout = ["--timeout", `${config.timeoutSeconds}s`];
  const toPrefix = ["--to-output-prefix", request.outputPrefix];

  const download = ["download", ...toPrefix, ...timeout];
  if (hasInputs) {
    download.push("--from-remote", request.inputUri, "--to-local-dir", inputs.mountPath);
    download.push("--format", DataLoadingConfig_LiteralMapFormat[data.format]);
    const mode = data.ioStrategy?.downloadMode ?? DownloadMode.DOWNLOAD_EAGER;
    if (mode !== DownloadMode.DOWNLOAD_EAGER) download.push("--download-mode", DownloadMode[mode]);
  }
  if (hasOutputs) download.push("--await-file", READY_FILE);
  const downloader = copilotContainer("downloader", {
    options,
    args: download,
    mounts: [...(hasInputs ? [inputs] : []), ...(hasOutputs ? [STATE_MOUNT] : [])],
  });

  const upload = ["sidecar", ...toPrefix, "--to-raw-output", request.rawOutputPrefix, ...timeout];
  upload.push(
    "--from-local-dir",
    outputs.mountPath,
    "--interface",
    base64(toBinary(TypedInterfaceSchema, iface)),
    "--ready-file",
    READY_FILE,
  );
  const mode = data.ioStrategy?.uploadMode ?? UploadMode.UPLOAD_ON_EXIT;
  if (mode !== UploadMode.UPLOAD_ON_EXIT) upload.push("--upload-mode", UploadMode[mode]);
  const uploader: Container = {
    ...copilotContainer("uploader", { options, args: upload, mounts: [outputs, STATE_MOUNT] }),
    restartPolicy: "Always",
  };

  const mounts = [...(hasInputs ? [inputs] : []), ...(hasOutputs ? [outputs] : [])];
  const volumes = mounts.map(({ name }) => emptyDir(name, size));
  return {
    spec: {
      ...spec,
      volumes: [...(spec.volumes ?? []), ...volumes, ...(hasOutputs ? [emptyDir(STATE_MOUNT.name, undefined)] : [])],
      initContainers: [...(hasOutputs ? [uploader] : []), ...(spec.initContainers ?? []), downloader],
      containers: spec.containers.map((container) => (container.name === primaryContainer ? withMounts(container, mounts) : container)),
      ...(hasOutputs ? { terminationGracePeriodSeconds: config.timeoutSeconds } : {}),
    },
    initContainer: downloader.name,
  };
}

function storageSizeOf({ template }: TaskRequest): string | undefined {
  return template?.target.case === "container" ? storageSize(template.target.value.resources) : undefined;
}

function withMounts(container: Container, mounts: readonly VolumeMount[]): Container {
  return { ...container, volumeMounts: [...(container.volumeMounts ?? []), ...mounts] };
}

function emptyDir(name: string, size: string | undefined): Volume {
  return { name, emptyDir: size === undefined ? {} : { sizeLimit: canonicalQuantity(size) } };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
