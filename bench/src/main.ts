import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createFlyteClient } from "@flyte-ts/client";
import { compare, comparisonTable } from "./compare.js";
import { LOCAL_BACKEND, startKubernetesBackend } from "./backend.js";
import { STANDARD_WORKLOADS, type Measured, resultTable } from "./result-table.js";
import { StackMemory } from "./memory.js";
import { seedDatabase, parseRateArgs } from "./rate/parse-args.js";
import { measureIngest } from "./rate/measure-ingest.js";
import { measureRate, newestNames } from "./rate/measure-rate.js";
import { readStackConfig } from "./rate/stack-config.js";
import { type ManagedStack, startManagedStack } from "./managed-stack.js";
import { type Measurement, runWorkload } from "./run-workload.js";
import { measureWatch } from "./watch/measure-watch.js";
import { parseWorkloads, type Workload } from "./workload.js";

const USAGE = `usage: npm run bench -- [--endpoint host:port] [--leaf echo|core-sleep] [--executions K] [--repeat R] [--data DIR] SHAPE
       npm run bench -- --compare host:port [flags] [SHAPE]...
       npm run bench -- --stack local|kubernetes [--volatile] [--compare host:port] [flags] [SHAPE]...
  chain SIZE | fan-out SIZE         so many leaves one after the other, or all at once; KxSIZE: K executions
  map SIZE                          one array node with so many items
  sleep EXECUTIONS LEAVES SECONDS   executions of so many leaves that all sleep at once
       npm run bench -- [--endpoint host:port] [--data DIR] [--callers N] [--connections N] RATE
  get SECONDS [ROWS]                GetExecution without a pause: of the newest 100, or of so many filled ones
  list SECONDS                      ListExecutions, newest first; --limit 100, --filters …, --token OFFSET
  create SECONDS                    CreateExecution of a chain of 1, until all have begun
       npm run bench -- --data DIR ingest EVENTS
  ingest EVENTS                     so many events of nodes sent over the bus, until admin has recorded them
       npm run bench -- --data DIR [--events] [--connections N] watch WATCHERS EXECUTIONS
  watch WATCHERS EXECUTIONS         so many follow that many executions, by gRPC streams or (--events) server-sent events;
                                    with --stack local instead of --data on a stack of its own
       npm run bench -- --data DIR fill ROWS [NODES]
  fill ROWS [NODES]                 so many executions that have ended, with so many nodes each, written to the stack's database
prints one JSON line a run: seconds as admin reports them; with the folder of a local
stack (--data) also the memory of all its processes before, at most and after, MiB;
of a rate: calls a second, milliseconds, processor time a call;
with --compare each shape runs on both endpoints in turn, and a table of the ratios follows
(with --stack the first of them is that stack);
with --stack a stack is started for it, on its own cluster and blob store or on a real
kube-apiserver, etcd (which syncs to disk, unless --volatile) and S3 service, and ended after
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
    sleep: { type: "string", default: "1" },
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
 * Delay between two sides, ms: admin writes the ends of executions for the last time 3 s after the
 * previous ones.
 */
const COOLDOWN_MS = 5_000;

const { endpoint, project, domain, data } = values;
const target = { endpoint, project, domain, patienceMs: Number(values.patience) * 1_000 };
if (values.help) process.stdout.write(USAGE);
process.exit(values.help ? 0 : await run());

function run(): Promise<number> {
  const { compare: baselineEndpoint, stack: kind } = values;
  if (baselineEndpoint !== undefined) {
    const shapes = parseWorkloadArgs(DEFAULT_WORKLOADS);
    return kind === undefined
      ? compareWith({ here: endpoint, there: baselineEndpoint }, shapes)
      : withManagedStack(kind, (own) => compareWith({ here: own.endpoint, there: baselineEndpoint }, shapes));
  }
  if (positionals[0] === "watch") return measureWatchers();
  if (kind !== undefined) {
    const shapes = parseWorkloadArgs(STANDARD_WORKLOADS);
    return withManagedStack(kind, (stack) => measureStandardWorkloads(stack, shapes));
  }
  if (positionals[0] === "fill") return seedDatabase();
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

async function seedDatabase(): Promise<number> {
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
 * Returns the numeric arguments after the first; exits when they are not between `least` and `most`
 * positive numbers.
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

function parseWorkloadArgs(usual: readonly string[]): Workload[] {
  const args = positionals.length === 0 ? usual : positionals;
  const defaults = { leaf: values.leaf, executions: Number(values.executions), sleepSeconds: Number(values.sleep) };
  return parseWorkloads(args, defaults) ?? exitWithUsage();
}

async function measure(): Promise<number> {
  const [work, ...more] = parseWorkloadArgs([]);
  if (work === undefined || more.length > 0) exitWithUsage();
  const options = { ...target, ...work };
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

/** Starts a stack, uses it, and stops it. */
async function withManagedStack(kind: string, use: (stack: ManagedStack) => Promise<number>): Promise<number> {
  if (kind !== "local" && kind !== "kubernetes") exitWithUsage();
  const onProgress = (text: string) => void process.stderr.write(`${text}\n`);
  const backend = kind === "local" ? LOCAL_BACKEND : await startKubernetesBackend({ durable: !values.volatile, onProgress });
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

async function measureStandardWorkloads(stack: ManagedStack, shapes: readonly Workload[]): Promise<number> {
  const measured: Measured[] = [];
  const watched = new StackMemory(stack.dataDir);
  for (const work of shapes.flatMap((work) => Array.from({ length: Number(values.repeat ?? 1) }, () => work))) {
    const options = { ...target, endpoint: stack.endpoint, ...work };
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

async function compareWith(sides: { readonly here: string; readonly there: string }, shapes: readonly Workload[]): Promise<number> {
  let failed = 0;
  const onMeasured = (at: string, measurement: Measurement) => {
    failed += measurement.failed;
    print({ endpoint: at, ...measurement });
  };
  const rounds = Number(values.repeat ?? 3);
  const compared = await compare({
    ...sides,
    workloads: shapes.map((work) => ({ ...target, ...work })),
    rounds,
    cooldown: () => sleep(COOLDOWN_MS),
    run: runWorkload,
    onMeasured,
  });
  for (const row of compared) process.stdout.write(`${JSON.stringify({ compared: sides, ...row })}\n`);
  process.stdout.write(`\n${comparisonTable(compared, sides)}\n`);
  return failed > 0 ? 1 : 0;
}
