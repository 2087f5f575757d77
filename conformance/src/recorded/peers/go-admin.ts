import { join } from "node:path";
import { createKubeClient, isAlreadyExists, NAMESPACES } from "@flyte-ts/kubernetes";
import { freePort } from "@flyte-ts/host";
import { ensureDatabase } from "@flyte-ts/postgres";
import { blobStoreKeyOf, type RunningStack } from "../../stack/stack-fixture.js";
import { joinPorts } from "./joined-ports.js";
import { goStorage, type RunningProgram, startGoProgram } from "./go-program.js";
import { reconfigure, type Settings, settingsOf } from "./reconfigure.js";

export interface GoAdminOptions {
  /** Folder of `flyteadmin` and `datacatalog`. */
  readonly programs: string;
  /**
   * Store closures in the blob store instead of the FlyteWorkflows; the records were made without.
   */
  readonly offloadsClosures: boolean;
}

/**
 * Replaces admin and data catalog of a running stack by Go FlyteAdmin and DataCatalog; the stack's
 * propeller reports to them.
 */
export async function startGoAdmin(stack: RunningStack, { programs, offloadsClosures }: GoAdminOptions): Promise<RunningProgram> {
  const { server, database } = settingsOf(stack, "admin") as { server: object; database: { url: string } };
  const catalog = (settingsOf(stack, "datacatalog") as { server: { grpcPort: number } }).server;
  const catalogPort = catalog.grpcPort;
  const elsewhere = await freePort();
  // With an empty list of clusters our admin manages no FlyteWorkflow.
  await reconfigure(stack, "admin", { clusters: [], server: { ...server, grpcPort: elsewhere, httpPort: elsewhere } });
  await reconfigure(stack, "datacatalog", { server: { ...catalog, grpcPort: await freePort() } });
  const storage = goStorage(stack, blobStoreKeyOf(stack));
  const [grpcPort, httpPort, adminProfiler, catalogHttp, catalogProfiler] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const programOf = (name: string) => join(programs, name);
  const running: RunningProgram[] = [];
  let closePort = async (): Promise<void> => undefined;
  const stop = async () => {
    await closePort();
    await Promise.all(running.map((program) => program.stop()));
  };
  try {
    running.push(
      await startGoProgram(stack, {
        name: "datacatalog",
        file: programOf("datacatalog"),
        settings: {
          logger: { level: 3 },
          application: { grpcPort: catalogPort, httpPort: catalogHttp, grpcServerReflection: true },
          datacatalog: {
            "storage-prefix": "metadata/datacatalog",
            "profiler-port": catalogProfiler,
            "heartbeat-grace-period-multiplier": 3,
            "max-reservation-heartbeat": "10s",
          },
          storage,
          database: await goDatabase(database.url, "go_datacatalog"),
        },
        before: [["migrate", "run"]],
        serve: ["serve"],
        profilerPort: catalogProfiler,
      }),
    );
    const admin = await startGoProgram(stack, {
      name: "flyteadmin",
      file: programOf("flyteadmin"),
      settings: {
        logger: { level: 3, "show-source": true },
        server: {
          httpPort,
          grpc: { port: grpcPort },
          grpcServerReflection: true,
          "kube-config": stack.kubeconfig,
          security: { secure: false, useAuth: false },
        },
        flyteadmin: {
          profilerPort: adminProfiler,
          metadataStoragePrefix: ["metadata", "admin"],
          useOffloadedWorkflowClosure: offloadsClosures,
          eventVersion: 2,
          testing: { host: `http://localhost:${httpPort}` },
        },
        database: await goDatabase(database.url, "go_flyteadmin"),
        registration: { maxWorkflowNodes: 1_000 },
        remoteData: { region: "us-east-1", scheme: "local", signedUrls: { durationMinutes: 3 } },
        notifications: { type: "local" },
        externalEvents: { Enable: false, type: "local" },
        storage,
        task_resources: { defaults: { cpu: "500m", memory: "500Mi" }, limits: { cpu: "4", memory: "4Gi", gpu: "1" } },
        domains: ["development", "staging", "production"].map((id) => ({ id, name: id })),
        namespace_mapping: { template: "{{ project }}-{{ domain }}" },
      },
      before: [
        ["migrate", "run"],
        ["migrate", "seed-projects", "flytesnacks"],
      ],
      serve: ["serve"],
      profilerPort: adminProfiler,
    });
    running.push(admin);
    closePort = await joinPorts({ joined: stack.api, grpc: grpcPort, rest: httpPort });
    await makeNamespace(stack.kubeconfig);
    const { events } = settingsOf(stack, "propeller") as { events?: object };
    await reconfigure(stack, "propeller", { events: { ...events, sink: "grpc" } });
    return { logFile: admin.logFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the namespace, because FlyteAdmin's job for cluster resources does not run. */
async function makeNamespace(kubeconfig: string): Promise<void> {
  const kube = await createKubeClient({ kubeconfig });
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "flytesnacks-development" } };
  await kube.create(NAMESPACES, namespace).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** Settings of a new database on the server of another one. */
async function goDatabase(url: string, name: string): Promise<{ postgres: Settings }> {
  const place = new URL(url);
  place.pathname = `/${name}`;
  await ensureDatabase(place.href);
  const { hostname: host, port, username, password } = place;
  return {
    postgres: { host, port: Number(port), username, password: decodeURIComponent(password), dbname: name, options: "sslmode=disable" },
  };
}
