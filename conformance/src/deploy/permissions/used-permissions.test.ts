import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { serviceNames } from "@flyte-ts/service-manifest";
import { kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEPLOYED } from "../../services.js";
import { type ExecutionName, waitForEnd } from "../../stack/executions.js";
import { registerShellWorkflow, TARGET } from "../../stack/shell-tasks.js";
import { type RunningStack, startStack } from "../../stack/stack-fixture.js";
import { AuditedCluster } from "./audited-cluster.js";
import { hasKubectl, kubernetesFolder } from "../manifests.js";

const unavailable = !hasKubectl() || (await kubernetesSkipReason()) !== undefined;

/** One task of each kind that needs permissions; none disturbs the pods. */
const TEMPLATES = {
  "namespace.yaml": readFileSync(join(kubernetesFolder, "cluster-resources", "templates", "namespace.yaml"), "utf8"),
  "account.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: tasks}\n",
  "quota.yaml": "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: quota}\nspec: {hard: {count/secrets: 1000}}\n",
  "limits.yaml":
    "apiVersion: v1\nkind: LimitRange\nmetadata: {name: limits}\nspec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Ti}}]}\n",
};

/** Permissions that this test does not use within its minute, and when they are used. */
const RARELY_USED: Readonly<Record<string, string>> = Object.fromEntries(
  DEPLOYED.filter(({ manifest }) => !manifest.optional).flatMap(({ manifest }) =>
    manifest.permissions.flatMap(({ apiGroup, resources, rareVerbs }) =>
      resources.flatMap((resource) =>
        Object.entries(rareVerbs).map(([verb, event]) => [
          `${serviceNames(manifest).kubernetes} ${verb} ${apiGroup === "" ? resource : `${apiGroup}/${resource}`}`,
          event,
        ]),
      ),
    ),
  ),
);

describe.skipIf(unavailable)("services with the permissions of their accounts", () => {
  let cluster: AuditedCluster;
  let stack: RunningStack;
  let client: FlyteClient;
  const given: string[] = [];
  const templates = mkdtempSync(join(tmpdir(), "flyte-ts-templates-"));

  beforeAll(async () => {
    cluster = await AuditedCluster.start("single-cluster", { components: ["cluster-resources/access"] });
    for (const [file, text] of Object.entries(TEMPLATES)) writeFileSync(join(templates, file), text);
    const settings = {
      FLYTE_TS_ADMIN_CLUSTERS: JSON.stringify([{ name: "local", kubeconfig: cluster.kubeconfig, context: "flyteadmin" }]),
      FLYTE_TS_ADMIN_CLUSTER_RESOURCES__TEMPLATE_PATH: templates,
      FLYTE_TS_PROPELLER_KUBERNETES__CONTEXT: "flytepropeller",
      FLYTE_TS_PROPELLER_KUBERNETES__CREATE_CRD: "false",
      FLYTE_TS_PROPELLER_GARBAGE_COLLECTOR__INTERVAL_MS: "1000",
      FLYTE_TS_PLUGIN_POD_KUBERNETES__CONTEXT: "flyte-plugin-pod",
      FLYTE_TS_PLUGIN_POD_LEAD__ENABLED: "true",
    };
    for (const [name, value] of Object.entries(settings)) {
      process.env[name] = value;
      given.push(name);
    }
    // The machine itself joins as a node; this test does not check the kubelet's permissions.
    stack = await startStack(["--no-example", "--kubeconfig", cluster.kubeconfig, "--propellers", "2"]);
    client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  }, 300_000);
  afterAll(async () => {
    for (const name of given) delete process.env[name];
    client?.close();
    await stack?.stop();
    await cluster?.stop();
    rmSync(templates, { recursive: true, force: true });
  }, 60_000);

  test("run, retry and terminate workflows without a refused request and without an unused permission", async () => {
    const start = async (name: string, script: string) => {
      const launchPlan = await registerShellWorkflow(client, name, [{ id: "n0", script, after: [], retries: 1 }]);
      const id = { project: TARGET.project, domain: TARGET.domain, name: `x-${name}` };
      await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} });
      return id;
    };
    const endOf = async (id: ExecutionName) => WorkflowExecution_Phase[(await waitForEnd(client, id, 90_000)).closure?.phase ?? 0];
    const pods = () => cluster.requests().filter(({ verb, resource }) => verb === "create" && resource === "pods").length;
    expect(await endOf(await start("good", "true"))).toBe("SUCCEEDED");
    expect(await endOf(await start("bad", "exit 1"))).toBe("FAILED");
    const before = pods();
    const long = await start("long", "sleep 300");
    await expect.poll(pods).toBeGreaterThan(before);
    await client.admin.terminateExecution({ id: long, cause: "enough" });
    expect(await endOf(long)).toBe("ABORTED");
    const line = ({ account, verb, resource }: { account: string; verb: string; resource: string }) => `${account} ${verb} ${resource}`;
    const allowed = cluster.allowed.map(line);
    const unusedPermissions = () => {
      const used = new Set(cluster.requests().map(line));
      return allowed.filter((permission) => !used.has(permission) && RARELY_USED[permission] === undefined);
    };
    // Services renew leases every few seconds and release them on shutdown.
    await expect
      .poll(() => unusedPermissions().filter((permission) => !permission.endsWith(" delete coordination.k8s.io/leases")))
      .toEqual([]);
    await stack.stop();

    expect(cluster.requests().filter(({ code }) => code === 401 || code === 403)).toEqual([]);
    expect(Object.keys(RARELY_USED).filter((permission) => !allowed.includes(permission))).toEqual([]);
    expect(unusedPermissions()).toEqual([]);
  }, 240_000);
});
