import { FLYTE_WORKFLOW_RESOURCE, KIND } from "./resource.js";

/**
 * An atomic part, always written whole. The API server tracks ownership of such a part in one line
 * of managedFields rather than one per field, which halves the cost of a create.
 */
const ATOMIC_OBJECT = {
  type: "object",
  nullable: true,
  "x-kubernetes-preserve-unknown-fields": true,
  "x-kubernetes-map-type": "atomic",
} as const;

/** The CustomResourceDefinition: no status subresource and no columns, as in Go Flyte. */
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
        schema: {
          openAPIV3Schema: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            properties: {
              spec: ATOMIC_OBJECT,
              tasks: ATOMIC_OBJECT,
              subWorkflows: ATOMIC_OBJECT,
              inputs: ATOMIC_OBJECT,
              executionConfig: ATOMIC_OBJECT,
              status: ATOMIC_OBJECT,
            },
          },
        },
      },
    ],
  },
} as const;
