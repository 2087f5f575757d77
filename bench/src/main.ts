import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createFlyteClient } from "@flyte-ts/client";
import { compare, comparisonTable } from "./compare.js";
import { type ConsoleFigures, startConsoleBench } from "./console/measure-console.js";
import { mediansOf } from "./console/medians.js";
import { measureLive } from "./console/measure-live.js";
import { measureLog } from "./console/measure-log.js";
import { measurePageTimes, type PageTimes } from "./console/measure-pages.js";
import { seedGraph } from "./console/seed-graph.js";
import { measureFloor } from "./floor/measure-floor.js";
import { costTable, sizingTable } from "./cost/cost-model.js";
import { measureCost } from "./cost/measure-cost.js";
import { LOCAL_BACKEND, startKubernetesBackend } from "./backend.js";
import { STANDARD_WORKLOADS, type Measured, resultTable } from "./result-table.js";
import { StackMemory } from "./memory.js";
import { parseRateArgs, seedDatabase, withDatabase } from "./rate/parse-args.js";
import { SEEDED_PREFIX } from "./rate/seed-database.js";
import { measureIngest } from "./rate/measure-ingest.js";
import { measureRate, newestNames } from "./rate/measure-rate.js";
import { groupComparison, groupRuns, recordResults, writeTable } from "./results/record.js";
import { readStackConfig } from "./rate/stack-config.js";
import { type ManagedStack, startManagedStack } from "./managed-stack.js";
import { type Measurement, register, runWorkload } from "./run-workload.js";
import { drawSoak } from "./soak/record-soak.js";
import { runSoak } from "./soak/run-soak.js";
import { measureTypeScript } from "./typescript/measure-typescript.js";
import { measureWatch } from "./watch/measure-watch.js";
import { workflowName } from "./workflows.js";
import { parseWorkloads, type Workload } from "./workload.js";

