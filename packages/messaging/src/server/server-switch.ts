import type { NatsConnection, ReconnectToServerHandler } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";
import type { StreamHealth } from "./stream-health.js";

/** Interval between checks, ms. */
const CHECK_MS = 500;
/** Time that a server has to store a message after a switch, ms. */
const GRACE_MS = 5_000;

export interface ServerSwitchDeps {
  readonly connection: Pick<NatsConnection, "getServer" | "getServers" | "reconnect">;
  readonly health: Pick<StreamHealth, "unhealthyReason">;
  readonly logger: Logger;
}

/** Chooses the server of a connection that is made again: any but the one that was left. */
export class ServerChoice {
  #left: string | undefined;

  /** Leaves the choice to the client unless a server was left. */
  readonly choose: ReconnectToServerHandler = (servers) => {
    const others = this.#left === undefined ? [] : servers.filter(({ listen }) => listen !== this.#left);
    return others[Math.floor(Math.random() * others.length)] ?? null;
  };

  /** @param server address to avoid; undefined: none */
  leave(server: string | undefined): void {
    this.#left = server;
  }
}

/**
 * Leaves a server of a cluster that does not store messages: it may be parted from the others,
 * which go on without it.
 */
export class ServerSwitch {
  readonly #deps: ServerSwitchDeps;
  readonly #choice: ServerChoice;
  readonly #timer: NodeJS.Timeout;
  #switchedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ServerSwitchDeps, choice: ServerChoice) {
    this.#deps = deps;
    this.#choice = choice;
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    if (performance.now() - this.#switchedAt < GRACE_MS) return;
    this.#choice.leave(undefined);
    const { connection, health, logger } = this.#deps;
    const reason = health.unhealthyReason();
    if (reason === undefined || connection.getServers().length < 2) return;
    this.#switchedAt = performance.now();
    const server = connection.getServer();
    logger.warn({ server, reason }, "connecting to another server of the message bus");
    this.#choice.leave(server);
    // Rejects when the connection is closed.
    connection.reconnect().catch(() => undefined);
  }
}
