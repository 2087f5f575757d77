import { type AccessOptions, createKubeClient, isNotFound, type KubeClient, type KubeObject, type ResourceRef } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { type Finding, ill, reasonOf, warning, well } from "./finding.js";
import { NEEDED_RIGHTS, type Right } from "./rights.js";

const WHAT = "data plane";
const ACCESS_REVIEWS: ResourceRef = { group: "authorization.k8s.io", version: "v1", plural: "selfsubjectaccessreviews", namespaced: false };

export interface ClusterCheck {
  readonly access: AccessOptions;
  /** Namespace of the services. */
  readonly namespace: string;
  readonly patienceMs: number;
}

/** Checks whether a Kubernetes API answers, has the FlyteWorkflow definition, and which services could use these credentials. */
export async function checkCluster({ access, namespace, patienceMs }: ClusterCheck): Promise<readonly Finding[]> {
  let client: KubeClient | undefined;
  try {
    client = await createKubeClient({ ...access, timeoutMs: patienceMs });
    return [await definition(client), ...(await rights(client, namespace))];
  } catch (error) {
    return [ill(WHAT, reasonOf(error), "is the kubeconfig's address reachable from here, and are its certificate and token still good?")];
  } finally {
    await client?.close();
  }
}

async function definition(client: KubeClient): Promise<Finding> {
  try {
    await client.list(FLYTE_WORKFLOW_RESOURCE, { maxItems: 1, metadataOnly: true });
    return well(WHAT, "answers, and serves FlyteWorkflows");
  } catch (error) {
    if (isNotFound(error))
      return ill(
        WHAT,
        "answers, and does not know FlyteWorkflows",
        "kubectl apply -f deploy/kubernetes/data-plane/resource-definition.yaml",
      );
    if ((error as { status?: number }).status === 403) return well(WHAT, "answers; these credentials may not list FlyteWorkflows");
    throw error;
  }
}

async function rights(client: KubeClient, namespace: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [service, needed] of Object.entries(NEEDED_RIGHTS)) {
    const lacking = (await Promise.all(needed.map((right) => refused(client, right, namespace)))).flat();
    findings.push(
      lacking.length === 0
        ? well(`${WHAT}: rights`, `enough for ${service}`)
        : warning(
            `${WHAT}: rights`,
            `not enough for ${service}: ${lacking.join(", ")}`,
            `if these are the credentials of ${service}, give it what deploy/kubernetes says`,
          ),
    );
  }
  return findings;
}

/** Verbs of the rule that these credentials lack. */
async function refused(client: KubeClient, right: Right, namespace: string): Promise<string[]> {
  const [resource = "", subresource] = right.resource.split("/");
  const asked = right.verbs.map(async (verb) => {
    const resourceAttributes = {
      group: right.group,
      resource,
      ...(subresource && { subresource }),
      verb,
      ...(right.own && { namespace }),
      ...(right.own && resource === "namespaces" && { name: namespace }),
    };
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", metadata: {}, spec: { resourceAttributes } };
    const { status } = await client.create<KubeObject & { status?: { allowed?: boolean } }>(
      ACCESS_REVIEWS,
      review as unknown as KubeObject,
    );
    return status?.allowed === true ? [] : [`${verb} ${right.resource}`];
  });
  return (await Promise.all(asked)).flat();
}
