import type { ExecutionsDeps } from "../../deps.js";
import { Gauge } from "@flyte-ts/telemetry";
import { EXECUTIONS_CHANGED, readChanged } from "../change-notifications.js";
import { DependencyMonitor } from "../dependency-monitor.js";
import { StreamLimiter } from "../stream-limiter.js";
import { FeedRegistry } from "../feed-registry.js";
import { ItemTables } from "../item-table/item-tables.js";
import { EndedTables } from "../node-table/ended-tables.js";
import { TableStore } from "../node-table/table-store.js";
import { nodeTableSource, type NodeTableFeeds } from "../node-table/feed-source.js";
import { type WatchFeeds, watchFeedSource } from "../watch/feed-source.js";

/** Streams of this process. */
export interface Streaming {
  readonly feeds: WatchFeeds;
  readonly nodeTables: NodeTableFeeds;
  readonly itemTables: ItemTables;
  /** Tables of executions that have ended, which are stored. */
  readonly endedTables: EndedTables;
  readonly streams: StreamLimiter;
  /** Log streams, each with its own connection to a data plane. */
  readonly logStreams: StreamLimiter;
  /** Ends all streams, so that their clients resume at another replica, and accepts no new ones. */
  close(): Promise<void>;
}

/** Clients of WatchExecution reconnect after lost connections. */
const WATCHES = { idleMs: 5_000, maxIdleRows: 1_000_000, maxFirstReads: 8 };
/**
 * People return to a page; a row takes about 150 bytes. The first read of a large table takes a
 * second.
 */
const TABLES = { idleMs: 60_000, maxIdleRows: 300_000, maxFirstReads: 3 };

export function startStreaming(deps: Pick<ExecutionsDeps, "db" | "bus" | "clock" | "logger" | "metrics" | "config">): Streaming {
  const { maxStreams, maxLogStreams, pollSeconds, heartbeatSeconds, lingerSeconds } = deps.config.live;
  const limits = { pollMs: pollSeconds * 1_000, heartbeatMs: heartbeatSeconds * 1_000, lingerMs: lingerSeconds * 1_000 };
  const feeds = new FeedRegistry(deps, watchFeedSource(deps.db), { ...limits, ...WATCHES });
  const store = new TableStore(deps);
  const nodeTables = new FeedRegistry(deps, nodeTableSource(deps.db, store), { ...limits, ...TABLES });
  const endedTables = new EndedTables(deps, nodeTables);
  const itemTables = new ItemTables(deps, limits);
  const streams = new StreamLimiter(maxStreams);
  const logStreams = new StreamLimiter(maxLogStreams);
  const subscription = deps.bus.subscribeEphemeral(EXECUTIONS_CHANGED, (_, data) => {
    const executionIds = readChanged(data);
    feeds.changed(executionIds);
    nodeTables.changed(executionIds);
    itemTables.changed(executionIds);
  });
  // Logs come from data planes: they need neither.
  const monitor = new DependencyMonitor(deps, {
    streams,
    onRecovered: () => {
      feeds.changedAny();
      nodeTables.changedAny();
    },
  });
  gauge(deps, { name: "flyte_admin_live_streams", help: "Open streams of clients.", value: () => streams.size + logStreams.size });
  gauge(deps, { name: "flyte_admin_live_executions", help: "Watched executions.", value: () => feeds.size + nodeTables.size });
  gauge(deps, { name: "flyte_admin_live_arrays", help: "Array nodes whose items are watched.", value: () => itemTables.size });
  return {
    feeds,
    nodeTables,
    itemTables,
    endedTables,
    streams,
    logStreams,
    close: async () => {
      monitor.close();
      endedTables.close();
      streams.stop();
      logStreams.stop();
      await subscription.close();
      feeds.close();
      nodeTables.close();
      itemTables.close();
      await store.close();
    },
  };
}

function gauge(
  { metrics }: Pick<ExecutionsDeps, "metrics">,
  { name, help, value }: { name: string; help: string; value: () => number },
): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    collect() {
      this.set(value());
    },
  });
}
