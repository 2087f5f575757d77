import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { imageName } from "./job-images.fixture.js";
import { NAMESPACE } from "./operators.fixture.js";
import type { PluginNode } from "./plugin-node.fixture.js";

const SERVER = "echo answer >/tmp/index.html; exec python3 -m http.server 8000 --directory /tmp";
// kube-proxy refuses connections until it has seen the endpoint.
const CLIENT = `
import time, urllib.error, urllib.request
def read(name):
    while True:
        try:
            return urllib.request.urlopen(f"http://{name}", timeout=20).read().decode().strip()
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            time.sleep(0.1)
for name in ("web.${NAMESPACE}.svc.cluster.local", "web"):
    print(read(name))
`;

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8000 }] },
};

/** Tests what operators need of the cluster: names of Services, and the routes to their pods. */
export function serviceCases(onNode: () => PluginNode): void {
  test("a pod resolves the name of a Service, short and full, and reaches the pod behind it", async () => {
    const node = onNode();
    node.create(service);
    node.create(pod("web", ["sh", "-c", SERVER]));
    const ready = [
      "get",
      "endpointslices",
      "-l",
      "kubernetes.io/service-name=web",
      "-o",
      "jsonpath={.items[*].endpoints[*].conditions.ready}",
    ];
    while (node.kubectl(...ready) !== "true") await sleep(100);
    node.create(pod("client", ["python3", "-c", CLIENT]));
    await node.waitForPhase("client", "Succeeded");
    expect(node.kubectl("logs", "client")).toBe("answer\nanswer\n");
  }, 120_000);
}

function pod(name: string, command: readonly string[]): object {
  const containers = [{ name: "main", image: imageName("dask"), command }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, labels: { app: name } }, spec: { restartPolicy: "Never", containers } };
}
