import { create } from "@bufbuild/protobuf";
import type { CacheKey } from "@flyte-ts/domain";
import { type CatalogMetadata, CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { QuestionOf, ValueOf } from "../../engine/ask/question.js";
import type { Random } from "../random.js";
import type { Schedule } from "./schedule.js";

interface Reservation {
  readonly owner: string;
  readonly expiresAt: number;
}

export interface CatalogOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  /** Probability that another execution computes the same. */
  readonly rivals: number;
  /** Outputs that rivals compute. */
  readonly rivalOutputs: LiteralMap;
  /** Called when a rival starts to compute. */
  readonly onRival: (key: string) => void;
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
const RIVAL_HEARTBEAT = 10_000;

/** The data catalog, always correct and durable, and other executions that use it. */
export class Catalog {
  readonly artifacts = new Map<string, LiteralMap>();
  /** Keys that a rival is computing. */
  readonly rivalComputes = new Set<string>();
  /** Last expiry of a reservation that was not released, by key. */
  readonly lapsed = new Map<string, number>();
  /** Time since which an owner holds a reservation, by key and owner; kept after its loss. */
  readonly #since = new Map<string, number>();
  readonly #reservations = new Map<string, Reservation>();
  readonly #seen = new Set<string>();

  constructor(private readonly options: CatalogOptions) {}

  get({ call }: QuestionOf<"catalogGet">): ValueOf<"catalogGet"> {
    const key = keyOf(call);
    this.#meet(key);
    const outputs = this.artifacts.get(key);
    const given = this.options.bug === "mixesUp" ? this.options.rivalOutputs : outputs;
    return outputs === undefined || given === undefined
      ? undefined
      : { outputs: given, createdAt: this.options.schedule.now, key: metadataOf(call) };
  }

  reserve({ call, owner, heartbeatMs }: QuestionOf<"catalogReserve">): ValueOf<"catalogReserve"> {
    return this.#reserve(keyOf(call), owner, heartbeatMs) ? { held: "byUs", heartbeatMs } : { held: "byAnother" };
  }

  release({ call, owner }: QuestionOf<"catalogRelease">): ValueOf<"catalogRelease"> {
    this.#release(keyOf(call), owner);
    return "released";
  }

  put({ call, outputs, overwrite, owner }: QuestionOf<"catalogPut">, value: LiteralMap): CatalogMetadata {
    const key = keyOf(call);
    if (overwrite || !this.artifacts.has(key)) this.artifacts.set(key, outputs.value ?? value);
    if (owner !== undefined) this.#release(key, owner);
    return metadataOf(call);
  }

  /** True when others may compute too, because the owner lost or acquired the reservation by its expiry. */
  excuses(key: string, owner: string): boolean {
    const since = this.#since.get(`${key} ${owner}`);
    const lapsed = this.lapsed.get(key);
    return since !== undefined && lapsed !== undefined && lapsed >= since;
  }

  #reserve(key: string, owner: string, heartbeat: number): boolean {
    const { now } = this.options.schedule;
    const held = this.#reservations.get(key);
    if (held !== undefined && held.owner !== owner) {
      if (held.expiresAt > now && this.options.bug !== "grantsTwice") return false;
      if (held.expiresAt <= now) this.lapsed.set(key, now);
    }
    if (held?.owner !== owner) this.#since.set(`${key} ${owner}`, now);
    this.#reservations.set(key, { owner, expiresAt: now + heartbeat * GRACE });
    return true;
  }

  #release(key: string, owner: string): void {
    if (this.#reservations.get(key)?.owner === owner) this.#reservations.delete(key);
  }

  /** At the first lookup of a key, another execution may look it up too. */
  #meet(key: string): void {
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const { schedule, random, rivals } = this.options;
    if (random.chance(rivals)) schedule.after(random.between(0, 5_000), () => this.#rival(key));
  }

  #rival(key: string): void {
    const { schedule, random, onRival, rivalOutputs } = this.options;
    if (this.artifacts.has(key)) return;
    if (!this.#reserve(key, "rival", RIVAL_HEARTBEAT)) {
      schedule.after(random.between(500, 5_000), () => this.#rival(key));
      return;
    }
    onRival(key);
    this.rivalComputes.add(key);
    const dies = random.chance(0.4);
    const end = schedule.now + random.between(100, 40_000);
    const beat = (): void => {
      if (schedule.now < end) {
        this.#reserve(key, "rival", RIVAL_HEARTBEAT);
        schedule.after(Math.min(RIVAL_HEARTBEAT, end - schedule.now), beat);
        return;
      }
      this.rivalComputes.delete(key);
      // A crashed rival leaves only its reservation.
      if (dies) return;
      if (!this.artifacts.has(key)) this.artifacts.set(key, rivalOutputs);
      this.#release(key, "rival");
    };
    schedule.after(Math.min(RIVAL_HEARTBEAT, end - schedule.now), beat);
  }
}

export function keyOf({ dataset, tag }: CacheKey): string {
  return `${dataset.name}/${dataset.version}/${tag}`;
}

function metadataOf({ dataset, tag }: CacheKey): CatalogMetadata {
  return create(CatalogMetadataSchema, { datasetId: dataset, artifactTag: { name: tag } });
}
