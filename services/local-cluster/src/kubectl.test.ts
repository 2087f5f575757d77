import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FLYTE_DEFINITION, type TestCluster, testCluster } from "./cluster.fixture.js";
import type { Config } from "./config.js";

const run = promisify(execFile);
const present = spawnSync("kubectl", ["version", "--client"]).status === 0;

let k: TestCluster;

/** Returns kubectl's output; rejects with its error message. */
async function kubectl(command: string, file?: object): Promise<string> {
  const args = command.split(" ").map((word) => word.replaceAll("~", " "));
  const path = join(k.folder, "file.yaml");
  if (file !== undefined) writeFileSync(path, stringify(file));
  const { stdout } = await run("kubectl", ["--kubeconfig", k.cluster.kubeconfig, ...args, ...(file === undefined ? [] : ["-f", path])]);
  return stdout;
}

const columns = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().split(/\s{2,}/));
const pod = (name: string, script: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "local/image:1", command: ["sh", "-c", script] }] },
});

describe.skipIf(!present).each<{ access: Config["access"] }>([{ access: "open" }, { access: "token" }])(
  "kubectl, access $access",
  ({ access }) => {
    beforeAll(async () => {
      k = await testCluster({ access });
    });
    afterAll(() => k.stop());

    test("creates, gets, describes and deletes custom resources", async () => {
      expect(await kubectl("apply", FLYTE_DEFINITION)).toContain("created");
      expect(await kubectl("apply", FLYTE_DEFINITION)).toContain("unchanged");
      await kubectl("wait --for=condition=Established crd/flyteworkflows.flyte.lyft.com --timeout=5s");
      const resource = {
        apiVersion: "flyte.lyft.com/v1alpha1",
        kind: "FlyteWorkflow",
        metadata: { name: "w", finalizers: ["flyte.org/finalizer"] },
        spec: { connections: { n0: ["n1"] } },
        status: { nodeStatus: { n0: { phase: 5 } } },
      };
      await kubectl("create", resource);
      expect(columns(await kubectl("get fly"))).toEqual([
        ["NAME", "AGE"],
        ["w", expect.stringMatching(/^\d+s$/)],
      ]);
      expect(await kubectl("get flyteworkflows.flyte.lyft.com -o name")).toBe("flyteworkflow.flyte.lyft.com/w\n");
      expect(await kubectl("describe fly w")).toMatch(/Connections:\s+n0:\s+n1/);
      expect(await kubectl("get fly w -o jsonpath={.status.nodeStatus.n0.phase}")).toBe("5");
      expect(await kubectl('patch fly w --type=merge -p {"status":{"phase":3}}')).toContain("patched");
      await kubectl("delete fly w --wait=false");
      await kubectl('patch fly w --type=json -p [{"op":"remove","path":"/metadata/finalizers"}]');
      expect(await kubectl("get fly")).toBe("");
    });

    test("applies, awaits, describes and deletes a pod and shows its logs", async () => {
      // The container exits when the test creates this file, however slow kubectl is.
      const end = join(k.folder, "end-of-life");
      await kubectl("apply", pod("life", `echo first; while [ ! -e ${end} ]; do sleep 0.05; done; echo last; exit 3`));
      await kubectl("wait --for=condition=Ready pod/life --timeout=10s");
      expect(columns(await kubectl("get pods"))).toEqual([
        ["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
        ["life", "1/1", "Running", "0", expect.any(String)],
      ]);
      const followed = kubectl("logs -f life");
      writeFileSync(end, "");
      expect(await followed).toBe("first\nlast\n");
      await kubectl("wait --for=jsonpath={.status.phase}=Failed pod/life --timeout=10s");
      expect(columns(await kubectl("get pods life -o wide"))[1]?.slice(0, 4)).toEqual(["life", "0/1", "Error", "0"]);
      const described = await kubectl("describe pod life");
      expect(described).toMatch(/Exit Code:\s+3/);
      expect(described).toMatch(/Normal\s+Started\s+\S+\s+kubelet\s+Started container main/);
      expect(await kubectl("get events --field-selector involvedObject.name=life -o jsonpath={.items[*].reason}")).toBe(
        "Scheduled Pulled Created Started",
      );
      expect(await kubectl("events --for pod/life")).toContain("Started container main");
      expect(await kubectl("delete pod life")).toBe('pod "life" deleted\n');
      await expect(kubectl("get pod life")).rejects.toThrow('Error from server (NotFound): pods "life" not found');
    });

    test("deletes a running pod within its grace period", async () => {
      await kubectl("apply", pod("runs", "sleep 600"));
      await kubectl("wait --for=condition=Ready pod/runs --timeout=10s");
      expect(await kubectl("delete pod runs --timeout=10s")).toContain("deleted");
    });

    test("runs the imperative commands: namespace, secret, config map, quota, label, annotate, edit by apply", async () => {
      await kubectl("create namespace p-d");
      await kubectl("create secret generic s --from-literal=k=v -n p-d");
      await kubectl("create configmap c --from-literal=a=1 -n p-d");
      await kubectl("create quota q --hard=pods=5,limits.cpu=4 -n p-d");
      await kubectl("create serviceaccount robot -n p-d");
      expect(await kubectl("get secret s -n p-d -o jsonpath={.data.k}")).toBe("dg==");
      expect(columns(await kubectl("get configmaps,secrets -n p-d"))[1]?.slice(0, 2)).toEqual(["configmap/c", "1"]);
      expect(await kubectl("describe quota q -n p-d")).toMatch(/pods\s+0\s+5/);
      await kubectl("label configmap c x=y -n p-d");
      await kubectl("annotate configmap c note=hi -n p-d");
      expect(await kubectl("get cm -l x=y -n p-d -o name")).toBe("configmap/c\n");
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m", namespace: "p-d" } };
      await kubectl("apply", { ...map, data: { a: "1", b: "2" } });
      expect(await kubectl("apply", { ...map, data: { a: "3" } })).toContain("configured");
      expect(await kubectl("get cm m -n p-d -o jsonpath={.data}")).toBe('{"a":"3"}');
      expect(await kubectl("apply --server-side", { ...map, data: { c: "4" } })).toContain("serverside-applied");
      expect(await kubectl("delete namespace p-d --timeout=10s")).toContain("deleted");
      await expect(kubectl("get ns p-d")).rejects.toThrow("NotFound");
    });

    test("lists api-resources, explanations, nodes and objects of all namespaces", async () => {
      expect(await kubectl("api-resources --no-headers")).toMatch(
        /flyteworkflows\s+fly\s+flyte\.lyft\.com\/v1alpha1\s+true\s+FlyteWorkflow/,
      );
      expect(await kubectl("api-versions")).toContain("coordination.k8s.io/v1");
      expect(await kubectl("explain pods")).toContain("KIND:       Pod");
      expect(columns(await kubectl("get nodes"))[1]?.slice(0, 3)).toEqual(["local", "Ready", "<none>"]);
      expect(await kubectl("describe node local")).toContain("Non-terminated Pods");
      expect(await kubectl("get all -A")).toBe("");
      expect(await kubectl("auth can-i create pods")).toBe("yes\n");
      expect(await kubectl("get --raw /readyz")).toBe("ok");
      expect(await kubectl("version")).toContain("Server Version: v1.34.0");
    });
  },
);
