import { z } from "zod";
import type { PodConfig } from "./build/pod-config.js";
import type { JsonMap } from "./pod-types.js";

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
export const podSettings: z.ZodType<PodConfig> = z.strictObject({
  metadata: z
    .strictObject({
      /** Labels of every pod. */
      labels: stringMap,
      /** Annotations of every pod. */
      annotations: z.record(z.string(), z.string()).default({ "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" }),
    })
    .prefault({}),
  environment: z
    .strictObject({
      /** Variables of every container. */
      env: stringMap,
      /**
       * Variable of the container → variable of this service whose value it gets; unset ones are
       * omitted.
       */
      envFromService: stringMap,
      /** Secrets whose keys become variables. */
      envFromSecrets: z.array(z.string()).default([]),
      /** ConfigMaps whose keys become variables. */
      envFromConfigMaps: z.array(z.string()).default([]),
      /** Sizes between which flytekit writes literals beside outputs.pb, MB; absent: never. */
      literalOffloading: z.strictObject({ minSizeMb: z.int(), maxSizeMb: z.int() }).optional(),
    })
    .prefault({}),
  scheduling: z
    .strictObject({
      /** Scheduler of pods that name none; empty: the default of the cluster. */
      schedulerName: z.string().default(""),
      /** Node selector of every pod. */
      nodeSelector: stringMap,
      /** Tolerations of every pod. */
      tolerations,
      /** Affinity of pods that state none. */
      affinity: json.optional(),
      /** Resource → tolerations of pods that request it. */
      resourceTolerations: z.record(z.string(), z.array(toleration)).default({}),
      /**
       * Resources whose nodes have a taint of the resource's name: pods that request one tolerate
       * it.
       */
      tolerateResources: z.array(z.string()).default([]),
      /** Tolerations of interruptible pods. */
      interruptibleTolerations: tolerations,
      /** Node selector of interruptible pods. */
      interruptibleNodeSelector: stringMap,
      /** Node affinity that interruptible pods require. */
      interruptibleRequirement: requirement.optional(),
      /** Node affinity that other pods require. */
      nonInterruptibleRequirement: requirement.optional(),
      /** Security context of pods that state none. */
      podSecurityContext: json.optional(),
      /** DNS configuration of pods that state none. */
      dnsConfig: json.optional(),
      /** Use the network of the node. */
      hostNetwork: z.boolean().optional(),
      gpu: z
        .strictObject({
          /** Resource that a request of a GPU becomes. */
          resourceName: z.string().default("nvidia.com/gpu"),
          /** Node label (and taint) that names the device. */
          deviceLabel: z.string().default("k8s.amazonaws.com/accelerator"),
          /** Node label that names the size of a partition. */
          partitionSizeLabel: z.string().default("k8s.amazonaws.com/gpu-partition-size"),
          /**
           * Node affinity of pods that request a whole device; absent: the label of the size does
           * not exist.
           */
          unpartitionedRequirement: requirement.optional(),
          /** Toleration of pods that request a whole device. */
          unpartitionedToleration: toleration.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  /** Requests of containers that neither task nor admin sets. */
  fallbackResources: z.strictObject({ cpu: z.string().default("1"), memory: z.string().default("1Gi") }).prefault({}),
  /** Pull policy of every container; empty: the default of Kubernetes. */
  imagePullPolicy: z.enum(["", "Always", "IfNotPresent", "Never"]).default(""),
  /** Security context of containers that state none. */
  containerSecurityContext: json.optional(),
  /**
   * Source of secrets: `kubernetes` for Secrets of the namespace, `webhook` for Flyte's webhook.
   */
  secrets: z.enum(["kubernetes", "webhook"]).default("kubernetes"),
  /**
   * Moves inputs and outputs of raw containers. Reaches the blob store with the variables of
   * `environment`.
   */
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

const minutes = (count: number) => count * 60_000;

/** Times for which a pod may wait. Defaults are Go Flyte's (`plugins.k8s`). */
export const gracePeriodSettings = z
  .strictObject({
    /** Time for which a pod may be in CreateContainerError, ms. */
    createContainerErrorMs: z.int().min(0).default(minutes(3)),
    /** Time for which a pod may be in CreateContainerConfigError, ms. */
    createContainerConfigErrorMs: z.int().min(0).default(0),
    /** Time for which a pod may be in ImagePullBackOff, ms. */
    imagePullBackOffMs: z.int().min(0).default(minutes(3)),
    /** 0: no limit for pending pods. */
    podPendingMs: z.int().min(0).default(0),
  })
  .prefault({});

/** Limits of the files that an attempt leaves. */
export const resultLimitSettings = z
  .strictObject({
    /** Maximum size of outputs.pb or error.pb, bytes. */
    maxOutputBytes: z
      .int()
      .min(1)
      .default(10 * 1024 * 1024),
    /** Maximum size of outputs passed by value, bytes. */
    inlineBytes: z
      .int()
      .min(0)
      .default(8 * 1024),
  })
  .prefault({});

const logLink = z.strictObject({
  name: z.string(),
  uris: z.array(z.string()),
  showWhilePending: z.boolean().default(false),
  hideOnceFinished: z.boolean().default(false),
  linkType: z.string().optional(),
});

/** Links to the logs of pods. */
export const logLinkSettings = z.array(logLink).default([]);

/** Copies of the logs of ended pods. */
export const logArchiveSettings = z
  .strictObject({
    enabled: z.boolean().default(false),
    maxBytes: z
      .int()
      .min(1)
      .default(8 * 1024 * 1024),
  })
  .prefault({});

/** Names of PodTemplates; to spread into the settings of a service. */
export const podTemplateSettings = {
  /** PodTemplate for tasks that name none; empty: none. */
  defaultPodTemplate: z.string().default(""),
  /** Namespace of PodTemplates for all namespaces; empty: none. */
  templateNamespace: z.string().default(""),
};
