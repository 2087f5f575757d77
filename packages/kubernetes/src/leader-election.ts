import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { KubeClient } from "./client.js";
import { isAlreadyExists, isConflict } from "./errors.js";
import { type KubeObject, LEASES } from "./resources.js";

export interface LeaderElectionOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "replace">;
  readonly namespace: string;
  readonly name: string;
  /** Names this process in the Lease; must differ between replicas and restarts. */
  readonly identity: string;
  /** A leader that did not renew for so long has lost the Lease. Default 10 s. */
  readonly leaseMs?: number;
  readonly logger: Logger;
  /** Called when this process has become the leader. */
  readonly onAcquired: () => void;
  /** Called when it can no longer be sure to be the leader: stop all effects at once. */
  readonly onLost: () => void;
}

interface Lease extends KubeObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string; leaseTransitions?: number };
}

/**
 * Holds one Lease among several processes. Expiry is judged by how long the Lease
 * did not change before this process's own eyes, never by comparing clocks.
 */
export class LeaderElector {
  readonly #leaseMs: number;
  readonly #abort = new AbortController();
  #leading = false;
  #renewedAt = 0;
  #seen: { version: string | undefined; at: number } = { version: undefined, at: 0 };
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly options: LeaderElectionOptions) {
    this.#leaseMs = options.leaseMs ?? 10_000;
  }

  get leading(): boolean {
    return this.#leading;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Gives the Lease back, so that another process need not wait for it to expire. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    if (!this.#leading) return;
    this.#leading = false;
    const { client, namespace, name, identity, logger } = this.options;
    try {
      const lease = await client.get<Lease>(LEASES, { namespace, name });
      if (lease?.spec?.holderIdentity !== identity) return;
      await client.replace(LEASES, { ...lease, spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1 } } as Lease);
    } catch (error) {
      logger.warn({ error: String(error) }, "lease could not be given back");
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      let held = false;
      try {
        held = await this.#acquireOrRenew();
      } catch (error) {
        this.options.logger.warn({ error: String(error) }, "lease could not be read or written");
      }
      const now = performance.now();
      if (held) {
        this.#renewedAt = now;
        if (!this.#leading) {
          this.#leading = true;
          this.options.onAcquired();
        }
      } else if (this.#leading && now - this.#renewedAt > this.#leaseMs * 0.7) {
        this.#leading = false;
        this.options.onLost();
      }
      await sleep(this.#leaseMs / 5, undefined, { signal }).catch(() => undefined);
    }
  }

  async #acquireOrRenew(): Promise<boolean> {
    const { client, namespace, name, identity } = this.options;
    const lease = await client.get<Lease>(LEASES, { namespace, name });
    const time = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: identity, leaseDurationSeconds: Math.ceil(this.#leaseMs / 1_000), renewTime: time };
    try {
      if (lease === undefined) {
        const object: Lease = {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { namespace, name },
          spec: { ...spec, acquireTime: time, leaseTransitions: 0 },
        };
        await client.create(LEASES, object);
        return true;
      }
      const mine = lease.spec?.holderIdentity === identity;
      if (!mine && !this.#expired(lease)) return false;
      const taken = mine ? {} : { acquireTime: time, leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1 };
      await client.replace(LEASES, { ...lease, spec: { ...lease.spec, ...spec, ...taken } } as Lease);
      return true;
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error)) return false;
      throw error;
    }
  }

  #expired(lease: Lease): boolean {
    if (!lease.spec?.holderIdentity) return true;
    const version = lease.metadata.resourceVersion;
    if (this.#seen.version !== version) {
      this.#seen = { version, at: performance.now() };
      return false;
    }
    return performance.now() - this.#seen.at > (lease.spec.leaseDurationSeconds ?? 10) * 1_000;
  }
}
