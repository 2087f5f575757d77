import { type AccessOptions, createKubeClient, isNotFound, type KubeClient, type KubeObject, type ResourceRef } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { type Finding, failed, rootCauseMessage, warning, passed } from "./finding.js";
import { REQUIRED_PERMISSIONS, type PermissionRule } from "./required-permissions.js";

const SUBJECT = "data plane";
const ACCESS_REVIEWS: ResourceRef = { group: "authorization.k8s.io", version: "v1", plural: "selfsubjectaccessreviews", namespaced: false };

export interface ClusterCheck {
  readonly access: AccessOptions;
  /** Namespace of the services. */
  readonly namespace: string;
  readonly timeoutMs: number;
}

/** Checks whether a Kubernetes API answers, has the FlyteWorkflow definition, and which services could use these credentials. */
export async function checkCluster({ access, namespace, timeoutMs }: ClusterCheck): Promise<readonly Finding[]> {
  let client: KubeClient | undefined;
  try {
    client = await createKubeClient({ ...access, timeoutMs: timeoutMs });
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
    await client.list(FLYTE_WORKFLOW_RESOURCE, { atMost: 1, metadataOnly: true });
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
  for (const [service, required] of Object.entries(REQUIRED_PERMISSIONS)) {
    const missing = (await Promise.all(required.map((rule) => missingVerbs(client, rule, namespace)))).flat();
    findings.push(
      missing.length === 0
        ? passed(`${SUBJECT}: permissions`, `sufficient for ${service}`)
        : warning(
            `${SUBJECT}: permissions`,
            `missing for ${service}: ${missing.join(", ")}`,
            `if these are the credentials of ${service}, apply its role from deploy/kubernetes`,
          ),
    );
  }
  return findings;
}

/** Verbs of the rule that these credentials lack. */
async function missingVerbs(client: KubeClient, rule: PermissionRule, namespace: string): Promise<string[]> {
  const [resource = "", subresource] = rule.resource.split("/");
  const reviews = rule.verbs.map(async (verb) => {
    const resourceAttributes = {
      group: rule.group,
      resource,
      ...(subresource && { subresource }),
      verb,
      ...(rule.ownNamespace && { namespace }),
      ...(rule.ownNamespace && resource === "namespaces" && { name: namespace }),
    };
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", metadata: {}, spec: { resourceAttributes } };
    const { status } = await client.create<KubeObject & { status?: { allowed?: boolean } }>(
      ACCESS_REVIEWS,
      review as unknown as KubeObject,
    );
    return status?.allowed === true ? [] : [`${verb} ${rule.resource}`];
  });
  return (await Promise.all(reviews)).flat();
}
