import { createHash } from "node:crypto";
import type { JsonObject } from "../../object/model.js";
import { groupVersion, type ResourceType } from "./resource-type.js";

/**
 * Builds the minimal OpenAPI v3 document that kubectl needs. It lists the kinds and declares
 * `fieldValidation` for writes, so kubectl leaves validation to the server.
 */
export function openApi(types: readonly ResourceType[], path: string): JsonObject | undefined {
  const byVersion = Map.groupBy(types, (type) => (type.group === "" ? `api/${type.version}` : `apis/${groupVersion(type)}`));
  if (path === "/openapi/v3") {
    return {
      paths: Object.fromEntries([...byVersion].map(([key, list]) => [key, { serverRelativeURL: `/openapi/v3/${key}?hash=${hash(list)}` }])),
    };
  }
  const key = path.replace(/^\/openapi\/v3\//, "");
  const found = byVersion.get(key);
  if (found === undefined) return undefined;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.34.0" },
    paths: Object.fromEntries(found.flatMap((type) => pathsOf(key, type))),
    components: { schemas: Object.fromEntries(found.map((type) => [schemaName(type), schemaOf(type)])) },
  };
}

/** OpenAPI v2 without schemas, which leaves clients nothing to validate. */
export const OPENAPI_V2: JsonObject = { swagger: "2.0", info: { title: "Kubernetes", version: "v1.34.0" }, paths: {}, definitions: {} };

/**
 * `OPENAPI_V2` as gnostic's protobuf `openapi.v2.Document`, the only form that kubectl reads: field
 * 1 is "2.0".
 */
export const OPENAPI_V2_PROTOBUF = Buffer.from([0x0a, 0x03, 0x32, 0x2e, 0x30]);

const hash = (types: readonly ResourceType[]) =>
  createHash("sha256")
    .update(types.map((t) => `${t.kind}/${t.plural}`).join())
    .digest("hex")
    .slice(0, 32);

const kindOf = ({ group, version, kind }: ResourceType): JsonObject => ({ group, version, kind });
const schemaName = (type: ResourceType) =>
  `${type.group === "" ? "io.k8s.api.core" : type.group.split(".").reverse().join(".")}.${type.version}.${type.kind}`;

function schemaOf(type: ResourceType): JsonObject {
  const text = { type: "string" };
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    type: "object",
    properties: { apiVersion: text, kind: text, metadata: open, spec: open, status: open },
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-group-version-kind": [kindOf(type)],
  };
}

function pathsOf(key: string, type: ResourceType): [string, JsonObject][] {
  const collection = type.namespaced ? `/${key}/namespaces/{namespace}/${type.plural}` : `/${key}/${type.plural}`;
  const operation = (action: string): JsonObject => ({
    operationId: `${action}${type.kind}`,
    parameters: ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
      name,
      in: "query",
      schema: { type: "string", uniqueItems: true },
    })),
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kindOf(type),
  });
  return [
    [collection, { get: operation("list"), post: operation("post") }],
    [`${collection}/{name}`, { get: operation("get"), put: operation("put"), patch: operation("patch"), delete: operation("delete") }],
  ];
}
