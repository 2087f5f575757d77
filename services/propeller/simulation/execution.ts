import { isTerminalWorkflow } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { TaskEvent, TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ParsedWorkflow } from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { defaultEngineConfig, type EngineConfig } from "../src/engine/config.js";
import { answer } from "./fixtures/task-event.js";
import { withSlices } from "./fixtures/slices.js";
import { DYNAMIC } from "./fixtures/workflow.js";
import { Outcomes, hash, outputsOf } from "./outcomes.js";
import type { InjectedBug } from "./options.js";
import type { Random } from "./random.js";
import { isEngineBug, simulatedPolicy } from "./mutants.js";
import { InvariantChecker } from "./invariant-checker.js";
import { FAULTS_END_MS, type World } from "./world.js";
import { Admin } from "./services/admin.js";
import type { ServedExecution, Wake } from "./services/admin-service.js";
import { Stream } from "./world/bus.js";
import { Cluster } from "./services/cluster.js";
import type { ShellBug } from "./world/effects.js";
import type { Faults } from "./world/faults.js";
import type { Host } from "./processes/process-lifetime.js";
import { SingleProcess } from "./processes/single-process.js";
import { PluginService } from "./services/plugin-service.js";
import { Propeller } from "./processes/propeller.js";
import { isOver, ResourceStore } from "./world/resource-store.js";
import type { Schedule } from "./world/schedule.js";
import { SliceStore } from "./world/slice-store.js";

/**
 * One execution: its resource, its rows in admin, the processes working on it, its own plugin
 * service and its pods.
 */
export class Execution implements ServedExecution {
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly #faults: Faults;
  readonly #store: ResourceStore;
  readonly #admin: Admin;
  readonly #propellers: readonly Propeller[];
  readonly #process: SingleProcess | undefined;
  readonly #slices: SliceStore;
  readonly #witness: InvariantChecker;
  #outputs: LiteralMap | undefined;

