import { escapeReferences } from "@flyte-ts/domain/template";
import type { Container, Pod, VolumeMount } from "../pod-types.js";
import type { CopilotConfig, CopilotOptions } from "./copilot-config.js";

const ROLES = ["downloader", "uploader"] as const;
type Role = (typeof ROLES)[number];

/** True for a container of the copilot. */
export function isCopilot({ name }: { readonly name: string }, { namePrefix }: CopilotConfig): boolean {
  return ROLES.some((role) => name === `${namePrefix}${role}`);
}

/**
 * True when a task did not start because its inputs could not be downloaded; the error document has
 * the reason.
 */
export function downloadFailed({ status }: Pod, { namePrefix }: CopilotConfig): boolean {
  const downloader = status?.initContainerStatuses?.find(({ name }) => name === `${namePrefix}${"downloader" satisfies Role}`);
  return (downloader?.state?.terminated?.exitCode ?? 0) !== 0;
}

/** Builds a container of the copilot. */
export function copilotContainer(
  role: Role,
  { options, args, mounts }: { options: CopilotOptions; args: string[]; mounts: VolumeMount[] },
): Container {
  const { config, environment } = options;
  const quantities = { cpu: config.cpu, memory: config.memory };
  return {
    name: `${config.namePrefix}${role}`,
    image: config.image,
    command: [...config.command],
    args: args.map(escapeReferences),
    workingDir: "/",
    env: [...environment.env],
    envFrom: [...environment.envFrom],
    resources: { limits: quantities, requests: quantities },
    volumeMounts: mounts,
    terminationMessagePolicy: "FallbackToLogsOnError",
    imagePullPolicy: "IfNotPresent",
    securityContext: config.securityContext,
  };
}
