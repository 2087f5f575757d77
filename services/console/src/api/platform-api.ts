import { pathOf, type RestClient } from "@flyte-ts/client/browser";
import type { ListAgentsResponseJson } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import type { MatchingAttributesJson } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { GetVersionResponseJson } from "@flyte-ts/idl/flyteidl/admin/version_pb";
import type { ListRoleBindingsResponseJson, RoleBindingJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import type { ListAttributesResponseJson } from "@flyte-ts/idl/flytets/admin/v1/attributes_pb";
import type { ListClusterResourcesResponseJson, ListClustersResponseJson } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import type { ListDeliveriesResponseJson, TestNotificationResponseJson } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import type { GetRetentionPolicyResponseJson, PreviewRetentionResponseJson } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import type { Scope } from "./scope.js";

/** Place of attributes: a project, a domain of it, or a workflow of the domain. */
export interface AttributePlace {
  readonly project: string;
  readonly domain?: string;
  readonly workflow?: string;
}

/** Calls of operators. */
export interface PlatformApi {
  getVersion(signal: AbortSignal): Promise<GetVersionResponseJson>;
  listClusters(signal: AbortSignal): Promise<ListClustersResponseJson>;
  listClusterResources(scope: Scope, signal: AbortSignal): Promise<ListClusterResourcesResponseJson>;
  /** Connectors with their task types. */
  listAgents(signal: AbortSignal): Promise<ListAgentsResponseJson>;
  listRoles(signal: AbortSignal): Promise<ListRoleBindingsResponseJson>;
  giveRole(binding: RoleBindingJson): Promise<void>;
  takeRole(binding: RoleBindingJson): Promise<void>;
  /** Ends all tokens and sessions of a subject. */
  revokeTokens(subject: string): Promise<void>;
  listAttributes(scope: Scope, signal: AbortSignal): Promise<ListAttributesResponseJson>;
  setAttributes(place: AttributePlace, attributes: MatchingAttributesJson): Promise<void>;
  /** @param kind name of `MatchableResource` */
  deleteAttributes(place: AttributePlace, kind: string): Promise<void>;
  /** Policy that applies to a project and domain. */
  getRetention(scope: Scope, signal: AbortSignal): Promise<GetRetentionPolicyResponseJson>;
  /** Executions that the policies would delete now. */
  previewRetention(scope: Scope, signal: AbortSignal): Promise<PreviewRetentionResponseJson>;
  /** @param keep duration in its JSON form; undefined keeps executions forever */
  setRetention(scope: Scope, keep: string | undefined): Promise<void>;
  deleteRetention(scope: Scope): Promise<void>;
  /** Latest deliveries of notifications. */
  listDeliveries(scope: Scope, signal: AbortSignal): Promise<ListDeliveriesResponseJson>;
  retryDelivery(scope: Scope, messageId: string): Promise<void>;
  /** Sends a notification to a receiver now; rejects with the reason when it is not accepted. */
  testNotification(scope: Scope, receiver: string): Promise<void>;
}

const MAX_RESOURCES = 200;
const MAX_DELIVERIES = 100;

export function platformApi(rest: RestClient): PlatformApi {
  const attributesPath = ({ project, domain, workflow }: AttributePlace): string => {
    if (domain === undefined) return pathOf("api/v1/project_attributes", project);
    if (workflow === undefined) return pathOf("api/v1/project_domain_attributes", project, domain);
    return pathOf("api/v1/workflow_attributes", project, domain, workflow);
  };
  const change = async (path: string, method: "PUT" | "POST" | "DELETE", body: object): Promise<void> => {
    await rest.call(path, { method, body });
  };
  return {
    getVersion: (signal) => rest.call("/api/v1/version", { signal }),
    listClusters: (signal) => rest.call("/api/v1/clusters", { signal }),
    listClusterResources: ({ project, domain }, signal) =>
      rest.call("/api/v1/cluster_resources", { query: { project, domain, limit: MAX_RESOURCES }, signal }),
    listAgents: (signal) => rest.call("/api/v1/agents", { signal }),
    listRoles: (signal) => rest.call("/api/v1/role_bindings", { signal }),
    giveRole: (binding) => change("/api/v1/role_bindings", "PUT", { binding }),
    takeRole: (binding) => change("/api/v1/role_bindings/delete", "POST", { binding }),
    revokeTokens: (subject) => change("/api/v1/tokens/revoke", "POST", { subject }),
    listAttributes: ({ project, domain }, signal) => rest.call(pathOf("api/v1/attributes", project, domain), { signal }),
    setAttributes: (place, matchingAttributes) => change(attributesPath(place), "PUT", { attributes: { ...place, matchingAttributes } }),
    deleteAttributes: (place, resourceType) => change(attributesPath(place), "DELETE", { ...place, resourceType }),
    getRetention: ({ project, domain }, signal) => rest.call(pathOf("api/v1/retention_policies", project, domain), { signal }),
    previewRetention: ({ project, domain }, signal) => rest.call(pathOf("api/v1/retention_preview", project, domain), { signal }),
    setRetention: ({ project, domain }, keep) =>
      change("/api/v1/retention_policies", "PUT", { policy: { project, domain, ...(keep !== undefined && { keep }) } }),
    deleteRetention: ({ project, domain }) => change("/api/v1/retention_policies/delete", "POST", { project, domain }),
    listDeliveries: ({ project, domain }, signal) =>
      rest.call(pathOf("api/v1/notification_deliveries", project, domain), { query: { limit: MAX_DELIVERIES }, signal }),
    retryDelivery: ({ project, domain }, messageId) =>
      change(pathOf("api/v1/notification_deliveries", project, domain, messageId, "retry"), "POST", {}),
    testNotification: async ({ project, domain }, receiver) => {
      const path = pathOf("api/v1/notification_tests", project, domain);
      const { error = "" } = await rest.call<TestNotificationResponseJson>(path, { method: "POST", body: { receiver } });
      if (error !== "") throw new Error(error);
    },
  };
}
