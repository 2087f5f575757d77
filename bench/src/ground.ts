import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer } from "@flyte-ts/local-servers";
import { startControllerManager, startEtcd, startKubeApiserver, startVersitygw } from "@flyte-ts/test-servers";

/** What a stack stands on when it does not bring its own. */
export interface Ground {
  /** For `flyte-ts start`. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface GroundOptions {
  /** Whether etcd syncs to disk before it answers, as a cluster's does. */
  readonly durable: boolean;
  readonly tell: (text: string) => void;
}

/** The stack's own cluster and blob store. */
export const OWN_GROUND: Ground = { flags: [], env: {}, stop: () => Promise.resolve() };

const BUCKET = "bench";

/** A real Kubernetes API (kube-apiserver, its controllers, etcd) and a real S3 service (versitygw), empty, in a folder of their own. */
export async function startRealGround({ durable, tell }: GroundOptions): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-bench-ground-"));
  const started: LocalServer[] = [];
  const keep = async <S extends LocalServer>(starting: Promise<S>): Promise<S> => {
    const server = await starting;
    started.unshift(server);
    return server;
  };
  const stop = async () => {
    for (const server of started) await server.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  const onBuild = (what: string) => tell(`building ${what} (once, a few minutes) …`);
  const keys = { accessKeyId: "bench", secretAccessKey: randomBytes(16).toString("hex") };
  try {
    const etcd = await keep(startEtcd({ dataDir: join(folder, "etcd"), durable, onProgress: onBuild }));
    const dataDir = join(folder, "kubernetes");
    const api = await keep(startKubeApiserver({ dataDir, etcdUrl: etcd.url, onProgress: onBuild }));
    await keep(startControllerManager({ kubeconfig: api.kubeconfig, dataDir, onProgress: onBuild }));
    const s3 = await keep(startVersitygw({ dataDir: join(folder, "s3"), buckets: [BUCKET], ...keys, onProgress: onBuild }));
    return {
      flags: ["--kubeconfig", api.kubeconfig, "--s3", s3.url, "--bucket", BUCKET],
      env: { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
