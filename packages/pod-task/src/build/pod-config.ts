import type { CopilotConfig } from "../copilot/copilot-config.js";
import type { OnePodConfig } from "../one-pod/one-pod-config.js";
import type { JsonMap, PodTemplate } from "../pod-types.js";
import type { EnvironmentConfig } from "./environment.js";
import type { ObjectMetaConfig } from "./object-meta.js";
import type { SchedulingConfig } from "./scheduling.js";

/** Settings of an installation for every pod. */
export interface PodConfig {
  readonly metadata: ObjectMetaConfig;
  readonly environment: EnvironmentConfig;
  readonly scheduling: SchedulingConfig;
  readonly fallbackResources: { readonly cpu: string; readonly memory: string };
  readonly imagePullPolicy: string;
  /** Security context of the primary container, unless the task sets one. */
  readonly containerSecurityContext?: JsonMap | undefined;
  readonly copilot: CopilotConfig;
  /** Source of secrets: this service, from Kubernetes Secrets, or Flyte's webhook. */
  readonly secrets: "kubernetes" | "webhook";
}

export interface BuildPodOptions {
  readonly config: PodConfig;
  /** The PodTemplate to build on. */
  readonly base?: PodTemplate | undefined;
  /** URI of task.pb, when the command needs it. */
  readonly taskTemplatePath?: string | undefined;
  /** Tasks of operators that run as one pod each. Default: none. */
  readonly onePod?: OnePodConfig | undefined;
}
