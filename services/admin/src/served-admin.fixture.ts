import type { BlobStore } from "@flyte-ts/blobstore";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { Bus } from "@flyte-ts/messaging";
import {
  type Channel,
  createClient,
  createRpcServer,
  type Interceptor,
  openChannel,
  type RpcServer,
  type ServiceClient,
} from "@flyte-ts/rpc";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { consoleRoutes } from "./console/routes.js";
import { createAccess } from "./identity/access/start.js";
import { adminConfigSchema } from "./config.js";
import type { AdminDeps } from "./deps.js";
import { findLauncher } from "./executions/store/execution/find.js";
import { type Streaming, startStreaming } from "./executions/streaming/api/start.js";
import { adminHttpPolicy } from "./http-policy.js";
import { seedProjects } from "./registry/project/rpc.js";
import { adminLimits } from "./request-limits.js";
import { adminRoutes, adminServices } from "./server.js";

/** Admin's services on a free port, and a client of them. */
export interface ServedAdmin {
  readonly deps: AdminDeps;
  readonly channel: Channel;
  readonly port: number;
  readonly server: RpcServer;
  readonly admin: ServiceClient<typeof AdminService>;
  readonly live: Streaming;
  stop(): Promise<void>;
}

/** Defaults: no data plane, and a bus and a blob store that fail on use. */
export async function serveAdmin(
  given: Partial<AdminDeps> & Pick<AdminDeps, "db">,
  interceptors: readonly Interceptor[] = [],
): Promise<ServedAdmin> {
  const deps: AdminDeps = {
    config: adminConfigSchema.parse({}),
    bus: {} as Bus,
    blobs: {} as BlobStore,
    clusters: [],
    logger: createLogger({ service: "test", level: "silent" }),
    metrics: new Metrics(),
    clock: () => new Date(),
    random: Math.random,
    env: {},
    ...given,
  };
  await seedProjects(deps);
  // Without a bus there are no notifications of changes.
  const silentBus = {
    subscribeEphemeral: () => ({ close: () => Promise.resolve() }),
    unhealthyReason: () => undefined,
    onConnectionChange: () => () => undefined,
  } as unknown as Bus;
  const live = startStreaming({ ...deps, bus: given.bus !== undefined && "subscribeEphemeral" in given.bus ? given.bus : silentBus });
  const access =
    deps.config.auth.mode === "required"
      ? await createAccess({
          ...deps,
          listenAddress: () => server.address,
          findLauncher: (execution) => findLauncher(deps.db, execution),
        })
      : undefined;
  const services = adminServices({ ...deps, live }, { version: "1", revision: "r", time: "t" }, access);
  const pages = await consoleRoutes(deps.config.console, deps);
  const server: RpcServer = createRpcServer({
    logger: deps.logger,
    services,
    limits: adminLimits(deps.config.server.maxMessageBytes),
    httpPolicy: adminHttpPolicy(deps.config),
    httpRoutes: [...adminRoutes(deps), ...pages, ...(access?.httpRoutes ?? [])],
    interceptors,
    ...(access && {
      authorizeHttp: access.authorizeHttp,
      guard: access,
      corsHeaders: [deps.config.auth.headerKey, "authorization"],
    }),
  });
  access?.assertRulesComplete(server);
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  const channel = openChannel({ endpoint: `127.0.0.1:${port}` });
  return {
    deps,
    channel,
    port,
    server,
    live,
    admin: createClient({ channel, service: AdminService }),
    stop: async () => {
      channel.close();
      await live.close();
      await server.drain({ deadlineMs: 100 });
      await access?.close();
    },
  };
}
