import { create } from "@bufbuild/protobuf";
import { taskUniqueId } from "@flyte-ts/domain/name";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { CallResult, Call } from "../src/engine/calls/call.js";
import { type CacheConfig, defaultCacheConfig } from "../src/engine/cache/config.js";
import { numbers, type WorkflowSpec } from "./fixtures/workflow.js";
import { falseCacheClaim, PriorExecution, serializedKey, withCaches } from "./cache-and-recovery.js";
import type { Invariant } from "./invariants.js";
import type { SimulationOptions } from "./options.js";
import { Random } from "./random.js";
import { Catalog } from "./services/catalog.js";
import type { Pod } from "./services/cluster.js";
import type { Schedule } from "./world/schedule.js";

export interface CatalogAndRecoveryOptions {
  readonly options: SimulationOptions;
  readonly schedule: Schedule;
  readonly blobs: ReadonlyMap<string, LiteralMap>;
  readonly violate: (invariant: Invariant, text: string) => void;
  readonly log: (text: () => string) => void;
}

interface Computing {
  readonly key: string;
  readonly owner: string;
}

/** Some worlds have a catalog that all their executions share, some an execution to recover. */
export class CatalogAndRecovery {
  readonly #random: Random;
  readonly #catalog: Catalog | undefined;
  readonly #prior: PriorExecution | undefined;
  readonly #overwrites: boolean;
  readonly config: CacheConfig | undefined;
  /** Requested computations, by the names of their pods. */
  readonly #pendingCalls = new Map<string, Computing>();
  readonly #computing = new Map<string, Computing & { readonly runs: () => boolean }>();

  constructor(private readonly world: CatalogAndRecoveryOptions) {
    const { options, schedule } = world;
    // A separate source of random numbers, so that worlds without catalog and recovery keep the
    // outcome of their seed.
    const random = new Random(options.seed * 104_729 + 3);
    this.#random = random;
    this.#overwrites = random.chance(0.1);
    this.#prior = options.plain !== true && random.chance(0.2) ? new PriorExecution(random, options.bug) : undefined;
    if (options.plain === true || random.chance(0.6)) return;
    this.config = { ...defaultCacheConfig, lookupTimeout: random.pick([1_000, Number.POSITIVE_INFINITY]) };
    this.#catalog = new Catalog({
      schedule,
      random,
      competitors: 0.4,
      competitorOutputs: numbers({ o0: 77 }),
      onCompetitor: (key) => this.#begins(key, "rival"),
      bug: options.bug,
    });
  }

  /**
   * The workflow as this world runs it; `run` runs it once before, to have an execution to recover.
   */
  workflow(spec: WorkflowSpec, run: (onEvent: NonNullable<SimulationOptions["onEvent"]>) => void): WorkflowSpec {
    const former = this.#prior;
    if (former !== undefined) run((event, blobs) => former.take(event, blobs));
    const cached = this.#catalog === undefined ? spec : { ...withCaches(spec, this.#random), overwriteCache: this.#overwrites };
    return former === undefined ? cached : { ...cached, recovers: "former" };
  }

  /** Returns the result of a call; undefined for calls that other services answer. */
  answer(question: Call): CallResult | undefined {
    const catalog = this.#catalog;
    if (question.kind === "readPriorNode") return { kind: "value", value: this.#prior?.answer(question.id.nodeId) };
    if (catalog === undefined) return undefined;
    switch (question.kind) {
      case "catalogGet":
        return { kind: "value", value: catalog.get(question) };
      case "catalogReserve":
        return { kind: "value", value: catalog.reserve(question) };
      case "catalogRelease":
        return { kind: "value", value: catalog.release(question) };
      case "catalogPut":
        return { kind: "value", value: catalog.put(question, this.world.blobs.get(question.outputs.uri) ?? create(LiteralMapSchema)) };
      default:
        return undefined;
    }
  }

  takeRequest(execution: string, request: TaskRequest): void {
    const key = this.#overwrites ? undefined : serializedKey(request);
    if (key === undefined) return;
    const owner = taskUniqueId({ execution, nodeUniqueId: request.id?.nodeExecutionId?.nodeId ?? "", attempt: 0 });
    this.#pendingCalls.set(request.generatedName, { key, owner });
  }

  podStarts(pod: Pod, runs: () => boolean): void {
    const asked = this.#pendingCalls.get(pod.key);
    if (asked === undefined || this.#catalog === undefined) return;
    this.#begins(asked.key, asked.owner);
    this.#computing.set(pod.key, { ...asked, runs });
  }

  /** After the lookup timeout a node may compute what another computes. */
  #begins(key: string, owner: string): void {
    const catalog = this.#catalog;
    if (catalog === undefined || this.config?.lookupTimeout !== Number.POSITIVE_INFINITY || catalog.leaseLapsed(key, owner)) return;
    if (owner !== "rival" && catalog.competitorComputes.has(key)) this.world.violate("oneComputes", `${owner} and a rival compute ${key}`);
    for (const [name, other] of this.#computing) {
      if (!other.runs()) this.#computing.delete(name);
      else if (other.key === key && other.owner !== owner) this.world.violate("oneComputes", `${owner} and ${other.owner} compute ${key}`);
    }
  }

  takeEvent(event: ExecutionEvent, ofRoot: boolean): void {
    const lie = this.#catalog === undefined ? undefined : falseCacheClaim(event, this.#catalog, this.#overwrites);
    if (lie !== undefined) this.world.violate("cacheIsTrue", lie);
    const mistake = ofRoot ? this.#prior?.falseRecovery(event) : undefined;
    if (mistake !== undefined) this.world.violate("reusesTheSame", mistake);
  }
}
