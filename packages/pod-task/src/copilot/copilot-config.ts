import type { EnvVar, JsonMap } from "../pod-types.js";

export interface CopilotConfig {
  readonly image: string;
  /** The program in the image. */
  readonly command: readonly string[];
  readonly namePrefix: string;
  readonly cpu: string;
  readonly memory: string;
  /** Timeout of a download, and of an upload, seconds; also the pod's grace period. */
  readonly timeoutSeconds: number;
  readonly inputPath: string;
  readonly outputPath: string;
  readonly inputVolume: string;
  readonly outputVolume: string;
  readonly securityContext: JsonMap;
}

/**
 * Variables with which the copilot reaches the blob store: those that the installation gives every
 * container.
 */
export interface CopilotEnvironment {
  readonly env: readonly EnvVar[];
  readonly envFrom: readonly JsonMap[];
}

export interface CopilotOptions {
  readonly config: CopilotConfig;
  readonly environment: CopilotEnvironment;
  readonly primaryContainer: string;
}
