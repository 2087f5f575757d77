import { homedir } from "node:os";
import { join } from "node:path";

import { checkKubernetesSettings, kubernetesSettings, logLevel, opsSettings } from "@flyte-ts/config";
import { z } from "zod";
import { podSettings } from "../config.js";

/** What `node dist/node-runner/main.js --config FILE` reads. */
export const nodeRunnerConfig = z.strictObject({
  /** Which cluster: a kubeconfig, else KUBECONFIG, else the service account of the pod that this runs in. */
  kubernetes: z.strictObject(kubernetesSettings).superRefine(checkKubernetesSettings).prefault({}),
  /** Holds the pods' folders and their logs. */
  dataDir: z.string().default(join(homedir(), ".flyte-ts", "node")),
  /** Give this node to pods that have none. False where the cluster has a scheduler. */
  schedule: z.boolean().default(true),
  ops: opsSettings(0),
  logLevel,
  ...podSettings,
});

export type NodeRunnerConfig = z.infer<typeof nodeRunnerConfig>;
