import { isTimeZone } from "@flyte-ts/schedules";
import { z } from "zod";
import type { PlatformConfig } from "../platform/index.js";

/** Kubernetes quantities by resource; an empty string or absence means none. */
const resources = z.strictObject({
  /** CPUs, such as `500m` or `2`; empty: none is set. */
  cpu: z.string().default(""),
  /** Memory, such as `1Gi`; empty: none is set. */
  memory: z.string().default(""),
  /** Local disk, such as `10Gi`; empty: none is set. */
  ephemeralStorage: z.string().default(""),
  /** Number of GPUs; empty: none is set. */
  gpu: z.string().default(""),
});

/** Excludes GPUs, whose limit always equals the request: Kubernetes accepts nothing else. */
const defaultLimits = resources.omit({ gpu: true });

const settings = z.strictObject({
  /** Created at start if missing. */
  projects: z.array(z.string()).default(["flytesnacks"]),
  /** Domains of every project. */
  domains: z
    .array(
      z.strictObject({
        /** Id in requests and identifiers. */
        id: z.string().min(1),
        /** Name that the console shows. */
        name: z.string().min(1),
      }),
    )
    .min(1)
    .default([
      { id: "development", name: "development" },
      { id: "staging", name: "staging" },
      { id: "production", name: "production" },
    ]),
  /** Template of the namespace of an execution's resources. */
  namespaceTemplate: z.string().default("{{ project }}-{{ domain }}"),
  taskResources: z
    .strictObject({
      /**
       * Requests of containers that set none, up to `limits`; an attribute TASK_RESOURCE replaces
       * them for its scope.
       */
      defaults: resources.prefault({ cpu: "2", memory: "200Mi" }),
      /**
       * Minimum limits of containers without limits, up to `limits`: a CPU limit above the default
       * request lets a task use idle CPUs. Default: the limit equals the request, as in Flyte.
       */
      defaultLimits: defaultLimits.optional(),
      /**
       * Maximum requests and limits of a container, checked at registration and applied at launch;
       * an attribute TASK_RESOURCE replaces them for its scope.
       */
      limits: resources.prefault({ cpu: "2", memory: "1Gi", gpu: "1" }),
    })
    .prefault({}),
  registration: z
    .strictObject({
      /** Maximum of nodes of one workflow; 0 means no limit. */
      maxWorkflowNodes: z.number().int().min(0).default(100),
      /** Maximum of labels of one launch plan or execution; 0 means no limit. */
      maxLabelEntries: z.number().int().min(0).default(0),
      /** Maximum of annotations of one launch plan or execution; 0 means no limit. */
      maxAnnotationEntries: z.number().int().min(0).default(0),
      /** Maximum size of one compiled workflow, bytes; 0 means no limit. */
      workflowSizeLimit: z.number().int().min(0).default(0),
      /**
       * Maximum of node instances of one workflow with all its sub-workflows expanded, checked at
       * registration and launch; 0 means no limit.
       */
      maxWorkflowInstances: z.number().int().min(0).default(200_000),
      /** Maximum nesting of sub-workflows, including the workflow itself; 0 means no limit. */
      maxWorkflowDepth: z.number().int().min(0).default(100),
      /**
       * Task type → scopes in which such tasks may be registered; an empty project or domain
       * matches all. Unlisted types may be registered everywhere.
       */
      taskTypeWhitelist: z
        .record(
          z.string(),
          z.array(
            z.strictObject({
              /** Project of the scope; empty: all. */
              project: z.string().default(""),
              /** Domain of the scope; empty: all. */
              domain: z.string().default(""),
            }),
          ),
        )
        .default({}),
    })
    .prefault({}),
  schedules: z
    .strictObject({
      /** Time zone of cron expressions without one. */
      timeZone: z
        .string()
        .refine((name) => name !== "" && isTimeZone(name), "unknown time zone: use a name such as Europe/Berlin")
        .default("UTC"),
      /** Catch-up policy for missed runs, unless the launch plan sets one. */
      catchUp: z.enum(["all", "last", "none"]).default("last"),
    })
    .prefault({}),
  /** Settings of executions, unless request, launch plan or attributes set them. */
  executionDefaults: z
    .strictObject({
      /** Maximum of nodes of one execution that run concurrently; 0: no limit. */
      maxParallelism: z.number().int().default(25),
      /** Kubernetes service account of task pods; empty: `default` of the namespace. */
      k8sServiceAccount: z.string().default(""),
      /** IAM role in the security context of executions; the pod plugin does not apply it. */
      assumableIamRole: z.string().default(""),
      /**
       * Run tasks on interruptible (spot) nodes; false counts as unset, and the workflow's own
       * setting applies.
       */
      interruptible: z.boolean().optional(),
      /** Run cached tasks again and replace the cached outputs. True applies to every execution. */
      overwriteCache: z.boolean().default(false),
      /**
       * Labels of the execution's resources. Labels from a source with precedence replace all of
       * these.
       */
      labels: z.record(z.string(), z.string()).default({}),
      /** Annotations of the execution's resources, with the precedence of `labels`. */
      annotations: z.record(z.string(), z.string()).default({}),
      /** Environment variables of task containers, with the precedence of `labels`. */
      envs: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
});

export const registrySettings = settings.shape;
export type RegistryConfig = PlatformConfig & z.infer<typeof settings>;
