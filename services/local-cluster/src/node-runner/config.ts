import { homedir } from "node:os";
import { join } from "node:path";

import { checkKubernetesSettings, kubernetesSettings, logLevel, opsSettings } from "@flyte-ts/config";
import { z } from "zod";
import { podSettings } from "../config.js";

/** Configuration of `node dist/node-runner/main.js --config FILE`. */
export const nodeRunnerConfig = z.strictObject({
  /**
   * Connection to the cluster. Default: the file in KUBECONFIG, or the service account of this pod.
   */
  kubernetes: z.strictObject(kubernetesSettings).superRefine(checkKubernetesSettings).prefault({}),
  /** Directory of the pods' files and logs. */
  dataDir: z.string().default(join(homedir(), ".flyte-ts", "node")),
  /** Bind pending pods to this node. False: the cluster has a scheduler. */
  schedule: z.boolean().default(true),
  ops: opsSettings(0),
  logLevel,
  ...podSettings,
});

export type NodeRunnerConfig = z.infer<typeof nodeRunnerConfig>;
