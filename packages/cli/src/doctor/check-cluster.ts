import { type AccessOptions, createKubeClient, isNotFound, type KubeClient, type KubeObject, type ResourceRef } from "@flyte-ts/kubernetes";
import { loadServices, type PermissionRule, permissionSets } from "@flyte-ts/service-manifest";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { repositoryRoot } from "@flyte-ts/local-stack";
import { type Finding, failed, rootCauseMessage, warning, passed } from "./finding.js";

const SUBJECT = "data plane";
const ACCESS_REVIEWS: ResourceRef = { group: "authorization.k8s.io", version: "v1", plural: "selfsubjectaccessreviews", namespaced: false };

export interface ClusterCheck {
  readonly access: AccessOptions;
  /** Namespace of the services. */
  readonly namespace: string;
  readonly timeoutMs: number;
}

/**
 * Checks whether a Kubernetes API answers, has the FlyteWorkflow definition, and which services
 * could use these credentials.
 */
export async function checkCluster({ access, namespace, timeoutMs }: ClusterCheck): Promise<readonly Finding[]> {
  let client: KubeClient | undefined;
  try {
    client = await createKubeClient({ ...access, timeoutMs });
    return [await checkDefinition(client), ...(await checkPermissions(client, namespace))];
  } catch (error) {
    return [
      failed(
        SUBJECT,
        rootCauseMessage(error),
        "is the kubeconfig's address reachable from here, and are its certificate and token still good?",
      ),
    ];
  } finally {
    await client?.close();
  }
}

async function checkDefinition(client: KubeClient): Promise<Finding> {
  try {
    await client.list(FLYTE_WORKFLOW_RESOURCE, { maxItems: 1, metadataOnly: true });
    return passed(SUBJECT, "answers and serves FlyteWorkflows");
  } catch (error) {
    if (isNotFound(error))
      return failed(
        SUBJECT,
        "answers, but the FlyteWorkflow CRD is missing",
        "kubectl apply -f deploy/kubernetes/data-plane/resource-definition.yaml",
      );
    if ((error as { status?: number }).status === 403) return passed(SUBJECT, "answers; these credentials cannot list FlyteWorkflows");
    throw error;
  }
}

async function checkPermissions(client: KubeClient, namespace: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const manifests = (await loadServices(repositoryRoot)).map(({ manifest }) => manifest);
  for (const { role, rules } of permissionSets(manifests)) {
    const applicable = await rulesThatApply(client, rules);
    const missing = (await Promise.all(applicable.map((rule) => missingVerbs(client, rule, namespace)))).flat();
    findings.push(
      missing.length === 0
        ? passed(`${SUBJECT}: permissions`, `sufficient for ${role}`)
        : warning(
            `${SUBJECT}: permissions`,
            `missing for ${role}: ${missing.join(", ")}`,
            `if these are the credentials of ${role}, apply its role from deploy/kubernetes`,
          ),
    );
  }
  return findings;
}

/** Drops rules for resources of operators that the cluster does not have. */
async function rulesThatApply(client: KubeClient, rules: readonly PermissionRule[]): Promise<readonly PermissionRule[]> {
  const applies = await Promise.all(rules.map(async (rule) => rule.whenServed === undefined || (await isServed(client, rule))));
  return rules.filter((_, index) => applies[index]);
}

async function isServed(client: KubeClient, { apiGroup, whenServed = "", resources: [resource = ""] }: PermissionRule): Promise<boolean> {
  const [plural = ""] = resource.split("/");
  const ref: ResourceRef = { group: apiGroup, version: whenServed.slice(whenServed.indexOf("/") + 1), plural, namespaced: true };
  try {
    await client.list(ref, { maxItems: 1, metadataOnly: true });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    if ((error as { status?: number }).status === 403) return true;
    throw error;
  }
}

/** Verbs of the rule that these credentials lack. */
async function missingVerbs(
  client: KubeClient,
  { scope, apiGroup, resources, verbs }: PermissionRule,
  namespace: string,
): Promise<string[]> {
  const reviews = resources.flatMap((path) => {
    const [resource = "", subresource] = path.split("/");
    return verbs.map(async (verb) => {
      const resourceAttributes = {
        group: apiGroup,
        resource,
        ...(subresource && { subresource }),
        verb,
        ...(scope === "namespace" && { namespace }),
        ...(scope === "namespace" && resource === "namespaces" && { name: namespace }),
      };
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", metadata: {}, spec: { resourceAttributes } };
      const { status } = await client.create<KubeObject & { status?: { allowed?: boolean } }>(
        ACCESS_REVIEWS,
        review as unknown as KubeObject,
      );
      return status?.allowed === true ? [] : [`${verb} ${path}`];
    });
  });
  return (await Promise.all(reviews)).flat();
}