const USAGE = `usage: npm run bench -- [--endpoint host:port] [--leaf echo|core-sleep] [--executions K] [--repeat R] [--data DIR] WORKLOAD
       npm run bench -- --compare host:port [flags] [WORKLOAD]...
       npm run bench -- --stack local|kubernetes [--volatile] [--record] [--compare host:port] [flags] [WORKLOAD]...
  chain SIZE | fan-out SIZE         SIZE tasks in sequence, or in parallel; KxSIZE: K executions
  map SIZE                          one array node with SIZE items
  sleep EXECUTIONS TASKS SECONDS    executions of TASKS parallel tasks that sleep
       npm run bench -- [--endpoint host:port] [--data DIR] [--callers N] [--connections N] RATE
  get SECONDS [ROWS]                GetExecution in a closed loop: of the newest 100 executions, or of ROWS inserted ones
  list SECONDS                      ListExecutions, newest first; --limit 100, --filters …, --token OFFSET
  create SECONDS                    CreateExecution of a chain of 1, until all have begun
       npm run bench -- --data DIR ingest EVENTS
  ingest EVENTS                     publishes node events on the bus and waits until admin has recorded them
       npm run bench -- --data DIR [--events] [--connections N] watch WATCHERS EXECUTIONS
  watch WATCHERS EXECUTIONS         watches executions by gRPC streams or (--events) server-sent events;
                                    --stack local instead of --data starts a stack
       npm run bench -- [--repeat R] [--data DIR] console NODES [ROWS]
  console NODES [ROWS]              opens the timeline and the graph of an execution with NODES nodes in Chromium, then
                                    the other pages with ROWS inserted executions, on a stack of its own; prints medians, and
                                    a load after a restart; with --data its state is kept in DIR, and what an earlier run
                                    has inserted is used again
  console-live NODES RATE           shows a running execution with NODES nodes in Chromium while RATE of them change in a second
  console-log LINES                 opens, searches and scrolls a log with LINES lines in Chromium while its pod prints
       npm run bench -- [--keep SECONDS] [--record] soak EXECUTIONS
  soak EXECUTIONS                   runs EXECUTIONS chains of three tasks through one stack, with retention, and prints
                                    latencies, memory and the size of the database for each tenth, after a twentieth
                                    more to warm up; --record writes bench/results/soak.json, docs/images/soak.svg and
                                    the table
       npm run bench -- [--repeat R] floor LEAVES
  floor LEAVES                      compares a fan-out of LEAVES tasks with the least that it costs with these servers: a
                                    request and an event per leaf over JetStream, and a row
       npm run bench -- --stack local|kubernetes [--repeat R] cost
  cost                              measures what executions and nodes cost each part, and prints the sizes for rates of nodes
       npm run bench -- typescript TASKS
  typescript TASKS                  runs a chain of TypeScript tasks on a stack with spare processes, then on one without:
                                    their outputs must be equal
       npm run bench -- --data DIR fill ROWS [NODES]
  fill ROWS [NODES]                 inserts ended executions with NODES nodes each into the stack's database
       npm run bench -- --table
                                    writes the table of docs/benchmarks.md from bench/results

Prints one line of JSON for each run: seconds from admin's timestamps; with the folder of a
local stack (--data) also the memory of its processes before, at the peak and after, MiB; of
a rate: calls per second, milliseconds, and processor time per call.
--compare runs each workload on both endpoints alternately and prints a table of the ratios;
with --stack the first endpoint is that stack.
--stack starts a stack and stops it afterwards, on its own cluster and blob store or on a real
kube-apiserver, etcd (which syncs to disk unless --volatile is given) and S3 service.
--record measures every workload five times on five stacks and writes bench/results/STACK.json
and the table; with --compare it also records the figures of the second endpoint as Go Flyte's.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    endpoint: { type: "string", default: "127.0.0.1:30080" },
    project: { type: "string", default: "flytesnacks" },
    domain: { type: "string", default: "development" },
    leaf: { type: "string", default: "echo" },
    executions: { type: "string", default: "1" },
    repeat: { type: "string" },
    compare: { type: "string" },
    stack: { type: "string" },
    volatile: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    table: { type: "boolean", default: false },
    sleep: { type: "string", default: "1" },
    keep: { type: "string", default: "120" },
    patience: { type: "string", default: "600" },
    data: { type: "string" },
    events: { type: "boolean", default: false },
    callers: { type: "string", default: "16" },
    connections: { type: "string", default: "4" },
    limit: { type: "string", default: "100" },
    filters: { type: "string", default: "" },
    token: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});

/** Workloads of a comparison without arguments. */
const DEFAULT_WORKLOADS = ["chain", "20", "chain", "100", "fan-out", "100", "fan-out", "1000"];
/**
 * Delay before and between the runs on a managed stack, ms, for background start-up, garbage
 * collection and pending writes.
 */
const WARMUP_DELAY_MS = 3_000;
/**
 * Delay between the measurements of two endpoints, ms: propeller writes the final status of an
 * ended execution 3 s after its previous write.
 */
const COOLDOWN_MS = 5_000;
/** Rates of nodes, and the size of executions, for which `cost` prints sizes. */
const SIZED = { rates: [10, 100, 1_000, 10_000], nodesPerExecution: 10 };
/** Runs of each workload that --record measures. */
const RECORDED_RUNS = 5;

const { endpoint, project, domain, data } = values;
const target = { endpoint, project, domain, timeoutMs: Number(values.patience) * 1_000 };
if (values.help) process.stdout.write(USAGE);
process.exit(values.help ? 0 : await run());

async function run(): Promise<number> {
  if (values.table) {
    writeTable();
    drawSoak();
    return 0;
  }
  if (values.record && values.stack === undefined && positionals[0] !== "soak") exitWithUsage();
  const { compare: baselineEndpoint, stack: kind } = values;
  if (baselineEndpoint !== undefined) {
    const workloads = parseWorkloadArgs(DEFAULT_WORKLOADS);
    return kind === undefined
      ? compareWith({ candidate: endpoint, baseline: baselineEndpoint }, workloads)
      : withManagedStack(kind, (own) => compareWith({ candidate: own.endpoint, baseline: baselineEndpoint }, workloads));
  }
  if (positionals[0] === "watch") return measureWatchers();
  if (positionals[0] === "console") return measurePages();
  if (positionals[0] === "soak") return measureLongRun();
  if (positionals[0] === "floor") return measureAboveFloor();
  if (positionals[0] === "typescript") return measureTasks();
  if (positionals[0] === "console-log") return measureLines();
  if (positionals[0] === "console-live") return measureChanges();
  if (positionals[0] === "cost") return measureCosts();
  if (kind !== undefined) return measureOnStacks(kind, parseWorkloadArgs(STANDARD_WORKLOADS));
  if (positionals[0] === "fill") return seed();
  if (positionals[0] === "ingest") return measureEvents();
  const rate = parseRateArgs(positionals, values);
  return rate === undefined ? measure() : measureRates(rate);
}

async function measureRates(rate: NonNullable<ReturnType<typeof parseRateArgs>>): Promise<number> {
  for (let turn = 0, failed = 0; ; ) {
    const result = await measureRate({ ...target, ...rate, memory: data === undefined ? undefined : new StackMemory(data) });
    failed += result.failed;
    print({ endpoint, ...result });
    if (++turn >= Number(values.repeat ?? 1)) return failed > 0 ? 1 : 0;
  }
}

async function measureWatchers(): Promise<number> {
  const [watchers, executions] = positionals.slice(1).map(Number);
  const usable = [watchers, executions].every((number) => Number.isInteger(number) && Number(number) > 0);
  if (!usable || positionals.length !== 3 || (data === undefined) === (values.stack !== "local")) exitWithUsage();
  const own = data === undefined ? await startManagedStack(LOCAL_BACKEND) : undefined;
  try {
    const result = await measureWatch({
      ...target,
      ...(own && { endpoint: own.endpoint }),
      watchers: Number(watchers),
      executions: Number(executions),
      connections: values.events ? 0 : Number(values.connections),
      memory: new StackMemory(own?.dataDir ?? data ?? ""),
    });
    print(result);
    return result.failed > 0 ? 1 : 0;
  } finally {
    await own?.stop();
  }
}

/** Measures on a stack, and the load of the execution after the stack has been restarted. */
async function measurePages(): Promise<number> {
  const dir = data ?? mkdtempSync(join(tmpdir(), "flyte-ts-bench-stack-"));
  try {
    await measurePagesIn(dir);
    await measureAfterRestart(dir);
    return 0;
  } finally {
    if (data === undefined) rmSync(dir, { recursive: true, force: true });
  }
}

/** Opens the execution as the first page of a process of admin, which has its stored node table. */
async function measureAfterRestart(dir: string): Promise<void> {
  const own = await startManagedStack(LOCAL_BACKEND, dir);
  try {
    await sleep(WARMUP_DELAY_MS);
    const bench = await startConsoleBench({ endpoint: own.endpoint, project, domain, name: `${SEEDED_PREFIX}1` });
    try {
      print({ afterRestart: await bench.measureLoad() });
    } finally {
      await bench.close();
    }
  } finally {
    await own.stop();
  }
}

async function measurePagesIn(dir: string): Promise<void> {
  const [nodes, rows = 0] = numericArgs(1, 2);
  const turns = Number(values.repeat ?? RECORDED_RUNS);
  const own = await startManagedStack(LOCAL_BACKEND, dir);
  try {
    const [workload] = parseWorkloads(["chain", "1"], { taskKind: values.leaf, executions: 1, sleepSeconds: 1 }) ?? exitWithUsage();
    if (workload === undefined) exitWithUsage();
    await runWorkload({ ...target, ...workload, endpoint: own.endpoint });
    await seedDatabase(own.dataDir, { project, domain, rows: 1, nodes: nodes ?? 0 });
    await withDatabase(own.dataDir, (db) => seedGraph(db, { project, domain, nodes: nodes ?? 0 }));
    const bench = await startConsoleBench({ endpoint: own.endpoint, project, domain, name: `${SEEDED_PREFIX}1` });
    try {
      const figures: ConsoleFigures[] = [];
      for (let turn = 0; turn < turns; turn++) {
        const measured = await bench.measure();
        figures.push(measured);
        print({ nodes, ...measured });
      }
      print({ nodes, medians: mediansOf(figures.map((each) => ({ ...each }))) });
    } finally {
      await bench.close();
    }
    if (rows === 0) return;
    await seedDatabase(own.dataDir, { project, domain, rows, nodes: 0 });
    const pages = { endpoint: own.endpoint, project, domain, workflow: workflowName(workload) };
    const times: PageTimes[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const pagesMs = await measurePageTimes(pages);
      times.push(pagesMs);
      print({ rows, pagesMs });
    }
    print({ rows, medians: mediansOf(times) });
  } finally {
    await own.stop();
  }
}

async function measureChanges(): Promise<number> {
  const [nodes = 0, rate = 0] = numericArgs(2, 2);
  for (let turn = 0; turn < Number(values.repeat ?? RECORDED_RUNS); turn++) {
    const own = await startManagedStack(LOCAL_BACKEND);
    try {
      const stack = readStackConfig(own.dataDir);
      print(await measureLive({ endpoint: own.endpoint, project, domain, stack, memory: new StackMemory(own.dataDir), nodes, rate }));
    } finally {
      await own.stop();
    }
  }
  return 0;
}

async function measureLongRun(): Promise<number> {
  const [executions = 0] = numericArgs(1, 1);
  if (executions % 20 !== 0) exitWithUsage();
  const keepSeconds = Number(values.keep);
  const warmup = { warmupMs: WARMUP_DELAY_MS, warmupExecutions: executions / 20 };
  return runSoak({ ...target, executions, keepSeconds, data, ...warmup, record: values.record, print });
}

/** Measures the floor and a fan-out on a new stack in turn, and prints the ratios. */
async function measureAboveFloor(): Promise<number> {
  const [leaves = 0] = numericArgs(1, 1);
  let failed = 0;
  for (let turn = 0; turn < Number(values.repeat ?? 3); turn++) {
    const floor = await measureFloor(leaves);
    print({ floor });
    failed += await withManagedStack("local", async ({ endpoint: at, dataDir }) => {
      const stack = new StackMemory(dataDir);
      const options = { ...target, endpoint: at, topology: "fan-out" as const, taskKind: "echo" as const, executions: 1, sleepSeconds: 1 };
      await runWorkload({ ...options, size: 1_000 });
      const registering = createFlyteClient({ endpoint: at });
      await register(registering, { ...options, size: leaves }).finally(() => registering.close());
      const before = stack.cpuParts();
      const result = await runWorkload({ ...options, size: leaves });
      const cpu = Object.fromEntries(Object.entries(stack.cpuParts()).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]));
      const cpuSeconds = Object.values(cpu).reduce((sum, part) => sum + part, 0);
      print({ fanOut: { leaves, seconds: result.seconds, failed: result.failed, cpu, cpuSeconds } });
      print({ ratio: { seconds: result.seconds / floor.seconds, cpuSeconds: cpuSeconds / floor.cpuSeconds } });
      return result.failed;
    });
  }
  return failed > 0 ? 1 : 0;
}

async function measureCosts(): Promise<number> {
  if (positionals.length > 1 || values.stack === undefined) exitWithUsage();
  return withManagedStack(values.stack, async (stack) => {
    const cost = await measureCost(stack, { ...target, repeat: Number(values.repeat ?? RECORDED_RUNS), onSample: print });
    process.stdout.write(`\n${costTable(cost)}\n\n${sizingTable(cost, SIZED)}\n`);
    return 0;
  });
}

async function measureTasks(): Promise<number> {
  const [size = 0] = numericArgs(1, 1);
  const outputs: string[] = [];
  for (const spares of [true, false]) {
    const measured = await measureTypeScript({ size, spares, timeoutMs: target.timeoutMs });
    outputs.push(measured.value);
    print(measured);
  }
  return new Set(outputs).size === 1 ? 0 : 1;
}

async function measureLines(): Promise<number> {
  const [lines = 0] = numericArgs(1, 1);
  const own = await startManagedStack(LOCAL_BACKEND);
  try {
    const [workload] = parseWorkloads(["chain", "1"], { taskKind: values.leaf, executions: 1, sleepSeconds: 1 }) ?? exitWithUsage();
    if (workload === undefined) exitWithUsage();
    await runWorkload({ ...target, ...workload, endpoint: own.endpoint });
    const client = createFlyteClient({ endpoint: own.endpoint });
    const [name = ""] = await newestNames(client, { project, domain }).finally(() => client.close());
    const log = { endpoint: own.endpoint, project, domain, name, node: "n0", lines };
    await measureLog(log, print, Number(values.repeat ?? RECORDED_RUNS));
    return 0;
  } finally {
    await own.stop();
  }
}

async function seed(): Promise<number> {
  const [rows, nodes] = numericArgs(1, 2);
  if (data === undefined) exitWithUsage();
  print({ filled: await seedDatabase(data, { project, domain, rows: rows ?? 0, nodes: nodes ?? 0 }) });
  return 0;
}

async function measureEvents(): Promise<number> {
  const [events] = numericArgs(1, 1);
  if (data === undefined) exitWithUsage();
  const stack = readStackConfig(data);
  const client = createFlyteClient({ endpoint });
  const names = await newestNames(client, { project, domain }).finally(() => client.close());
  let failed = 0;
  for (let turn = 0; turn < Number(values.repeat ?? 1); turn++) {
    const result = await measureIngest({ ...target, stack, names, events: events ?? 0, memory: new StackMemory(data) });
    failed += result.failed;
    print({ endpoint, ...result });
  }
  return failed > 0 ? 1 : 0;
}

/**
 * Returns the numeric arguments after the first; exits unless there are `min` to `max`
 * positive integers.
 */
function numericArgs(min: number, max: number): readonly number[] {
  const given = positionals.slice(1).map(Number);
  if (given.length < min || given.length > max || given.some((number) => !Number.isInteger(number) || number < 1)) exitWithUsage();
  return given;
}

function exitWithUsage(): never {
  process.stderr.write(USAGE);
  process.exit(2);
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify({ ...line, at: new Date().toISOString() })}\n`);
}

