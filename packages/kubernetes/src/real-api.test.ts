import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import { describe, expect, test, vi } from "vitest";
import { createKubeClient, type KubeClient, KubeError, type KubeObject, NAMESPACES, SERVICE_ACCOUNTS } from "./index.js";

describe.skipIf(await kubernetesSkipReason())("a real Kubernetes API", () => {
  test("the local API server keeps its objects over restarts and can be killed", async () => {
    const kubernetes = await kubernetesFixture();
    const client = await createKubeClient({ kubeconfig: kubernetes.kubeconfig, timeoutMs: 1_000 });
    try {
      const { metadata } = await client.create(NAMESPACES, { metadata: { name: "flytesnacks-development" } });
      const notOlderThan = metadata.resourceVersion;
      expect((await client.get(NAMESPACES, { name: "flytesnacks-development", minResourceVersion: notOlderThan }))?.metadata).toEqual(
        metadata,
      );
      expect(await client.get(NAMESPACES, { name: "missing", minResourceVersion: notOlderThan })).toBeUndefined();
      expect(await client.delete(NAMESPACES, { name: "missing" })).toBe(false);
      // Its answer is a text that a proxy could send, too.
      const unserved = { group: "flyte.lyft.com", version: "v1alpha1", plural: "flyteworkflows", namespaced: true };
      await expect(client.get(unserved, { namespace: "default", name: "missing" })).rejects.toMatchObject({ status: 404 });
      await kubernetes.restart();
      await kubernetes.etcd.kill();
      await kubernetes.etcd.restart();
      expect((await client.get(NAMESPACES, { name: "flytesnacks-development" }))?.metadata.uid).toBe(metadata.uid);
      await kubernetes.pause();
      await expect(client.get(NAMESPACES, { name: "default" })).rejects.toBeInstanceOf(KubeError);
      kubernetes.resume();
      expect(await client.get(NAMESPACES, { name: "default" })).toBeDefined();
    } finally {
      await client.close();
      await kubernetes.stop();
    }
  }, 120_000);

  test("a client connects by a given kubeconfig, by KUBECONFIG and from within a pod", async () => {
    const kubernetes = await kubernetesFixture();
    const folder = mkdtempSync(join(tmpdir(), "service-account-"));
    const names = async (client: KubeClient) => {
      const { items } = await client.list(NAMESPACES);
      await client.close();
      return items.map(({ metadata }) => metadata.name);
    };
    try {
      const named = await createKubeClient({ kubeconfig: kubernetes.kubeconfig });
      await named.create(NAMESPACES, { metadata: { name: "flyte" } });
      await named.create(SERVICE_ACCOUNTS, { metadata: { namespace: "flyte", name: "propeller" } });
      expect(await names(named)).toContain("flyte");

      vi.stubEnv("KUBECONFIG", kubernetes.kubeconfig);
      expect(await names(await createKubeClient({}))).toContain("flyte");

      // Environment of a pod: its own token of the service account, and the API's address in
      // variables.
      writeFileSync(join(folder, "token"), await askToken(kubernetes, "flyte", "propeller"));
      writeFileSync(join(folder, "ca.crt"), kubernetes.ca);
      vi.stubEnv("KUBERNETES_SERVICE_HOST", "127.0.0.1");
      vi.stubEnv("KUBERNETES_SERVICE_PORT", String(kubernetes.port));
      vi.stubEnv("KUBECONFIG", undefined);
      vi.stubEnv("HOME", folder);
      expect(await names(await createKubeClient({ inCluster: true, serviceAccountDir: folder }))).toContain("flyte");
      expect(await names(await createKubeClient({ serviceAccountDir: folder }))).toContain("flyte");
      writeFileSync(join(folder, "token"), "not a token");
      await expect(names(await createKubeClient({ serviceAccountDir: folder }))).rejects.toMatchObject({ status: 401 });
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true, force: true });
      await kubernetes.stop();
    }
  }, 120_000);

  test("a watch from before a compaction fails with 410", async () => {
    const kubernetes = await kubernetesFixture({ args: ["--watch-cache=false"] });
    const client = await createKubeClient({ kubeconfig: kubernetes.kubeconfig });
    try {
      const { metadata } = await client.list(NAMESPACES);
      for (const name of ["one", "two"]) await client.create(NAMESPACES, { metadata: { name } });
      expect(await kubernetes.etcd.compact()).toBeGreaterThan(Number(metadata.resourceVersion));
      const events = [];
      const watch = { resourceVersion: metadata.resourceVersion, signal: AbortSignal.timeout(10_000) };
      for await (const event of client.watch(NAMESPACES, watch)) events.push([event.type, (event.object as { code?: number }).code]);
      expect(events).toEqual([["ERROR", 410]]);
    } finally {
      await client.close();
      await kubernetes.stop();
    }
  }, 120_000);
});

/** Requests a token as kubelet does for a pod. */
async function askToken({ kubeconfig }: { kubeconfig: string }, namespace: string, account: string): Promise<string> {
  const client = await createKubeClient({ kubeconfig });
  const tokens = { group: "", version: "v1", plural: `serviceaccounts/${account}/token`, namespaced: true };
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: { namespace, name: account }, spec: {} };
  const answer = await client.create<KubeObject & { status: { token: string } }>(tokens, request);
  await client.close();
  return answer.status.token;
}
