import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { buildWorkflow } from "./fixtures/workflow.js";
import { Execution } from "./execution.js";
import type { Violation } from "./invariants.js";
import type { SimulationOptions } from "./options.js";
import { Random } from "./random.js";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { CatalogAndRecovery } from "./shared-catalog.js";
import { FAULTS_END_MS, ROOT, type World } from "./world.js";
import { randomWorkflow } from "./random-workflow.js";
import { AdminService } from "./services/admin-service.js";
import { PluginHeartbeats } from "./services/plugin-heartbeats.js";
import { NO_FAULTS, randomFaults } from "./world/faults.js";
import { Fleet } from "./processes/fleet.js";
import { Schedule } from "./world/schedule.js";

export interface SimulationResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
  readonly steps: number;
  readonly crashes: number;
  readonly reloads: number;
  readonly repairs: number;
  /** Number of slices written. */
  readonly slices: number;
  /** Number of executions that nodes started. */
  readonly children: number;
  /** Number of takeovers of a shard by another propeller. */
  readonly handOvers: number;
  readonly phase: string;
  /** Simulated time until the last execution ended, ms. */
  readonly tookMs: number;
}

/**
 * Time by which every execution must have ended, ms: longer than the longest deadlines of a random
 * workflow in sequence.
 */
const MAX_SIMULATED_MS = 2 * 3_600_000;

const MAX_STEPS = 200_000;

/** Runs one world from a seed, with one execution and those that its nodes start. */
export function simulate(options: SimulationOptions): SimulationResult {
  const random = new Random(options.seed);
  const plain = options.workflow ?? randomWorkflow(random);
  const clean = options.bug === undefined && random.chance(0.15);
  const faults = clean ? { ...NO_FAULTS, busDelay: 50, busDuplicate: 0.1 } : { ...randomFaults(random), ...options.faults };
  const schedule = new Schedule();
  const blobs = new Map<string, LiteralMap>();
  const violations: Violation[] = [];
  const trace: string[] = [];
  const note = (text: () => string): void => {
    if (options.trace === true) trace.push(`${String(schedule.elapsed.toFixed(1)).padStart(9)} ${text()}`);
  };
  const violate: World["violate"] = (invariant, text) => {
    note(() => `VIOLATION ${invariant}: ${text}`);
    violations.push({ invariant, text });
  };
  const shared = new CatalogAndRecovery({ options, schedule, blobs, violate, log: note });
  const heartbeats = newAnnouncements(options, { schedule, faults, lossless: clean });
  const spec = shared.workflow(heartbeats?.workflow(plain) ?? plain, (onEvent) =>
    simulate({ seed: options.seed + 500_009, workflow: plain, plain: true, faults: NO_FAULTS, onEvent }),
  );
  const service = new AdminService({
    schedule,
    random,
    spec,
    bug: options.bug,
    violate,
    start: (name, workflow) => new Execution(world, name, workflow),
  });
  const fleet = newFleet(options, { schedule, faults, lossless: clean });
  const world: World = {
    options,
    random,
    schedule,
    faults,
    lossless: clean,
    blobs,
    shared,
    service,
    fleet,
    announcements: heartbeats,
    violate,
    log: note,
  };
  schedule.after(FAULTS_END_MS, () => Object.assign(faults, NO_FAULTS));
  const root = new Execution(world, ROOT, buildWorkflow(spec));
  service.add(root, undefined);
  const stuck = (): boolean => violations.length > 20 || schedule.steps > MAX_STEPS;
  let tookMs = 0;
  try {
    const end = schedule.start + MAX_SIMULATED_MS;
    while (!service.all.every(({ isOver }) => isOver) && schedule.step(end)) if (stuck()) break;
    tookMs = schedule.elapsed;
    // Messages in transit arrive, and running processes have time to abort their work.
    const quiet = schedule.now + Math.max(0, FAULTS_END_MS - schedule.elapsed) + 300_000;
    while (schedule.step(quiet)) if (stuck()) break;
  } catch (error) {
    violate("everyExecutionEnds", `the process fails: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  for (const execution of service.all) execution.checkFinalState();
  const sum = (count: "crashes" | "reloads" | "repairs" | "slices"): number =>
    service.all.reduce((total, { counts }) => total + counts[count], 0);
  return {
    seed: options.seed,
    violations,
    trace,
    steps: schedule.steps,
    crashes: sum("crashes") + (fleet?.crashes ?? 0),
    handOvers: fleet?.handOvers ?? 0,
    reloads: sum("reloads"),
    repairs: sum("repairs"),
    slices: sum("slices"),
    children: service.all.length - 1,
    phase: WorkflowExecution_Phase[root.phase] ?? "",
    tookMs,
  };
}

/** In some worlds several propellers share the executions. */
function newFleet(
  { seed, plain, propellers, bug }: SimulationOptions,
  { schedule, faults, lossless }: Pick<World, "schedule" | "faults" | "lossless">,
): Fleet | undefined {
  // A separate source of random numbers, so that worlds without a fleet keep the outcome of their
  // seed.
  const random = new Random(seed * 15_485_863 + 11);
  // Without repairs, no message between two propellers may be lost.
  const processes = propellers ?? (plain !== true && !lossless && random.chance(0.3) ? 2 + random.int(2) : 0);
  return processes === 0 ? undefined : new Fleet({ schedule, random, faults, processes, bug });
}

/** In some worlds plugin services come and go. */
function newAnnouncements(
  { seed, plain, announced }: SimulationOptions,
  { schedule, faults, lossless }: Pick<World, "schedule" | "faults" | "lossless">,
): PluginHeartbeats | undefined {
  const random = new Random(seed * 49_979_687 + 13);
  const wanted = announced ?? (plain !== true && !lossless && random.chance(0.25));
  return wanted ? new PluginHeartbeats({ seed, schedule, faults, fairFrom: FAULTS_END_MS }) : undefined;
}