function parseWorkloadArgs(defaultArgs: readonly string[]): Workload[] {
  const args = positionals.length === 0 ? defaultArgs : positionals;
  const defaults = { taskKind: values.leaf, executions: Number(values.executions), sleepSeconds: Number(values.sleep) };
  return parseWorkloads(args, defaults) ?? exitWithUsage();
}

async function measure(): Promise<number> {
  const [workload, ...more] = parseWorkloadArgs([]);
  if (workload === undefined || more.length > 0) exitWithUsage();
  const options = { ...target, ...workload };
  let failed = 0;
  for (let turn = 0; turn < Number(values.repeat ?? 1); turn++) {
    const { result, memory } =
      data === undefined
        ? { result: await runWorkload(options), memory: undefined }
        : await new StackMemory(data).watch(() => runWorkload(options), sleep);
    failed += result.failed;
    print({ endpoint, ...result, memory });
  }
  return failed > 0 ? 1 : 0;
}

function stackKind(kind: string): "local" | "kubernetes" {
  return kind === "local" || kind === "kubernetes" ? kind : exitWithUsage();
}

/** Starts a stack, uses it, and stops it. */
async function withManagedStack(kind: string, use: (stack: ManagedStack) => Promise<number>): Promise<number> {
  const onProgress = (text: string) => void process.stderr.write(`${text}\n`);
  const backend = stackKind(kind) === "local" ? LOCAL_BACKEND : await startKubernetesBackend({ durable: !values.volatile, onProgress });
  try {
    const stack = await startManagedStack(backend);
    try {
      await sleep(WARMUP_DELAY_MS);
      return await use(stack);
    } finally {
      await stack.stop();
    }
  } finally {
    await backend.stop();
  }
}

