import { create } from "@bufbuild/protobuf";
import { isTerminalTaskEvent, isTerminalWorkflow, workflowEventPhase } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { DesiredState, type TaskEvent, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type ParsedWorkflow, sliceUri, type WorkflowStatus } from "@flyte-ts/workflow-crd";
import { defaultEngineConfig, type EngineConfig } from "../engine/config.js";
import type { Effect } from "../engine/types.js";
import { answer } from "./build/answer.js";
import { SliceGone, withSlices } from "./build/slices.js";
import { DYNAMIC, numbers } from "./build/workflow.js";
import { MapOutputs, tooManyItems } from "./array-invariants.js";
import { backwardSteps, type Invariant } from "./invariants.js";
import { Random } from "./random.js";
import type { CacheAndFormer } from "./shared-catalog.js";
import type { SimulationOptions, PlantedBug } from "./options.js";
import type { Announcements } from "./world/announcements.js";
import { Admin } from "./world/admin.js";
import type { AdminService, ServedExecution, Wake } from "./world/admin-service.js";
import { Stream } from "./world/bus.js";
import { Cluster, type Outcome, type Pod } from "./world/cluster.js";
import type { Faults } from "./world/faults.js";
import { PluginService } from "./world/plugin-service.js";
import type { Fleet } from "./world/fleet.js";
import type { Host } from "./world/life.js";
import { LoneProcess } from "./world/lone-process.js";
import { Propeller, type ShellBug } from "./world/propeller.js";
import { ResourceStore } from "./world/resource-store.js";
import type { Schedule } from "./world/schedule.js";
import { SliceStore } from "./world/slice-store.js";

/** Name of the execution that a world begins with. */
export const ROOT = "exec";

/** The unfair part of the schedule ends then, ms. */
export const FAIR_FROM = 180_000;

/** What the executions of one world share. */
export interface World {
  readonly options: SimulationOptions;
  readonly random: Random;
  readonly schedule: Schedule;
  readonly faults: Faults;
  /** Nothing is lost, and events alone must do. */
  readonly clean: boolean;
  readonly blobs: Map<string, LiteralMap>;
  readonly shared: CacheAndFormer;
  readonly service: AdminService;
  /** The propellers that share out the executions; undefined where each has a process of its own. */
  readonly fleet: Fleet | undefined;
  /** Plugin services that come and go, and say so; undefined where they are always there. */
  readonly announcements: Announcements | undefined;
  violate(invariant: Invariant, text: string): void;
  note(text: () => string): void;
}

/** One execution: its resource, its rows in admin, a propeller and a plugin service of its own, its pods. */
export class Execution implements ServedExecution {
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly #faults: Faults;
  readonly #store: ResourceStore;
  readonly #admin: Admin;
  readonly #cluster: Cluster;
  readonly #plugin: PluginService;
  readonly #propellers: readonly Propeller[];
  readonly #process: LoneProcess | undefined;
  readonly #slices: SliceStore;
  /** The status that the resource had last, with what stood in its slices. */
  #status: WorkflowStatus = { phase: 0 };
  readonly #zombies = new Set<string>();
  /** Attempts whose end was told. */
  readonly #ended = new Set<string>();
  /** The newest attempt of each node that was asked to run. */
  readonly #asked = new Map<string, number>();
  /** Attempts that were asked to stop. */
  readonly #stopped = new Set<string>();
  readonly #terminalTold = new Set<number>();
  readonly #maps = new MapOutputs();
  #outputs: LiteralMap | undefined;