  constructor(
    private readonly world: World,
    readonly name: string,
    workflow: ParsedWorkflow,
  ) {
    const { random, schedule, faults, blobs, lossless, options, service } = world;
    this.#random = random;
    this.#schedule = schedule;
    this.#faults = faults;
    const checker = new InvariantChecker(world, name, workflow);
    this.#witness = checker;
    this.#slices = new SliceStore({ schedule, random, faults, onRemoved: (uri) => checker.sliceRemoved(uri) });
    this.#store = new ResourceStore((_before, after) => checker.changed(after?.status));
    const requests = new Stream<TaskRequest>(schedule, random, faults);
    const events = new Stream<ExecutionEvent>(schedule, random, faults);
    const outcomes = new Outcomes(options.seed * 7919 + hash(name));
    const cluster = new Cluster({
      schedule,
      random,
      faults,
      longest: random.pick([200, 2_000, 20_000]),
      outcomeOf: (node, attempt) => outcomes.outcomeOf(node, attempt),
      onStart: (pod, others) => checker.podStarts(pod, others),
    });
    this.#admin = new Admin({
      schedule,
      resource: () => this.#store.current && { ...this.#store.current, status: checker.status },
      repairs: !lossless,
      recorded: (phase) => {
        service.ended(this.name);
        if (!random.chance(faults.busLoss * 3)) this.#notifyPropellers((propeller) => propeller.onEndRecorded(phase));
      },
      branchOf,
    });
    events.consume((event) => {
      this.#admin.take(event);
      this.#takeOutputs(event);
      return true;
    });
    // Each propeller, and admin, has its own consumer on the stream of task events.
    const toPropellers: Stream<TaskEvent>[] = [];
    const toAdmin = new Stream<TaskEvent>(schedule, random, { ...faults });
    const publishTask = (event: TaskEvent): void => {
      checker.taskEvent(event);
      if (this.#random.chance(faults.busLoss)) return;
      checker.note(() => `event ${event.nodePath}/${event.event?.retryAttempt ?? 0} ${event.event?.phase ?? 0}`);
      for (const stream of toPropellers) stream.publish(event);
      toAdmin.publish(event);
    };
    toAdmin.consume((event) => {
      this.#admin.takeTask(event);
      return true;
    });
    const plugin = new PluginService({
      schedule,
      random,
      faults,
      cluster,
      requests,
      events: publishTask,
      heartbeats: world.announcements,
      keepsAborted: options.bug === "pluginLeavesAborted",
      writeBlob: (uri, value) => blobs.set(uri, value),
      outputsOf: (request) => ({
        value: outputsOf(request),
        inline: hash(request.generatedName) % 3 !== 0,
        futures: request.template?.type.startsWith(DYNAMIC) === true,
      }),
    });
    checker.observe({ store: this.#store, admin: this.#admin, cluster, plugin, slices: this.#slices });
    const config = this.#config();
    const policy = simulatedPolicy({ bug: options.bug, fullScans: random.chance(0.1) });
    const employ = (host: Host, entitled: () => boolean): Propeller => {
      const propeller = new Propeller({
        host,
        isHolder: entitled,
        onFencingViolation: (what) => checker.violate("onlyTheHolderActs", `${what} of a process that does not hold the shard`),
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
        heartbeats: world.announcements !== undefined,
        answer: (question) => world.shared.answer(question) ?? service.answer(question),
        requests,
        events,
        blobs,
        slices: this.#slices,
        onEffect: (effect) => checker.effect(effect),
        bug: shellBug(options.bug),
        policy,
        fabricate: (request) => answer(request, "ABORTED", { now: schedule.now }),
      });
      const stream = new Stream<TaskEvent>(schedule, random, faults);
      stream.consume((event) => propeller.onTaskEvent(event));
      toPropellers.push(stream);
      world.announcements?.listen((types) => propeller.onHeartbeat(types));
      world.announcements?.listenForStarts((types) => propeller.onPluginStarted(types));
      return propeller;
    };
    if (world.fleet === undefined) {
      const process = new SingleProcess({ schedule, random, faults });
      const propeller = employ(process, () => true);
      this.#process = process;
      this.#propellers = [propeller];
      process.start(propeller);
    } else this.#propellers = world.fleet.spawnWorkers(hash(name), employ);
    this.#plan();
  }

  #config(): EngineConfig {
    const random = this.#random;
    return {
      ...defaultEngineConfig(random.next),
      maxStartsPerObservation: this.world.options.seed % 10 === 0 ? 1 : 16,
      // In some worlds an observation processes almost nothing, so that others arrive between the
      // parts of its consequences.
      maxReconcilesPerObservation: this.world.options.seed % 4 === 1 ? 1 + (this.world.options.seed % 7) : 512,
      maxInlineOutputBytes: random.chance(0.2) ? 8 : 8_192,
      maxTotalInlineOutputBytes: random.chance(0.2) ? 16 : 131_072,
      ...(random.chance(0.4)
        ? { maxInlineStatusBytes: random.pick([0, 300, 1_000]), sliceLimits: { nodes: random.pick([1, 2, 3]), bytes: 1_000 } }
        : {}),
      cache: this.world.shared.config,
      retryBackoff: { initialMs: random.pick([0, 100, 1_000]), factor: 2, maxMs: 10_000, jitter: 0.5 },
      unstartedAbortTimeout: Number.POSITIVE_INFINITY,
      abortTimeout: 0,
      ...this.world.announcements?.config,
      ...(this.world.options.bug === "waitsForEver" ? { pluginUnavailableTimeout: 0 } : {}),
    };
  }

  /**
   * Schedules an abort, foreign writes during the unfair phase, and periodic resyncs and watch
   * events.
   */
  #plan(): void {
    const { after } = { after: this.#schedule.after.bind(this.#schedule) };
    const random = this.#random;
    if (random.chance(this.#witness.root ? 0.4 : 0.1)) {
      after(random.between(0, random.pick([50, 1_000, 10_000, 60_000])), () => {
        this.stop("user aborts");
      });
    }
    const foreign = (): void => {
      if (random.chance(this.#faults.concurrentWrite)) this.#store.touch();
      if (this.#schedule.elapsed < FAULTS_END_MS) after(1_000, foreign);
    };
    foreign();
    const periodic = (): void => {
      for (const propeller of this.#propellers) propeller.resync();
      this.#watch();
      if (!this.isOver) after(60_000, periodic);
    };
    after(60_000, periodic);
  }

  /** Watch events are delayed, and may be duplicated. */
  #watch(): void {
    const version = this.#store.current?.resourceVersion ?? 0;
    for (const propeller of this.#propellers) {
      const times = this.#random.chance(this.#faults.busDuplicate) ? 2 : 1;
      for (let i = 0; i < times; i++)
        this.#schedule.after(this.#random.between(1, Math.max(12, this.#faults.busDelay)), () => propeller.onWatchEvent(version));
    }
  }

  /** Delivers a message to the propellers that are running at that moment. */
  #notifyPropellers(notify: (propeller: Propeller) => void): void {
    this.#schedule.after(this.#random.between(1, 20), () => {
      for (const propeller of this.#propellers) notify(propeller);
    });
  }

  get counts(): ServedExecution["counts"] {
    const reloads = this.#propellers.reduce((sum, propeller) => sum + propeller.reloads, 0);
    return { crashes: this.#process?.crashes ?? 0, reloads, repairs: this.#admin.repairs, slices: this.#slices.written };
  }

  /** Phase in admin's rows. */
  get phase(): WorkflowExecution_Phase {
    return this.#admin.phase;
  }

  get terminal(): boolean {
    return this.#admin.terminal;
  }

  get outputs(): LiteralMap | undefined {
    return this.#outputs;
  }

  /** True while its nodes may run, according to the resource. */
  get inProgress(): boolean {
    const phase = this.#store.current?.status.phase;
    return phase !== undefined && phase !== 0 && !isTerminalWorkflow(phase);
  }

  /** Requests its termination. */
  stop(why: string): void {
    if (this.#admin.terminal) return;
    this.#witness.note(() => why);
    this.#store.requestDeletion();
    this.#watch();
  }

  /** Wake-up from admin to its propeller; may be lost or duplicated. */
  wake(subject: Wake): void {
    const { busLoss, busDuplicate } = this.#faults;
    const times = (this.#random.chance(busLoss * 3) ? 0 : 1) + (this.#random.chance(busDuplicate) ? 1 : 0);
    for (let i = 0; i < times; i++) this.#notifyPropellers((propeller) => propeller.onWakeup(subject));
  }

  #takeOutputs({ event, outputs }: ExecutionEvent): void {
    if (event.case !== "workflow" || event.value.phase !== WorkflowExecution_Phase.SUCCEEDED) return;
    const uri = event.value.outputResult.case === "outputUri" ? event.value.outputResult.value : "";
    this.#outputs = outputs ?? this.world.blobs.get(uri);
  }

  get isOver(): boolean {
    return isOver(this.#store);
  }

  checkFinalState(): void {
    this.#witness.checkFinalState();
  }
}

function shellBug(bug: InjectedBug | undefined): ShellBug | undefined {
  if (isEngineBug(bug)) return undefined;
  switch (bug) {
    case "pluginLeavesAborted":
    case "forgetsTasks":
    case "grantsTwice":
    case "mixesUp":
    case "pretendsStopped":
    case "ignoresItsLease":
    case "takesUpNothing":
    case "waitsForEver":
      return undefined;
    default:
      return bug;
  }
}

/** Branch of which a node is an arm: the builder names arms after it. */
function branchOf(id: string): string | undefined {
  return /^(.+)-n\d+$/.exec(id)?.[1];
}
