import { create } from "@bufbuild/protobuf";
import type { CacheKey } from "@flyte-ts/domain/catalog";
import { type CatalogMetadata, CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { CallOf, ValueOf } from "../../src/engine/calls/call.js";
import type { Random } from "../random.js";
import type { Schedule } from "../world/schedule.js";

interface Reservation {
  readonly owner: string;
  readonly expiresAt: number;
}

export interface CatalogOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  /** Probability that another execution computes the same. */
  readonly competitors: number;
  /** Outputs that rivals compute. */
  readonly competitorOutputs: LiteralMap;
  /** Called when a rival starts to compute. */
  readonly onCompetitor: (key: string) => void;
  readonly bug: string | undefined;
}

/** Planted mistakes of the catalog. */
export type CatalogBug =
  /** Grants a reservation to every caller. */
  | "grantsTwice"
  /** Returns other outputs than were stored. */
  | "mixesUp";

/** Number of heartbeat intervals after which a reservation expires. */
const GRACE = 3;
const COMPETITOR_HEARTBEAT = 10_000;

/** The data catalog, always correct and durable, and other executions that use it. */
export class Catalog {
  readonly artifacts = new Map<string, LiteralMap>();
  /** Keys that a rival is computing. */
  readonly competitorComputes = new Set<string>();
  /** Last expiry of a reservation that was not released, by key. */
  readonly lapsedAt = new Map<string, number>();
  /** Time since which an owner holds a reservation, by key and owner; kept after its loss. */
  readonly #since = new Map<string, number>();
  readonly #reservations = new Map<string, Reservation>();
  readonly #seen = new Set<string>();

  constructor(private readonly options: CatalogOptions) {}

  get({ call }: CallOf<"catalogGet">): ValueOf<"catalogGet"> {
    const key = keyOf(call);
    this.#checkOutputs(key);
    const outputs = this.artifacts.get(key);
    const given = this.options.bug === "mixesUp" ? this.options.competitorOutputs : outputs;
    return outputs === undefined || given === undefined
      ? undefined
      : { outputs: given, createdAt: this.options.schedule.now, key: metadataOf(call) };
  }

  reserve({ call, owner, heartbeatMs }: CallOf<"catalogReserve">): ValueOf<"catalogReserve"> {
    return this.#reserve(keyOf(call), owner, heartbeatMs) ? { held: "byUs", heartbeatMs } : { held: "byAnother" };
  }

  release({ call, owner }: CallOf<"catalogRelease">): ValueOf<"catalogRelease"> {
    this.#release(keyOf(call), owner);
    return "released";
  }

  put({ call, outputs, overwrite, owner }: CallOf<"catalogPut">, value: LiteralMap): CatalogMetadata {
    const key = keyOf(call);
    if (overwrite || !this.artifacts.has(key)) this.artifacts.set(key, outputs.value ?? value);
    if (owner !== undefined) this.#release(key, owner);
    return metadataOf(call);
  }

  /**
   * True when others may compute too, because the owner lost or acquired the reservation by its
   * expiry.
   */
  leaseLapsed(key: string, owner: string): boolean {
    const since = this.#since.get(`${key} ${owner}`);
    const lapsed = this.lapsedAt.get(key);
    return since !== undefined && lapsed !== undefined && lapsed >= since;
  }

  #reserve(key: string, owner: string, heartbeat: number): boolean {
    const { now } = this.options.schedule;
    const held = this.#reservations.get(key);
    if (held !== undefined && held.owner !== owner) {
      if (held.expiresAt > now && this.options.bug !== "grantsTwice") return false;
      if (held.expiresAt <= now) this.lapsedAt.set(key, now);
    }
    if (held?.owner !== owner) this.#since.set(`${key} ${owner}`, now);
    this.#reservations.set(key, { owner, expiresAt: now + heartbeat * GRACE });
    return true;
  }

  #release(key: string, owner: string): void {
    if (this.#reservations.get(key)?.owner === owner) this.#reservations.delete(key);
  }

  /** Another execution may look up a key when this one does so for the first time. */
  #checkOutputs(key: string): void {
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const { schedule, random, competitors } = this.options;
    if (random.chance(competitors)) schedule.after(random.between(0, 5_000), () => this.#startCompetitor(key));
  }

  #startCompetitor(key: string): void {
    const { schedule, random, onCompetitor, competitorOutputs } = this.options;
    if (this.artifacts.has(key)) return;
    if (!this.#reserve(key, "rival", COMPETITOR_HEARTBEAT)) {
      schedule.after(random.between(500, 5_000), () => this.#startCompetitor(key));
      return;
    }
    onCompetitor(key);
    this.competitorComputes.add(key);
    const dies = random.chance(0.4);
    const end = schedule.now + random.between(100, 40_000);
    const beat = (): void => {
      if (schedule.now < end) {
        this.#reserve(key, "rival", COMPETITOR_HEARTBEAT);
        schedule.after(Math.min(COMPETITOR_HEARTBEAT, end - schedule.now), beat);
        return;
      }
      this.competitorComputes.delete(key);
      // A crashed rival leaves only its reservation.
      if (dies) return;
      if (!this.artifacts.has(key)) this.artifacts.set(key, competitorOutputs);
      this.#release(key, "rival");
    };
    schedule.after(Math.min(COMPETITOR_HEARTBEAT, end - schedule.now), beat);
  }
}

export function keyOf({ dataset, tag }: CacheKey): string {
  return `${dataset.name}/${dataset.version}/${tag}`;
}

function metadataOf({ dataset, tag }: CacheKey): CatalogMetadata {
  return create(CatalogMetadataSchema, { datasetId: dataset, artifactTag: { name: tag } });
}
