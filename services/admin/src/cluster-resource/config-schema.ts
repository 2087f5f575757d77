import { z } from "zod";

/** Names that admin itself gives their values. */
export const RESERVED_VARIABLES: ReadonlySet<string> = new Set(["namespace", "project", "domain"]);

const dataSource = z
  .strictObject({
    value: z.string().min(1).optional(),
    valueFrom: z.strictObject({ env: z.string().min(1).optional(), filePath: z.string().min(1).optional() }).optional(),
  })
  .refine(({ value, valueFrom }) => [value, valueFrom?.env, valueFrom?.filePath].filter((each) => each !== undefined).length === 1, {
    message: "exactly one of value, valueFrom.env and valueFrom.filePath must be given",
  });

const templateData = z.record(
  z.string().refine((name) => !RESERVED_VARIABLES.has(name), "namespace, project and domain get their values from the project"),
  dataSource,
);

/** What is made for each project and domain in each data plane; keys as Flyte has them under `cluster_resources`. */
export const clusterResourcesSchema = z.strictObject({
  /** Folder of the templates, *.yaml; absent: nothing is made. */
  templatePath: z.string().min(1).optional(),
  /** Values of the templates' variables. */
  templateData: templateData.default({}),
  /** The same, by domain: they go before those above, and attributes of the project go before both. */
  customData: z.record(z.string(), templateData).default({}),
  /** How often it is looked whether all is still as the templates say, seconds. */
  refreshIntervalSeconds: z.number().min(1).default(60),
});

export type ClusterResourcesConfig = z.infer<typeof clusterResourcesSchema>;
export type DataSource = z.infer<typeof dataSource>;
