import type { JsonObject } from "../../object/model.js";
import { groupVersion, type ResourceType, verbsOf } from "./resource-type.js";

/** Kinds that clients only create, to get the response. */
const REVIEWS = [
  { group: "authorization.k8s.io", plural: "selfsubjectaccessreviews", kind: "SelfSubjectAccessReview" },
  { group: "authorization.k8s.io", plural: "selfsubjectrulesreviews", kind: "SelfSubjectRulesReview" },
  { group: "authentication.k8s.io", plural: "selfsubjectreviews", kind: "SelfSubjectReview" },
] as const;

interface ListedVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: JsonObject[];
  readonly aggregated: JsonObject[];
}

function listVersions(types: readonly ResourceType[]): ListedVersion[] {
  const versions = new Map<string, ListedVersion>();
  const entry = (group: string, version: string) => {
    const key = `${group}/${version}`;
    let found = versions.get(key);
    if (found === undefined) versions.set(key, (found = { group, version, resources: [], aggregated: [] }));
    return found;
  };
  for (const type of types) {
    const { resources, aggregated } = entry(type.group, type.version);
    resources.push(resourceEntry(type), ...type.subresources.map((sub) => subresourceEntry(type, sub)));
    aggregated.push(aggregatedEntry(type));
  }
  for (const { group, plural, kind } of REVIEWS) {
    const { resources, aggregated } = entry(group, "v1");
    resources.push({ name: plural, singularName: kind.toLowerCase(), namespaced: false, kind, verbs: ["create"] });
    aggregated.push({
      resource: plural,
      responseKind: { group, version: "v1", kind },
      scope: "Cluster",
      singularResource: kind.toLowerCase(),
      verbs: ["create"],
    });
  }
  return [...versions.values()];
}

function resourceEntry(type: ResourceType): JsonObject {
  return {
    name: type.plural,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: verbsOf(type),
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
  };
}

const subresourceVerbs = (sub: string) => (sub === "log" ? ["get"] : sub === "finalize" ? ["update"] : ["get", "patch", "update"]);

function subresourceEntry(type: ResourceType, sub: string): JsonObject {
  return { name: `${type.plural}/${sub}`, singularName: "", namespaced: type.namespaced, kind: type.kind, verbs: subresourceVerbs(sub) };
}

function aggregatedEntry(type: ResourceType): JsonObject {
  const responseKind = { group: type.group, version: type.version, kind: type.kind };
  return {
    resource: type.plural,
    responseKind,
    scope: type.namespaced ? "Namespaced" : "Cluster",
    singularResource: type.singular,
    verbs: verbsOf(type),
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    ...(type.subresources.length === 0
      ? {}
      : { subresources: type.subresources.map((sub) => ({ subresource: sub, responseKind, verbs: subresourceVerbs(sub) })) }),
  };
}

const groupEntry = (group: string, versions: readonly string[]): JsonObject => {
  const all = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] };
};

function groupsOf(types: readonly ResourceType[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { group, version } of listVersions(types)) {
    const versions = groups.get(group);
    if (versions !== undefined) versions.push(version);
    else if (group !== "") groups.set(group, [version]);
  }
  return groups;
}

/**
 * Serves the discovery documents: `/api`, `/apis`, and the paths of groups and versions below them.
 * Undefined for other paths.
 */
export function discover(
  types: readonly ResourceType[],
  path: string,
  accept: string,
): { body: JsonObject; contentType: string } | undefined {
  const aggregated = accept.split(",").find((range) => range.includes("application/json;") && range.includes("as=APIGroupDiscoveryList"));
  if ((path === "/api" || path === "/apis") && aggregated !== undefined) {
    const version = aggregated.includes("v=v2beta1") ? "v2beta1" : "v2";
    return {
      body: aggregatedList(types, { core: path === "/api", version }),
      contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    };
  }
  const body = legacyDiscovery(types, path);
  return body === undefined ? undefined : { body, contentType: "application/json" };
}

function legacyDiscovery(types: readonly ResourceType[], path: string): JsonObject | undefined {
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis")
    return { kind: "APIGroupList", apiVersion: "v1", groups: [...groupsOf(types)].map(([group, versions]) => groupEntry(group, versions)) };
  const parts = path.split("/").slice(1);
  if (parts[0] === "apis" && parts.length === 2) {
    const versions = groupsOf(types).get(parts[1] ?? "");
    return versions === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...groupEntry(parts[1] ?? "", versions) };
  }
  if (parts.length !== (parts[0] === "api" ? 2 : 3)) return undefined;
  const [group, version] = parts[0] === "api" ? ["", parts[1]] : [parts[1], parts[2]];
  const found = listVersions(types).find((entry) => entry.group === group && entry.version === version);
  if (found === undefined) return undefined;
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: groupVersion(found), resources: found.resources };
}

function aggregatedList(types: readonly ResourceType[], { core, version }: { core: boolean; version: string }): JsonObject {
  const entries = listVersions(types).filter(({ group }) => (group === "") === core);
  const groups = [...new Set(entries.map(({ group }) => group))];
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: { name: group, creationTimestamp: null },
      versions: entries
        .filter((e) => e.group === group)
        .map((e) => ({ version: e.version, resources: e.aggregated, freshness: "Current" })),
    })),
  };
}