  constructor(
    private readonly world: World,
    readonly name: string,
    private readonly workflow: ParsedWorkflow,
  ) {
    const { random, schedule, faults, blobs, clean, options, service } = world;
    this.#random = random;
    this.#schedule = schedule;
    this.#faults = faults;
    this.#slices = new SliceStore({ schedule, random, faults, onRemoved: (uri) => this.#sliceRemoved(uri) });
    this.#store = new ResourceStore((_before, after) => this.#changed(after?.status));
    const requests = new Stream<TaskRequest>(schedule, random, faults);
    const events = new Stream<ExecutionEvent>(schedule, random, faults);
    const fates = new Random(options.seed * 7919 + hash(name));
    // Where nearly all goes well, executions get far.
    const luck = fates.pick([0.75, 0.97, 1]);
    const outcomes = new Map<string, Outcome>();
    this.#cluster = new Cluster({
      schedule,
      random,
      faults,
      longest: random.pick([200, 2_000, 20_000]),
      outcomeOf: (node, attempt) => {
        const key = `${node}/${attempt}`;
        const outcome = outcomes.get(key) ?? randomOutcome(fates, luck);
        outcomes.set(key, outcome);
        return outcome;
      },
      onStart: (pod, others) => this.#podStarts(pod, others),
    });
    this.#admin = new Admin({
      schedule,
      resource: () => this.#store.current && { ...this.#store.current, status: this.#status },
      repairs: !clean,
      recorded: (phase) => {
        service.ended(this.name);
        if (!random.chance(faults.busLoss * 3)) this.#tellPropellers((propeller) => propeller.takeRecorded(phase));
      },
      branchOf,
    });
    events.consume((event) => {
      this.#admin.take(event);
      this.#takeOutputs(event);
      return true;
    });
    // Each propeller and admin have a consumer each on the stream of task events.
    const toPropellers: Stream<TaskEvent>[] = [];
    const toAdmin = new Stream<TaskEvent>(schedule, random, { ...faults });
    const publishTask = (event: TaskEvent): void => {
      if (isTerminalTaskEvent(event.event?.phase ?? 0)) this.#ended.add(event.event?.metadata?.generatedName ?? "");
      if (this.#random.chance(faults.busLoss)) return;
      this.#note(() => `event ${event.nodePath}/${event.event?.retryAttempt ?? 0} ${event.event?.phase ?? 0}`);
      for (const stream of toPropellers) stream.publish(event);
      toAdmin.publish(event);
    };
    toAdmin.consume((event) => {
      this.#admin.takeTask(event);
      return true;
    });
    this.#plugin = new PluginService({
      schedule,
      random,
      faults,
      cluster: this.#cluster,
      requests,
      events: publishTask,
      announcements: world.announcements,
      leavesAborted: options.bug === "pluginLeavesAborted",
      writeBlob: (uri, value) => blobs.set(uri, value),
      outputsOf: (request) => ({
        value: outputsOf(request),
        inline: hash(request.generatedName) % 3 !== 0,
        futures: request.template?.type.startsWith(DYNAMIC) === true,
      }),
    });
    const config = this.#config();
    const fullWalks = random.chance(0.1);
    const employ = (host: Host, entitled: () => boolean): Propeller => {
      const propeller = new Propeller({
        host,
        entitled,
        onTrespass: (what) => this.#violate("onlyTheHolderActs", `${what} of a process that does not hold the shard`),
        schedule,
        random,
        faults,
        store: this.#store,
        parse: (resource) => ({
          ...workflow,
          ...withSlices(JSON.parse(JSON.stringify(resource.status)) as WorkflowStatus, this.#slices.blobs),
          resourceVersion: String(resource.resourceVersion),
          deletionRequested: resource.deletionRequested,
          finalizers: resource.finalizers,
        }),
        config,
        announced: world.announcements !== undefined,
        answer: (question) => world.shared.answer(question) ?? service.answer(question),
        requests,
        events,
        blobs,
        slices: this.#slices,
        onEffect: (effect) => this.#effect(effect),
        bug: shellBug(options.bug),
        testing: {
          fullWalks,
          forgetsFollowers: options.bug === "forgetsFollowers",
          forgetsChildren: options.bug === "forgetsChildren",
          crowdsArrays: options.bug === "crowdsArrays",
        },
        fabricate: (request) => answer(request, "ABORTED", { now: schedule.now }),
      });
      const stream = new Stream<TaskEvent>(schedule, random, faults);
      stream.consume((event) => propeller.takeTaskEvent(event));
      toPropellers.push(stream);
      world.announcements?.listen((types) => propeller.takeHello(types));
      return propeller;
    };
    if (world.fleet === undefined) {
      const process = new LoneProcess({ schedule, random, faults });
      const propeller = employ(process, () => true);
      this.#process = process;
      this.#propellers = [propeller];
      process.start(propeller);
    } else this.#propellers = world.fleet.employ(hash(name), employ);
    this.#plan();
  }

  #config(): EngineConfig {
    const random = this.#random;
    return {
      ...defaultEngineConfig(random.next),
      startsPerRound: this.world.options.seed % 10 === 0 ? 1 : 500,
      inlineLimit: random.chance(0.2) ? 8 : 8_192,
      inlineBudget: random.chance(0.2) ? 16 : 131_072,
      ...(random.chance(0.4)
        ? { inlineStatusLimit: random.pick([0, 300, 1_000]), slices: { nodes: random.pick([1, 2, 3]), bytes: 1_000 } }
        : {}),
      cache: this.world.shared.config,
      retryBackoff: { initial: random.pick([0, 100, 1_000]), factor: 2, max: 10_000, jitter: 0.5 },
      abandonUnanswered: Number.POSITIVE_INFINITY,
      abandonAborts: 0,
      ...this.world.announcements?.config,
      ...(this.world.options.bug === "waitsForEver" ? { pluginDeadline: 0 } : {}),
    };
  }

  /** What happens besides: an abort, others' writes, resyncs, repairs, and the end of the unfair part. */
  #plan(): void {
    const { after } = { after: this.#schedule.after.bind(this.#schedule) };
    const random = this.#random;
    if (random.chance(this.#root ? 0.4 : 0.1)) {
      after(random.between(0, random.pick([50, 1_000, 10_000, 60_000])), () => {
        this.stop("user aborts");
      });
    }
    const foreign = (): void => {
      if (random.chance(this.#faults.foreignWrite)) this.#store.touch();
      if (this.#schedule.elapsed < FAIR_FROM) after(1_000, foreign);
    };
    foreign();
    const periodic = (): void => {
      for (const propeller of this.#propellers) propeller.resync();
      this.#watch();
      if (!this.over) after(60_000, periodic);
    };
    after(60_000, periodic);
  }

  /** Watch events come late, and may come twice. */
  #watch(): void {
    const version = this.#store.current?.resourceVersion ?? 0;
    for (const propeller of this.#propellers) {
      const times = this.#random.chance(this.#faults.busDouble) ? 2 : 1;
      for (let i = 0; i < times; i++)
        this.#schedule.after(this.#random.between(1, Math.max(12, this.#faults.busDelay)), () => propeller.takeWatch(version));
    }
  }

  /** What is told to whoever listens at that moment. */
  #tellPropellers(tell: (propeller: Propeller) => void): void {
    this.#schedule.after(this.#random.between(1, 20), () => {
      for (const propeller of this.#propellers) tell(propeller);
    });
  }

  get #root(): boolean {
    return this.name === ROOT;
  }

  get counts(): ServedExecution["counts"] {
    const reloads = this.#propellers.reduce((sum, propeller) => sum + propeller.reloads, 0);
    return { crashes: this.#process?.crashes ?? 0, reloads, repairs: this.#admin.repairs, slices: this.#slices.written };
  }

  /** As admin has it. */
  get phase(): WorkflowExecution_Phase {
    return this.#admin.phase;
  }

  get terminal(): boolean {
    return this.#admin.terminal;
  }

  get outputs(): LiteralMap | undefined {
    return this.#outputs;
  }

  /** Whether its nodes may do anything still, as the resource says. */
  get underWay(): boolean {
    const phase = this.#store.current?.status.phase;
    return phase !== undefined && phase !== 0 && !isTerminalWorkflow(phase);
  }

  /** Somebody asks for its end. */
  stop(why: string): void {
    if (this.#admin.terminal) return;
    this.#note(() => why);
    this.#store.requestDeletion();
    this.#watch();
  }

  /** Admin's word to its propeller; may be lost or come twice. */
  wake(subject: Wake): void {
    const { busLoss, busDouble } = this.#faults;
    const times = (this.#random.chance(busLoss * 3) ? 0 : 1) + (this.#random.chance(busDouble) ? 1 : 0);
    for (let i = 0; i < times; i++) this.#tellPropellers((propeller) => propeller.takeWake(subject));
  }

  #takeOutputs({ event, outputs }: ExecutionEvent): void {
    if (event.case !== "workflow" || event.value.phase !== WorkflowExecution_Phase.SUCCEEDED) return;
    const uri = event.value.outputResult.case === "outputUri" ? event.value.outputResult.value : "";
    this.#outputs = outputs ?? this.world.blobs.get(uri);
  }

  #last() {
    return this.#store.current ?? this.#store.history.at(-1);
  }

  get over(): boolean {
    return this.#store.current === undefined || this.#store.current.labels["termination-status"] !== undefined;
  }

  judge(): void {
    const last = this.#last();
    if (!this.over || last === undefined) {
      this.#violate(
        "everyExecutionEnds",
        `still in phase ${last?.status.phase ?? -1} after ${this.#schedule.elapsed} ms: ${JSON.stringify(last?.status.nodeStatus ?? {}).slice(0, 600)}`,
      );
      return;
    }
    for (const pod of this.#cluster.running) {
      // A pod that was begun by mistake can only be stopped if somebody tells of it.
      if (!(this.#zombies.has(pod.key) || this.#givenUp(pod)) || this.#plugin.knows(pod.key))
        this.#violate("noOrphans", `pod ${pod.key} runs after the end`);
    }
    for (const text of this.#admin.complaints(this.#status)) this.#violate("nothingLost", text);
    const wanted = workflowEventPhase(last.status.phase);
    const told = [...this.#terminalTold].map((phase) => WorkflowExecution_Phase[phase]);
    if (this.#terminalTold.size !== 1 || !this.#terminalTold.has(wanted)) {
      this.#violate("oneTerminalEvent", `told ${told.join(", ") || "nothing"}, the resource says ${WorkflowExecution_Phase[wanted]}`);
    }
  }

  #changed(stored: WorkflowStatus | undefined): void {
    if (stored === undefined) return;
    const before = this.#status;
    const after = this.#withSlices(stored);
    if (after === undefined) return;
    this.#status = after;
    this.#note(() => `written ${JSON.stringify(after)}`);
    for (const text of backwardSteps(before, after)) this.#violate("phasesForward", text);
    const { model } = this.workflow;
    for (const text of tooManyItems(after.nodeStatus ?? {}, model.root, model)) this.#violate("arraysInBounds", text);
    if (!isTerminalWorkflow(after.phase) || isTerminalWorkflow(before.phase)) return;
    for (const pod of this.#cluster.running) {
      if (!this.#zombies.has(pod.key) && !this.#givenUp(pod))
        this.#violate("noOrphans", `pod ${pod.key} runs while the workflow is in phase ${after.phase}`);
    }
    for (const child of this.world.service.childrenOf(this.name)) {
      if (!child.terminal) this.#violate("noOrphans", `child ${child.name} runs while the workflow is in phase ${after.phase}`);
    }
  }

  /** Nobody has answered the request to stop, so that it may have been given up: whoever comes to know of the pod must stop it. */
  #givenUp({ key }: Pod): boolean {
    return this.world.announcements !== undefined && this.#stopped.has(key) && !this.#ended.has(key);
  }

  #withSlices(stored: WorkflowStatus): WorkflowStatus | undefined {
    try {
      return withSlices(stored, this.#slices.blobs).status;
    } catch (error) {
      if (!(error instanceof SliceGone)) throw error;
      this.#violate("slicesStand", `the resource names slice ${error.message}, which is not there`);
      return undefined;
    }
  }

  #sliceRemoved(uri: string): void {
    const root = this.#store.current?.status.slices;
    if (root !== undefined && Object.values(root.names).some((name) => sliceUri(root.prefix, name) === uri))
      this.#violate("slicesStand", `slice ${uri} is removed while the resource names it`);
  }

  #effect(effect: Effect): void {
    if (effect.kind === "readOutputs" || effect.kind === "writeOutputs") this.#note(() => `${effect.kind} ${effect.uri}`);
    if (effect.kind === "sendTask") {
      const { request } = effect;
      const node = request.id?.nodeExecutionId?.nodeId ?? "";
      if (request.desired === DesiredState.RUN) this.#asked.set(node, Math.max(this.#asked.get(node) ?? 0, request.id?.retryAttempt ?? 0));
      if (request.desired !== DesiredState.RUN) this.#stopped.add(request.generatedName);
      if (request.desired === DesiredState.RUN) this.world.shared.takeRequest(this.name, request);
      this.#note(() => `send ${request.nodePath}/${request.id?.retryAttempt ?? 0} ${request.desired}`);
    }
    if (effect.kind === "finish" && !this.#admin.terminal) this.#violate("nothingLost", "finished before admin has the end");
    if (effect.kind !== "publish") return;
    this.world.shared.takeEvent(effect.event, this.#root);
    if (this.#root) this.world.options.onEvent?.(effect.event);
    const { event } = effect.event;
    const wrong = this.#maps.wrong(effect.event, outputOf);
    if (wrong !== undefined) this.#violate("arraysInBounds", wrong);
    this.#note(
      () =>
        `tell ${event.case === "node" ? `${event.value.id?.nodeId ?? ""} ${event.value.phase}` : `${event.case} ${event.case === "notice" ? event.value.reason : (event.value?.phase ?? 0)}`}`,
    );
    if (event.case !== "workflow" || !TERMINAL.has(event.value.phase)) return;
    this.#terminalTold.add(event.value.phase);
    const durable = workflowEventPhase(this.#last()?.status.phase ?? 0);
    if (durable !== event.value.phase) {
      this.#violate(
        "oneTerminalEvent",
        `told ${WorkflowExecution_Phase[event.value.phase]} while the resource says ${WorkflowExecution_Phase[durable]}`,
      );
    }
  }

  #podStarts(pod: Pod, others: readonly Pod[]): void {
    this.#note(() => `pod ${pod.key} starts, ${pod.outcome.kind}`);
    if ((this.#asked.get(pod.node) ?? 0) > pod.attempt || this.#ended.has(pod.key) || this.#givenUp(pod)) {
      // A plugin service without memory began an attempt that is over, for a request that came late; it must be stopped, see noOrphans.
      this.#zombies.add(pod.key);
      return;
    }
    this.world.shared.podStarts(pod, () => this.#cluster.pods.get(pod.key) === pod && pod.state !== "ended" && !this.#givenUp(pod));
    for (const other of others) {
      if (other.state !== "ended" && !this.#zombies.has(other.key))
        this.#violate("oneLivePod", `pod ${pod.key} starts while ${other.key} is ${other.state}`);
    }
  }

  #violate(invariant: Invariant, text: string): void {
    this.world.violate(invariant, this.#root ? text : `${this.name}: ${text}`);
  }

  #note(text: () => string): void {
    this.world.note(this.#root ? text : () => `${this.name}: ${text()}`);
  }
}

const TERMINAL: ReadonlySet<number> = new Set([
  WorkflowExecution_Phase.SUCCEEDED,
  WorkflowExecution_Phase.FAILED,
  WorkflowExecution_Phase.ABORTED,
  WorkflowExecution_Phase.TIMED_OUT,
]);

function shellBug(bug: PlantedBug | undefined): ShellBug | undefined {
  switch (bug) {
    case "pluginLeavesAborted":
    case "forgetsFollowers":
    case "forgetsChildren":
    case "forgetsTasks":
    case "grantsTwice":
    case "mixesUp":
    case "crowdsArrays":
    case "pretendsStopped":
    case "ignoresItsLease":
    case "takesUpNothing":
    case "waitsForEver":
      return undefined;
    default:
      return bug;
  }
}

function randomOutcome(random: Random, luck: number): Outcome {
  const fate = random.next();
  if (fate < luck) return { kind: "succeeds" };
  if (fate < luck + (1 - luck) / 5) return { kind: "hangs" };
  return { kind: "fails", recoverable: random.chance(0.7), system: random.chance(0.4), cleanup: random.chance(0.3) };
}

/** A task's output: a number that depends on which task it is. */
function outputsOf(request: TaskRequest): LiteralMap {
  return request.id === undefined ? create(LiteralMapSchema) : numbers({ o0: outputOf(request.id.nodeExecutionId?.nodeId ?? "") });
}

function outputOf(uniqueId: string): number {
  return hash(uniqueId) % 10;
}

export function hash(text: string): number {
  let value = 7;
  for (let i = 0; i < text.length; i++) value = (Math.imul(value, 31) + text.charCodeAt(i)) >>> 0;
  return value;
}

/** The branch that a node is an arm of: the builder names arms for it. */
function branchOf(id: string): string | undefined {
  return /^(.+)-n\d+$/.exec(id)?.[1];
}
