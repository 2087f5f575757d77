import { dataPlaneScope } from "@flyte-ts/bus-contract";
import { type Check, type OpsServer, type OpsServerOptions, Readiness, startOpsServer } from "@flyte-ts/lifecycle";
import { type Bus, connectBus, scopedBus } from "@flyte-ts/messaging";
import type { Logger, Metrics } from "@flyte-ts/telemetry";

export interface StartServiceOptions {
  /** Id of the service: its user of the message bus. */
  readonly id: string;
  readonly nats: { readonly url: string };
  /** Name of the data plane; empty for a single one. */
  readonly cluster: string;
  /** Address of health and metrics. */
  readonly ops: Pick<OpsServerOptions, "host" | "port" | "allowedHosts">;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Checks of readiness beside that of the bus, once the service serves. */
  readonly checks?: Readonly<Record<string, Check>>;
}

export interface StartedService {
  readonly bus: Bus;
  readonly readiness: Readiness;
  readonly ops: OpsServer;
}

/**
 * Serves health and metrics, and then connects to the message bus, however long that takes: a
 * service that waits is alive, and says what for. The caller reports when it serves.
 */
export async function startService({ id, nats, cluster, ops, logger, metrics, checks }: StartServiceOptions): Promise<StartedService> {
  const all: Record<string, Check> = { bus: () => bus.unhealthyReason(), ...checks };
  const readiness = new Readiness({ now: () => performance.now(), checks: all });
  const server = await startOpsServer({ ...ops, metrics, readiness });
  readiness.starting("waiting for the message bus");
  const connection = await connectBus({ url: nats.url, name: id, logger, metrics, createsStreams: false });
  const bus = scopedBus(connection, dataPlaneScope(cluster));
  return { bus, readiness, ops: server };
}
