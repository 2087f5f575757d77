import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createFlyteClient } from "@flyte-ts/client";
import { compare, comparisonTable } from "./compare.js";
import { OWN_GROUND, startRealGround } from "./ground.js";
import { DESIGN_SHAPES, type Measured, measuredTable } from "./measured-table.js";
import { StackMemory } from "./memory.js";
import { fill, readRate } from "./rate/words.js";
import { measureIngest } from "./rate/measure-ingest.js";
import { measureRate, newest } from "./rate/measure-rate.js";
import { readStackConfig } from "./rate/stack-config.js";
import { type OwnStack, startOwnStack } from "./own-stack.js";
import { type Measurement, runShape } from "./run-shape.js";
import { measureWatch } from "./watch/measure-watch.js";
import { readWorks, type Work } from "./work.js";

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
const USUAL = ["chain", "20", "chain", "100", "fan-out", "100", "fan-out", "1000"];
/**
 * Delay before and between the runs on a managed stack, ms, for background start-up, garbage
 * collection and pending writes.
 */
const PAUSE_MS = 3_000;
/**
 * Delay between two sides, ms: admin writes the ends of executions for the last time 3 s after the
 * previous ones.
 */
const REST_MS = 5_000;

const { endpoint, project, domain, data } = values;
const where = { endpoint, project, domain, patienceMs: Number(values.patience) * 1_000 };
if (values.help) process.stdout.write(USAGE);
process.exit(values.help ? 0 : await run());

function run(): Promise<number> {
  const { compare: there, stack: kind } = values;
  if (there !== undefined) {
    const shapes = works(USUAL);
    return kind === undefined
      ? compareWith({ here: endpoint, there }, shapes)
      : onOwnStack(kind, (own) => compareWith({ here: own.endpoint, there }, shapes));
  }
  if (positionals[0] === "watch") return measureWatchers();
  if (kind !== undefined) {
    const shapes = works(DESIGN_SHAPES);
    return onOwnStack(kind, (stack) => measureOwn(stack, shapes));
  }
  if (positionals[0] === "fill") return fillDatabase();
  if (positionals[0] === "ingest") return measureEvents();
  const rate = readRate(positionals, values);
  return rate === undefined ? measure() : measureRates(rate);
}

async function measureRates(rate: NonNullable<ReturnType<typeof readRate>>): Promise<number> {
  for (let turn = 0, failed = 0; ; ) {
    const result = await measureRate({ ...where, ...rate, memory: data === undefined ? undefined : new StackMemory(data) });
    failed += result.failed;
    print({ endpoint, ...result });
    if (++turn >= Number(values.repeat ?? 1)) return failed > 0 ? 1 : 0;
  }
}

async function measureWatchers(): Promise<number> {
  const [watchers, executions] = positionals.slice(1).map(Number);
  const usable = [watchers, executions].every((number) => Number.isInteger(number) && Number(number) > 0);
  if (!usable || positionals.length !== 3 || (data === undefined) === (values.stack !== "local")) refuse();
  const own = data === undefined ? await startOwnStack(OWN_GROUND) : undefined;
  try {
    const result = await measureWatch({
      ...where,
      ...(own && { endpoint: own.endpoint }),
      watchers: Number(watchers),
      executions: Number(executions),
      connections: values.events ? 0 : Number(values.connections),
      memory: new StackMemory(own?.data ?? data ?? ""),
    });
    print(result);
    return result.failed > 0 ? 1 : 0;
  } finally {
    await own?.stop();
  }
}

async function fillDatabase(): Promise<number> {
  const [rows, nodes] = numbers(1, 2);
  if (data === undefined) refuse();
  print({ filled: await fill(data, { project, domain, rows: rows ?? 0, nodes: nodes ?? 0 }) });
  return 0;
}