/** Runs the workloads on a stack; with --record on five stacks, one after the other. */
async function measureOnStacks(kind: string, workloads: readonly Workload[]): Promise<number> {
  const stacks: Measured[][] = [];
  for (let failed = 0; ; ) {
    const measured: Measured[] = [];
    failed += await withManagedStack(kind, (stack) => measureStandardWorkloads(stack, workloads, measured));
    stacks.push(measured);
    if (values.record && stacks.length < RECORDED_RUNS) continue;
    if (values.record) recordResults(stackKind(kind), groupRuns(stacks));
    return failed > 0 ? 1 : 0;
  }
}

async function measureStandardWorkloads(stack: ManagedStack, workloads: readonly Workload[], measured: Measured[]): Promise<number> {
  const watched = new StackMemory(stack.dataDir);
  for (const workload of workloads.flatMap((each) => Array.from({ length: Number(values.repeat ?? 1) }, () => each))) {
    const options = { ...target, endpoint: stack.endpoint, ...workload };
    const { result, memory } = await watched.watch(
      () => runWorkload(options),
      () => sleep(WARMUP_DELAY_MS),
    );
    measured.push({ ...result, memory });
    print({ stack: values.stack, ...result, memory });
  }
  process.stdout.write(`\n${resultTable(measured)}\n`);
  return measured.some(({ failed }) => failed > 0) ? 1 : 0;
}

async function compareWith(
  sides: { readonly candidate: string; readonly baseline: string },
  workloads: readonly Workload[],
): Promise<number> {
  let failed = 0;
  const runs: Record<string, Measurement[]> = { [sides.candidate]: [], [sides.baseline]: [] };
  const onMeasured = (at: string, measurement: Measurement) => {
    failed += measurement.failed;
    runs[at]?.push(measurement);
    print({ endpoint: at, ...measurement });
  };
  const rounds = Number(values.repeat ?? (values.record ? RECORDED_RUNS : 3));
  const compared = await compare({
    ...sides,
    workloads: workloads.map((workload) => ({ ...target, ...workload })),
    rounds,
    cooldown: () => sleep(COOLDOWN_MS),
    run: runWorkload,
    onMeasured,
  });
  for (const row of compared) process.stdout.write(`${JSON.stringify({ compared: sides, ...row })}\n`);
  process.stdout.write(`\n${comparisonTable(compared, sides)}\n`);
  if (values.record && values.stack !== undefined)
    recordResults(stackKind(values.stack), groupComparison(runs[sides.candidate] ?? [], runs[sides.baseline] ?? []));
  return failed > 0 ? 1 : 0;
}
