import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import {
  createKubeClient,
  type KubeApplier,
  type KubeClient,
  type KubeObject,
  NAMESPACES,
  RESOURCE_QUOTAS,
  SECRETS,
  SERVICE_ACCOUNTS,
} from "@flyte-ts/kubernetes";
import { createClient, type ServiceClient } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClusterHealth } from "../health/health.js";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { type SyncDeps, syncDue } from "./start.js";
import { reconcileSyncRows } from "../store/resource-syncs.js";

const unavailable = await kubernetesSkipReason();
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-templates-"));
const TEMPLATES = {
  "aa_namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ namespace }}\n  labels:\n    team: {{ project }}\n",
  "quota.yaml": `apiVersion: v1
kind: ResourceQuota
metadata:
  name: project-quota
spec:
  hard:
    limits.cpu: {{ quotaCpu }}
    limits.memory: {{ quotaMemory }}
`,
  "account.yaml": `apiVersion: v1
kind: ServiceAccount
metadata:
  name: default
imagePullSecrets:
  - name: registry
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: pods
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: view
subjects:
  - kind: ServiceAccount
    name: default
    namespace: {{ namespace }}
`,
  "secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: registry\nstringData:\n  password: {{ password }}\n",
} as const;
const config = adminConfigSchema.parse({
  clusters: [{ name: "east" }, { name: "west" }],
  domains: [
    { id: "development", name: "development" },
    { id: "production", name: "production" },
  ],
  projects: ["alpha"],
  clusterResources: {
    templatePath: folder,
    templateData: { quotaCpu: { value: "1" }, quotaMemory: { value: "1Gi" }, password: { valueFrom: { env: "REGISTRY_PASSWORD" } } },
    customData: { production: { quotaCpu: { value: "8" } } },
  },
});
const DEVELOPMENT = { project: "alpha", domain: "development" };