async function measureEvents(): Promise<number> {
  const [events] = numbers(1, 1);
  if (data === undefined) refuse();
  const stack = readStackConfig(data);
  const client = createFlyteClient({ endpoint });
  const names = await newest(client, { project, domain }).finally(() => client.close());
  let failed = 0;
  for (let turn = 0; turn < Number(values.repeat ?? 1); turn++) {
    const result = await measureIngest({ ...where, stack, names, events: events ?? 0, memory: new StackMemory(data) });
    failed += result.failed;
    print({ endpoint, ...result });
  }
  return failed > 0 ? 1 : 0;
}

/**
 * Returns the numeric arguments after the first; exits when they are not between `least` and `most`
 * positive numbers.
 */
function numbers(least: number, most: number): readonly number[] {
  const given = positionals.slice(1).map(Number);
  if (given.length < least || given.length > most || given.some((number) => !Number.isInteger(number) || number < 1)) refuse();
  return given;
}

function refuse(): never {
  process.stderr.write(USAGE);
  process.exit(2);
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify({ ...line, at: new Date().toISOString() })}\n`);
}

function works(usual: readonly string[]): Work[] {
  const words = positionals.length === 0 ? usual : positionals;
  const defaults = { leaf: values.leaf, executions: Number(values.executions), sleepSeconds: Number(values.sleep) };
  return readWorks(words, defaults) ?? refuse();
}

async function measure(): Promise<number> {
  const [work, ...more] = works([]);
  if (work === undefined || more.length > 0) refuse();
  const options = { ...where, ...work };
  let failed = 0;
  for (let turn = 0; turn < Number(values.repeat ?? 1); turn++) {
    const { result, memory } =
      data === undefined
        ? { result: await runShape(options), memory: undefined }
        : await new StackMemory(data).watch(() => runShape(options), sleep);
    failed += result.failed;
    print({ endpoint, ...result, memory });
  }
  return failed > 0 ? 1 : 0;
}

/** Starts a stack, uses it, and stops it. */
async function onOwnStack(kind: string, use: (stack: OwnStack) => Promise<number>): Promise<number> {
  if (kind !== "local" && kind !== "kubernetes") refuse();
  const tell = (text: string) => void process.stderr.write(`${text}\n`);
  const ground = kind === "local" ? OWN_GROUND : await startRealGround({ durable: !values.volatile, tell });
  try {
    const stack = await startOwnStack(ground);
    try {
      await sleep(PAUSE_MS);
      return await use(stack);
    } finally {
      await stack.stop();
    }
  } finally {
    await ground.stop();
  }
}

async function measureOwn(stack: OwnStack, shapes: readonly Work[]): Promise<number> {
  const measured: Measured[] = [];
  const watched = new StackMemory(stack.data);
  for (const work of shapes.flatMap((work) => Array.from({ length: Number(values.repeat ?? 1) }, () => work))) {
    const options = { ...where, endpoint: stack.endpoint, ...work };
    const { result, memory } = await watched.watch(
      () => runShape(options),
      () => sleep(PAUSE_MS),
    );
    measured.push({ ...result, memory });
    print({ stack: values.stack, ...result, memory });
  }
  process.stdout.write(`\n${measuredTable(measured)}\n`);
  return measured.some(({ failed }) => failed > 0) ? 1 : 0;
}

async function compareWith(sides: { readonly here: string; readonly there: string }, shapes: readonly Work[]): Promise<number> {
  let failed = 0;
  const onMeasured = (at: string, measurement: Measurement) => {
    failed += measurement.failed;
    print({ endpoint: at, ...measurement });
  };
  const rounds = Number(values.repeat ?? 3);
  const compared = await compare({
    ...sides,
    shapes: shapes.map((work) => ({ ...where, ...work })),
    rounds,
    rest: () => sleep(REST_MS),
    run: runShape,
    onMeasured,
  });
  for (const row of compared) process.stdout.write(`${JSON.stringify({ compared: sides, ...row })}\n`);
  process.stdout.write(`\n${comparisonTable(compared, sides)}\n`);
  return failed > 0 ? 1 : 0;
}
