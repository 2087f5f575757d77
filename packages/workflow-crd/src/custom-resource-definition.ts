import { FLYTE_WORKFLOW_RESOURCE, KIND } from "./resource.js";

/**
 * A part that is written as a whole. The API server keeps a record of who set which field of a resource that is created; of a part
 * like this it is one line rather than one for each field below, and a create costs the server half.
 */
const WHOLE = {
  type: "object",
  nullable: true,
  "x-kubernetes-preserve-unknown-fields": true,
  "x-kubernetes-map-type": "atomic",
} as const;

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
        schema: {
          openAPIV3Schema: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            properties: { spec: WHOLE, tasks: WHOLE, subWorkflows: WHOLE, inputs: WHOLE, executionConfig: WHOLE, status: WHOLE },
          },
        },
      },
    ],
  },
} as const;
