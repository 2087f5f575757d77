import { z } from "zod";
import type { JsonMap } from "../pod-types.js";
import type { PodConfig } from "./build-pod.js";

const stringMap = z.record(z.string(), z.string()).default({});
const json = z.record(z.string(), z.json()).transform((value) => value as JsonMap);
const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.string().optional(),
  value: z.string().optional(),
  effect: z.string().optional(),
  tolerationSeconds: z.number().optional(),
});
const tolerations = z.array(toleration).default([]);
const requirement = z.strictObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() });

/** Additions to every pod. Defaults are Go Flyte's (`plugins.k8s`). */
export const podConfig: z.ZodType<PodConfig> = z.strictObject({
  metadata: z
    .strictObject({
      labels: stringMap,
      annotations: z.record(z.string(), z.string()).default({ "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" }),
    })
    .prefault({}),
  environment: z
    .strictObject({
      env: stringMap,
      /** Variable of the container → variable of this service whose value it gets; unset ones are omitted. */
      envFromService: stringMap,
      envFromSecrets: z.array(z.string()).default([]),
      envFromConfigMaps: z.array(z.string()).default([]),
      literalOffloading: z.strictObject({ minSizeMb: z.int(), maxSizeMb: z.int() }).optional(),
    })
    .prefault({}),
  scheduling: z
    .strictObject({
      schedulerName: z.string().default(""),
      nodeSelector: stringMap,
      tolerations,
      affinity: json.optional(),
      resourceTolerations: z.record(z.string(), z.array(toleration)).default({}),
      /** Resources whose nodes have a taint of the resource's name: pods that request one tolerate it. */
      tolerateResources: z.array(z.string()).default([]),
      interruptibleTolerations: tolerations,
      interruptibleNodeSelector: stringMap,
      interruptibleRequirement: requirement.optional(),
      nonInterruptibleRequirement: requirement.optional(),
      podSecurityContext: json.optional(),
      dnsConfig: json.optional(),
      hostNetwork: z.boolean().optional(),
      gpu: z
        .strictObject({
          resourceName: z.string().default("nvidia.com/gpu"),
          deviceLabel: z.string().default("k8s.amazonaws.com/accelerator"),
          partitionSizeLabel: z.string().default("k8s.amazonaws.com/gpu-partition-size"),
          unpartitionedRequirement: requirement.optional(),
          unpartitionedToleration: toleration.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  fallbackResources: z.strictObject({ cpu: z.string().default("1"), memory: z.string().default("1Gi") }).prefault({}),
  imagePullPolicy: z.enum(["", "Always", "IfNotPresent", "Never"]).default(""),
  containerSecurityContext: json.optional(),
  secrets: z.enum(["kubernetes", "webhook"]).default("kubernetes"),
  /** Moves inputs and outputs of raw containers. Reaches the blob store with the variables of `environment`. */
  copilot: z
    .strictObject({
      image: z.string().default("flyte-ts/copilot"),
      command: z.array(z.string()).min(1).default(["/usr/local/bin/node", "/app/main.mjs"]),
      namePrefix: z.string().default("flyte-copilot-"),
      cpu: z.string().default("500m"),
      memory: z.string().default("256Mi"),
      timeoutSeconds: z.int().min(0).default(3_600),
      inputPath: z.string().default("/var/flyte/inputs"),
      outputPath: z.string().default("/var/flyte/outputs"),
      inputVolume: z.string().default("flyte-inputs"),
      outputVolume: z.string().default("flyte-outputs"),
      securityContext: json.default({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
        seccompProfile: { type: "RuntimeDefault" },
      }),
    })
    .prefault({}),
}) as unknown as z.ZodType<PodConfig>;
