import { z } from "zod";
import type { RegistryConfig } from "../registry/index.js";
import { clusterHealthSchema, clustersSchema, placementSchema } from "./config-schema.js";
import { clusterResourcesSchema } from "./resources/config-schema.js";

const settings = z.strictObject({
  /** Data planes that run executions. Without any, executions wait. */
  clusters: clustersSchema,
  placement: placementSchema.prefault({}),
  clusterHealth: clusterHealthSchema.prefault({}),
  clusterResources: clusterResourcesSchema.prefault({}),
});

export const clustersSettings = settings.shape;
export type ClustersConfig = RegistryConfig & z.infer<typeof settings>;
