import { setTimeout as sleep } from "node:timers/promises";
import { isAlreadyExists, type KubeClient, type KubeObject as ApiObject, LEASES, NODES } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import { type NodeDescription, nodeObject } from "../kubelet/node/node-object.js";
import { microTimestamp } from "../object/model.js";

/** Lease parameters of kubelet: renewed every 10 s, expires after 40 s. */
const RENEW_INTERVAL_MS = 10_000;
const LEASE_SECONDS = 40;
const NAMESPACE = "kube-node-lease";

export interface NodeRegistration {
  readonly client: KubeClient;
  readonly node: NodeDescription;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Registers the node and renews its Lease. @returns a function that stops the renewal */
export async function registerNode(options: NodeRegistration): Promise<() => Promise<void>> {
  await putNode(options);
  const abort = new AbortController();
  const { signal } = abort;
  const renewing = (async () => {
    while (!signal.aborted) {
      await renew(options).catch((error: unknown) => options.logger.warn({ error: String(error) }, "node lease renewal failed"));
      await sleep(RENEW_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  })();
  return async () => {
    abort.abort();
    await renewing;
  };
}

async function putNode({ client, node }: NodeRegistration): Promise<void> {
  const object = nodeObject(node);
  try {
    await client.create(NODES, object as unknown as ApiObject);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { name, labels } = object.metadata;
    await client.mergePatch(NODES, { name, body: { metadata: { labels } } });
    await client.mergePatch(NODES, { name, body: { status: object["status"] }, subresource: "status" });
  }
}

async function renew({ client, node, now }: NodeRegistration): Promise<void> {
  const spec = { holderIdentity: node.name, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTimestamp(now()) };
  const place = { namespace: NAMESPACE, name: node.name };
  if ((await client.get(LEASES, place)) !== undefined) await client.mergePatch(LEASES, { ...place, body: { spec } });
  else await client.create(LEASES, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: place, spec } as ApiObject);
}
