import { FLYTE_WORKFLOW_RESOURCE, KIND } from "./resource.js";

/** The CustomResourceDefinition: no status subresource and no columns, as the original has it. */
export const FLYTE_WORKFLOW_CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${FLYTE_WORKFLOW_RESOURCE.plural}.${FLYTE_WORKFLOW_RESOURCE.group}` },
  spec: {
    group: FLYTE_WORKFLOW_RESOURCE.group,
    names: {
      kind: KIND,
      listKind: `${KIND}List`,
      plural: FLYTE_WORKFLOW_RESOURCE.plural,
      singular: "flyteworkflow",
      shortNames: ["fly"],
    },
    scope: "Namespaced",
    versions: [
      {
        name: FLYTE_WORKFLOW_RESOURCE.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} as const;