describe.skipIf(unavailable)("cluster resources on a real Kubernetes API", () => {
  let kubernetes: KubernetesFixture;
  let kube: KubeClient & KubeApplier;
  let database: AdminDatabase;
  let served: ServedAdmin;
  let cluster: ServiceClient<typeof ClusterService>;
  let deps: SyncDeps;
  const downs = new Set<string>(["west"]);
  const health = {
    unhealthyReason: (name: string) => (downs.has(name) ? `data plane ${name} is down` : undefined),
    probeNow: () => undefined,
  };

  beforeAll(async () => {
    for (const [name, text] of Object.entries(TEMPLATES)) writeFileSync(join(folder, name), text);
    kubernetes = await kubernetesFixture();
    kube = await createKubeClient({ kubeconfig: kubernetes.kubeconfig });
    database = await adminDatabase();
    const clusters = config.clusters.map((each) => ({ ...each, kube }));
    const logger = createLogger({ service: "test", level: "silent" });
    deps = { db: database.db, config, clusters, health: health as unknown as ClusterHealth, logger, env: { REGISTRY_PASSWORD: "hunter2" } };
    served = await serveAdmin({ ...deps, config });
    cluster = createClient({ channel: served.channel, service: ClusterService });
    await reconcileSyncRows(database.db, config);
  }, 120_000);
  afterAll(async () => {
    await served?.stop();
    await database?.stop();
    await kube?.close();
    await kubernetes?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const syncAll = async () => {
    while ((await syncDue(deps, 10)) > 0);
  };
  const makeDue = () => database.db.query({ text: "UPDATE cluster_resource_syncs SET due_at = now()" });
  const status = async (domain = "development", name = "east") => {
    const { resources } = await cluster.listClusterResources({ project: "alpha", domain, cluster: name });
    return resources[0];
  };
  const outcomes = async (domain?: string) =>
    (await status(domain))?.resources.map(({ kind, outcome, error }) => [kind, outcome, error].filter(Boolean).join(" "));
  const quota = async (namespace = "alpha-development") => {
    const object = await kube.get<KubeObject & { spec: { hard: Record<string, string> } }>(RESOURCE_QUOTAS, {
      namespace,
      name: "project-quota",
    });
    return object?.spec.hard;
  };

  test("are created for each domain, with its values, in the namespaces of the project", async () => {
    await syncAll();
    expect(await outcomes()).toEqual([
      "Namespace created",
      "ServiceAccount created",
      "RoleBinding created",
      "ResourceQuota created",
      "Secret created",
    ]);
    expect(await quota()).toEqual({ "limits.cpu": "1", "limits.memory": "1Gi" });
    expect(await quota("alpha-production")).toMatchObject({ "limits.cpu": "8" });
    const secret = await kube.get<KubeObject & { data: Record<string, string> }>(SECRETS, {
      namespace: "alpha-development",
      name: "registry",
    });
    expect(Buffer.from(secret?.data["password"] ?? "", "base64").toString()).toBe("hunter2");
    expect(await status()).toMatchObject({ state: "synced", namespace: "alpha-development", syncedAt: expect.anything() });
  });

  test("are not written while they match their template, also with fields of other managers", async () => {
    const object = { namespace: "alpha-development", name: "project-quota" };
    await kube.mergePatch(RESOURCE_QUOTAS, { ...object, body: { metadata: { labels: { mine: "yes" } }, spec: { hard: { pods: "7" } } } });
    const before = await kube.get<KubeObject>(RESOURCE_QUOTAS, object);
    await makeDue();
    await syncAll();
    expect(new Set((await outcomes())?.map((outcome) => outcome.split(" ")[1]))).toEqual(new Set(["unchanged"]));
    expect((await kube.get<KubeObject>(RESOURCE_QUOTAS, object))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    expect(await quota()).toEqual({ "limits.cpu": "1", "limits.memory": "1Gi", pods: "7" });
  });

  test("are repaired after a change or deletion, and keep fields of other managers", async () => {
    await kube.mergePatch(RESOURCE_QUOTAS, {
      namespace: "alpha-development",
      name: "project-quota",
      body: { spec: { hard: { "limits.cpu": "1000" } } },
    });
    await kube.delete(SERVICE_ACCOUNTS, { namespace: "alpha-development", name: "default" });
    await makeDue();
    await syncAll();
    expect(await outcomes()).toEqual(
      expect.arrayContaining(["ResourceQuota repaired", "ServiceAccount created", "Secret unchanged", "Namespace unchanged"]),
    );
    expect(await quota()).toEqual({ "limits.cpu": "1", "limits.memory": "1Gi", pods: "7" });
  });

  test("follow the attributes of the project at once, and those of the domain take precedence", async () => {
    const attributes = (quotaCpu: string) => ({
      target: { case: "clusterResourceAttributes" as const, value: { attributes: { quotaCpu, namespace: "kube-system" } } },
    });
    await served.admin.updateProjectAttributes({ attributes: { project: "alpha", matchingAttributes: attributes("3") } });
    await syncAll();
    expect([(await quota())?.["limits.cpu"], (await quota("alpha-production"))?.["limits.cpu"]]).toEqual(["3", "3"]);
    await served.admin.updateProjectDomainAttributes({ attributes: { ...DEVELOPMENT, matchingAttributes: attributes("5") } });
    await syncAll();
    expect([(await quota())?.["limits.cpu"], (await quota("alpha-production"))?.["limits.cpu"]]).toEqual(["5", "3"]);
    await served.admin.deleteProjectAttributes({ project: "alpha", resourceType: MatchableResource.CLUSTER_RESOURCE });
    await syncAll();
    expect((await quota("alpha-production"))?.["limits.cpu"]).toBe("8");
  });

  test("lose a field that the template no longer contains", async () => {
    writeFileSync(join(folder, "quota.yaml"), TEMPLATES["quota.yaml"].replace(/ {4}limits\.memory.*\n/, ""));
    await makeDue();
    await syncAll();
    expect(await quota()).toEqual({ "limits.cpu": "5", pods: "7" });
  });

  test("are reported with their template if they break a rule, and do not block others", async () => {
    writeFileSync(
      join(folder, "bad.yaml"),
      `${TEMPLATES["quota.yaml"].replace("{{ quotaCpu }}", '"{{ password }}"').replace("project-quota", "second")}`,
    );
    writeFileSync(
      join(folder, "kind.yaml"),
      "apiVersion: example.com/v1\nkind: Sparkler\nmetadata:\n  name: x\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n  namespace: kube-system\n",
    );
    await kube.delete(SERVICE_ACCOUNTS, { namespace: "alpha-development", name: "default" });
    await makeDue();
    await syncAll();
    const found = await status();
    expect(found).toMatchObject({ state: "failed", reason: "" });
    const failures = found?.resources.filter(({ outcome }) => outcome === "failed").map(({ template, error }) => `${template}: ${error}`);
    expect(failures).toEqual([
      expect.stringMatching(/^bad\.yaml: .*quantities must match|^bad\.yaml: .*unable to parse/),
      "kind.yaml: the data plane has no Sparkler of example.com/v1",
      "kind.yaml: metadata.namespace: it must be alpha-development, the namespace of the project and domain, or be left out",
    ]);
    expect(JSON.stringify(failures)).not.toContain("hunter2");
    expect(await outcomes()).toContain("ServiceAccount created");
    for (const name of ["bad.yaml", "kind.yaml"]) rmSync(join(folder, name));
  });

  test("are created after the recovery of a data plane that was down", async () => {
    expect(await status("development", "west")).toMatchObject({ state: "waiting", reason: "data plane west is down", resources: [] });
    downs.clear();
    await syncAll();
    expect((await status("development", "west"))?.state).toBe("synced");
  });

  test("are created at once for a new project and left unchanged for an archived one", async () => {
    await served.admin.registerProject({ project: { id: "beta", name: "beta" } });
    await syncAll();
    expect(await quota("beta-development")).toMatchObject({ "limits.cpu": "1" });
    expect((await kube.get<KubeObject>(NAMESPACES, { name: "beta-production" }))?.metadata.labels?.["team"]).toBe("beta");
    await served.admin.updateProject({ id: "beta", state: Project_ProjectState.ARCHIVED });
    await kube.delete(RESOURCE_QUOTAS, { namespace: "beta-development", name: "project-quota" });
    await makeDue();
    await syncAll();
    await reconcileSyncRows(database.db, config);
    expect(await quota("beta-development")).toBeUndefined();
    expect((await cluster.listClusterResources({ project: "beta" })).resources).toEqual([]);
    const { resources, token } = await cluster.listClusterResources({ limit: 3 });
    expect(resources.map(({ project, domain, cluster: name }) => `${project} ${domain} ${name}`)).toEqual([
      "alpha development east",
      "alpha development west",
      "alpha production east",
    ]);
    expect((await cluster.listClusterResources({ limit: 3, token })).resources).toHaveLength(1);
  });
});
