import { z } from "zod";

const node = z
  .strictObject({
    /** Parameters of `ray start` by name; those of the task replace them. */
    startParameters: z.record(z.string(), z.string()).default({}),
    /** `node-ip-address` of `ray start`; variables of the container are expanded. */
    ipAddress: z.string().default("$MY_POD_IP"),
  })
  .prefault({});

/** Settings of Ray jobs; names and defaults are Go Flyte's (`plugins.ray`). */
export const raySettings = z
  .strictObject({
    /** Delete the cluster when its job has ended. */
    shutdownAfterJobFinishes: z.boolean().default(true),
    /** Time, seconds, for which the cluster of an ended job stays. */
    ttlSecondsAfterFinished: z.int().min(0).default(3_600),
    /** Type of the Service of a head. */
    serviceType: z.enum(["ClusterIP", "NodePort", "LoadBalancer"]).default("NodePort"),
    /** Create an Ingress for each head's dashboard. */
    enableIngress: z.boolean().default(false),
    /** Start the dashboard. */
    includeDashboard: z.boolean().default(true),
    /** Address at which the dashboard listens. */
    dashboardHost: z.string().default("0.0.0.0"),
    /** Report usage statistics to Ray. */
    enableUsageStats: z.boolean().default(false),
    /** Start parameters of groups whose task names none. */
    defaults: z
      .strictObject({
        /** Defaults of heads. */
        headNode: node,
        /** Defaults of workers. */
        workerNode: node,
      })
      .prefault({}),
    /**
     * Service account of Ray pods, instead of that of the execution; empty: that of the execution.
     */
    serviceAccount: z.string().default(""),
    /** Container beside each head that reads Ray's logs, as in a pod spec. */
    logsSidecar: z
      .looseObject({
        /** Name of the container. */
        name: z.string().min(1),
        /** Image of the container. */
        image: z.string().min(1),
      })
      .optional(),
    /**
     * Address of a dashboard, with `{{ .rayClusterName }}`, `{{ .rayJobID }}`, `{{ .namespace }}`;
     * empty: no link.
     */
    dashboardURLTemplate: z.string().default(""),
    /** How KubeRay submits a job; empty: its default, a Kubernetes Job. */
    submissionMode: z.enum(["", "K8sJobMode", "HTTPMode", "SidecarMode"]).default(""),
  })
  .prefault({});

export type RaySettings = z.infer<typeof raySettings>;
