import { CONFIG_MAPS, createKubeClient, type KubeApplier, type KubeClient, NAMESPACES } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { kubernetesFixture, type KubernetesFixture } from "@flyte-ts/testing";
import { type PlayedKubelet, startPlayedKubelet } from "./played-kubelet.fixture.js";
import { type RayDashboards, startRayDashboards } from "./ray/dashboard.fixture.js";

export const NAMESPACE = "p-development";
export const logger = createLogger({ service: "test", level: "silent" });

/** A real kube-apiserver with its controllers; nodes and dashboards of Ray are played. */
export interface TestCluster {
  readonly api: KubernetesFixture;
  readonly client: KubeClient & KubeApplier;
  readonly kubelet: PlayedKubelet;
  readonly dashboards: RayDashboards;
  /** Uid of the object that owns all jobs. */
  readonly ownerUid: string;
  stop(): Promise<void>;
}

/** KubeRay submits by a Job. */
export const CONTROLLERS = ["job-controller"];

export interface TestClusterOptions {
  /** Further flags of kube-apiserver. Default: none. */
  readonly apiArgs?: readonly string[] | undefined;
  /** False: the test starts {@link CONTROLLERS}. Default: true. */
  readonly controllers?: boolean;
}

export async function startTestCluster({ apiArgs = [], controllers = true }: TestClusterOptions = {}): Promise<TestCluster> {
  const api = await kubernetesFixture({ controllers: controllers && CONTROLLERS, args: apiArgs });
  const client = await createKubeClient({ kubeconfig: api.kubeconfig });
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  const owner = await client.create(CONFIG_MAPS, { metadata: { name: "owner", namespace: NAMESPACE } });
  const kubelet = startPlayedKubelet(client, logger);
  const dashboards = await startRayDashboards();
  const stop = async () => {
    await dashboards.stop();
    await kubelet.stop();
    await client.close();
    await api.stop();
  };
  return { api, client, kubelet, dashboards, ownerUid: owner.metadata.uid ?? "", stop };
}
