import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer } from "@flyte-ts/local-servers";
import { startControllerManager, startEtcd, startKubeApiserver, startVersitygw } from "@flyte-ts/test-servers";

/** Kubernetes API and blob store under a stack. */
export interface Backend {
  /** Flags for `flyte-ts start`. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Credentials of its Kubernetes API; undefined for the stack's own cluster. */
  readonly kubeconfig?: string;
  stop(): Promise<void>;
}

export interface BackendOptions {
  /**
   * True when etcd syncs writes to disk before it answers, as the etcd of a production cluster
   * does.
   */
  readonly durable: boolean;
  readonly onProgress: (text: string) => void;
}

/** The stack's own cluster and blob store. */
export const LOCAL_BACKEND: Backend = { flags: [], env: {}, stop: () => Promise.resolve() };

const BUCKET = "bench";

/**
 * Starts an empty Kubernetes API (kube-apiserver, its controllers, etcd) and S3 service (versitygw)
 * in their own folder.
 */
export async function startKubernetesBackend({ durable, onProgress }: BackendOptions): Promise<Backend> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-bench-ground-"));
  const started: LocalServer[] = [];
  const onStop = async <S extends LocalServer>(starting: Promise<S>): Promise<S> => {
    const server = await starting;
    started.unshift(server);
    return server;
  };
  const stop = async () => {
    for (const server of started) await server.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  const onBuild = (what: string) => onProgress(`building ${what} (once, takes a few minutes) …`);
  const keys = { accessKeyId: "bench", secretAccessKey: randomBytes(16).toString("hex") };
  try {
    const etcd = await onStop(startEtcd({ dataDir: join(folder, "etcd"), durable, onProgress: onBuild }));
    const dataDir = join(folder, "kubernetes");
    const api = await onStop(startKubeApiserver({ dataDir, etcdUrl: etcd.url, onProgress: onBuild }));
    await onStop(startControllerManager({ kubeconfig: api.kubeconfig, dataDir, onProgress: onBuild }));
    const s3 = await onStop(startVersitygw({ dataDir: join(folder, "s3"), buckets: [BUCKET], ...keys, onProgress: onBuild }));
    return {
      flags: ["--kubeconfig", api.kubeconfig, "--s3", s3.url, "--bucket", BUCKET],
      env: { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey },
      kubeconfig: api.kubeconfig,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
