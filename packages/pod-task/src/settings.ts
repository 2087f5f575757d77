import { z } from "zod";
import type { PodConfig } from "./build/pod-config.js";
import { ONE_POD_TASK_TYPES } from "./one-pod/one-pod-config.js";
import type { JsonMap } from "./pod-types.js";

const stringMap = z.record(z.string(), z.string()).default({});
const json = z.record(z.string(), z.json()).transform((value) => value as JsonMap);
const toleration = z.strictObject({
  /** Key of the tolerated taint; absent with `operator: Exists`: every taint. */
  key: z.string().optional(),
  /** `Equal`, the default of Kubernetes, or `Exists`. */
  operator: z.string().optional(),
  /** Value of the tolerated taint, for `Equal`. */
  value: z.string().optional(),
  /** `NoSchedule`, `PreferNoSchedule` or `NoExecute`; absent: all. */
  effect: z.string().optional(),
  /** Time for which a running pod tolerates a NoExecute taint, seconds; absent: forever. */
  tolerationSeconds: z.number().optional(),
});
const tolerations = z.array(toleration).default([]);
const requirement = z.strictObject({
  /** Label of the node. */
  key: z.string(),
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`. */
  operator: z.string(),
  /** Values to compare the label with; none for `Exists` and `DoesNotExist`. */
  values: z.array(z.string()).optional(),
});

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
      literalOffloading: z
        .strictObject({
          /** Size from which a literal is offloaded, MB. */
          minSizeMb: z.int(),
          /** Maximum size of an offloaded literal, MB; flytekit fails the task beyond it. */
          maxSizeMb: z.int(),
        })
        .optional(),
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
           * Node affinity of pods that request a whole device; absent: nodes without the label of
           * the partition size.
           */
          unpartitionedRequirement: requirement.optional(),
          /** Toleration of pods that request a whole device. */
          unpartitionedToleration: toleration.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  /** Requests of containers that neither task nor admin sets. */
  fallbackResources: z
    .strictObject({
      /** CPUs, as a Kubernetes quantity. */
      cpu: z.string().default("1"),
      /** Memory, as a Kubernetes quantity. */
      memory: z.string().default("1Gi"),
    })
    .prefault({}),
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
      /** Image of the copilot's containers. */
      image: z.string().default("flyte-ts/copilot"),
      /** Program in that image, with its first arguments. */
      command: z.array(z.string()).min(1).default(["/usr/local/bin/node", "/app/main.mjs"]),
      /** Prefix of the names of its containers: `downloader` and `uploader` follow. */
      namePrefix: z.string().default("flyte-copilot-"),
      /** CPU request and limit of each of its containers. */
      cpu: z.string().default("500m"),
      /** Memory request and limit of each of its containers. */
      memory: z.string().default("256Mi"),
      /**
       * Timeout of a download, and of an upload, seconds; also the grace period of a pod with
       * outputs.
       */
      timeoutSeconds: z.int().min(0).default(3_600),
      /** Folder of the inputs in the task's container, unless the task names one. */
      inputPath: z.string().default("/var/flyte/inputs"),
      /** Folder of the outputs in the task's container, unless the task names one. */
      outputPath: z.string().default("/var/flyte/outputs"),
      /** Name of the pod's volume for the inputs. */
      inputVolume: z.string().default("flyte-inputs"),
      /** Name of the pod's volume for the outputs. */
      outputVolume: z.string().default("flyte-outputs"),
      /**
       * Security context of its containers; the default drops all capabilities and makes the file
       * system read-only.
       */
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

const logLink = z.strictObject({
  /** Name of the link in the console; it may contain the variables of `uris`. */
  name: z.string(),
  /**
   * Addresses; `{{ .podName }}`, `{{ .namespace }}` and further variables of Flyte's log templates
   * are replaced.
   */
  uris: z.array(z.string()),
  /** Show the link before the task runs. */
  showWhilePending: z.boolean().default(false),
  /** Hide the link once the task has ended. */
  hideOnceFinished: z.boolean().default(false),
  /**
   * Show the link only for tasks that name this type in their config's `link_type`; absent: for
   * all.
   */
  linkType: z.string().optional(),
});

/** Links to the logs of pods. */
export const logLinkSettings = z.array(logLink).default([]);

/** Copies of the logs of ended pods. */
export const logArchiveSettings = z
  .strictObject({
    /** Copy the logs. */
    enabled: z.boolean().default(false),
    /** Maximum size of a copy, bytes; of a longer log the end is kept. */
    maxBytes: z
      .int()
      .min(1)
      .default(8 * 1024 * 1024),
  })
  .prefault({});

/** Tasks of operators that run as one pod each. */
export const onePodSettings = z
  .strictObject({
    /**
     * Task types, of `spark`, `ray` and `dask`, that run as one pod with a cluster inside of it.
     * Set none that a service for an operator runs.
     */
    taskTypes: z.array(z.enum(ONE_POD_TASK_TYPES)).default([]),
    /** Memory limit of such a pod, unless its task requests memory. */
    memory: z.string().default("4Gi"),
    /**
     * Command of an init container that installs the packages of the task type, which is its last
     * argument; empty: the image has the packages.
     */
    installCommand: z.array(z.string()).default([]),
    /** Variables of that init container. */
    installEnv: stringMap,
  })
  .prefault({});

/** Kubernetes' events; to spread into the settings of a service. */
export const warningEventSettings = {
  /**
   * Follow the warnings of all namespaces, and show them as reasons while a pod does not run: a
   * volume that cannot be mounted, a quota that refuses the pods of a job.
   */
  warningEvents: z.boolean().default(true),
};

/** Names of PodTemplates; to spread into the settings of a service. */
export const podTemplateSettings = {
  /** PodTemplate for tasks that name none; empty: none. */
  defaultPodTemplate: z.string().default(""),
  /** Namespace of PodTemplates for all namespaces; empty: none. */
  templateNamespace: z.string().default(""),
};
