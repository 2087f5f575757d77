import { z } from "zod";

/** Variables with values set by admin itself. */
export const RESERVED_VARIABLES: ReadonlySet<string> = new Set(["namespace", "project", "domain"]);

const dataSource = z
  .strictObject({
    /** The value itself. */
    value: z.string().min(1).optional(),
    /** Source of a value that does not belong into the configuration, such as a secret. */
    valueFrom: z
      .strictObject({
        /** Environment variable of admin with the value. */
        env: z.string().min(1).optional(),
        /** File with the value. */
        filePath: z.string().min(1).optional(),
      })
      .optional(),
  })
  .refine(({ value, valueFrom }) => [value, valueFrom?.env, valueFrom?.filePath].filter((each) => each !== undefined).length === 1, {
    message: "set exactly one of value, valueFrom.env and valueFrom.filePath",
  });

const templateData = z.record(
  z.string().refine((name) => !RESERVED_VARIABLES.has(name), "namespace, project and domain are set from the project"),
  dataSource,
);

/**
 * Objects created for each project and domain in each data plane; keys as in Flyte's
 * `cluster_resources`.
 */
export const clusterResourcesSchema = z.strictObject({
  /** Folder of the templates, *.yaml; default: no objects are created. */
  templatePath: z.string().min(1).optional(),
  /** Values of the templates' variables. */
  templateData: templateData.default({}),
  /** Values by domain: they override those above, and attributes of the project override both. */
  customData: z.record(z.string(), templateData).default({}),
  /** Interval between checks of all objects against the templates, seconds. */
  refreshIntervalSeconds: z.number().min(1).default(60),
});

export type ClusterResourcesConfig = z.infer<typeof clusterResourcesSchema>;
export type DataSource = z.infer<typeof dataSource>;
