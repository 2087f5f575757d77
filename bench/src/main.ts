import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { compare, comparisonTable } from "./compare.js";
import { StackMemory } from "./memory.js";
import { fill, readRate } from "./rate/words.js";
import { measureRate } from "./rate/measure-rate.js";
import { type Measurement, runShape } from "./run-shape.js";
import type { Leaf, Shape } from "./workflows.js";

const USAGE = `usage: npm run bench -- [--endpoint host:port] [--leaf echo|core-sleep] [--executions K] [--repeat R] [--data DIR] SHAPE
       npm run bench -- --compare host:port [flags] [chain SIZE | fan-out SIZE]...
  chain SIZE | fan-out SIZE         so many leaves one after the other, or all at once
  map SIZE                          one array node with so many items
  sleep EXECUTIONS LEAVES SECONDS   executions of so many leaves that all sleep at once
       npm run bench -- [--endpoint host:port] [--data DIR] [--callers N] [--connections N] RATE
  get SECONDS [ROWS]                GetExecution without a pause: of the newest 100, or of so many filled ones
  list SECONDS                      ListExecutions, newest first; --limit 100, --filters …, --token OFFSET
  create SECONDS                    CreateExecution of a chain of 1, until all have begun
       npm run bench -- --data DIR fill ROWS
  fill ROWS                         so many executions that have ended, written to the stack's database
prints one JSON line a run: seconds as admin reports them; with the folder of a local
stack (--data) also the memory of all its processes before, at most and after, MiB;
of a rate: calls a second, milliseconds, processor time a call;
with --compare each shape runs on both endpoints in turn, and a table of the ratios follows
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
    sleep: { type: "string", default: "1" },
    patience: { type: "string", default: "600" },
    data: { type: "string" },
    callers: { type: "string", default: "16" },
    connections: { type: "string", default: "4" },
    limit: { type: "string", default: "100" },
    filters: { type: "string", default: "" },
    token: { type: "string", default: "" },
  },
});
interface Work {
  readonly shape: Shape;
  readonly size: number;
  readonly leaf: Leaf;
  readonly executions: number;
  readonly sleepSeconds: number;
}

function readWork(words: readonly string[]): Work | undefined {
  const [shape, ...rest] = words;
  const numbers = rest.map(Number);
  if (numbers.some((number) => !Number.isInteger(number) || number < 1)) return undefined;
  const [first = 0, leaves = 0, seconds = 0] = numbers;
  if (shape === "sleep" && numbers.length === 3)
    return { shape: "fan-out", size: leaves, leaf: "core-sleep", executions: first, sleepSeconds: seconds };
  const { leaf } = values;
  if ((shape !== "chain" && shape !== "fan-out" && shape !== "map") || numbers.length !== 1 || (leaf !== "echo" && leaf !== "core-sleep"))
    return undefined;
  return { shape, size: first, leaf, executions: Number(values.executions), sleepSeconds: Number(values.sleep) };
}

/** What is compared when nothing is said. */
const USUAL = ["chain", "20", "chain", "100", "fan-out", "100", "fan-out", "1000"];

const { endpoint, project, domain, data } = values;
const where = { endpoint, project, domain, patienceMs: Number(values.patience) * 1_000 };
process.exit(await run());

async function run(): Promise<number> {
  if (values.compare !== undefined) return compareWith(values.compare);
  if (positionals[0] === "fill") return fillDatabase();
  const rate = readRate(positionals, values);
  if (rate === undefined) return measure(readWork(positionals));
  for (let turn = 0, failed = 0; ; ) {
    const result = await measureRate({ ...where, ...rate, memory: data === undefined ? undefined : new StackMemory(data) });
    failed += result.failed;
    process.stdout.write(`${JSON.stringify({ endpoint, ...result, at: new Date().toISOString() })}\n`);
    if (++turn >= Number(values.repeat ?? 1)) return failed > 0 ? 1 : 0;
  }
}

async function fillDatabase(): Promise<number> {
  const rows = Number(positionals[1]);
  if (data === undefined || !Number.isInteger(rows) || rows < 1) refuse();
  process.stdout.write(`${JSON.stringify({ filled: await fill(data, { project, domain, rows }), at: new Date().toISOString() })}\n`);
  return 0;
}

function refuse(): never {
  process.stderr.write(USAGE);
  process.exit(2);
}

async function measure(work: Work | undefined): Promise<number> {
  if (work === undefined) refuse();
  const options = { ...where, ...work };
  let failed = 0;
  for (let turn = 0; turn < Number(values.repeat ?? 1); turn++) {
    const { result, memory } =
      data === undefined
        ? { result: await runShape(options), memory: undefined }
        : await new StackMemory(data).watch(() => runShape(options), sleep);
    failed += result.failed;
    process.stdout.write(`${JSON.stringify({ endpoint, ...result, memory, at: new Date().toISOString() })}\n`);
  }
  return failed > 0 ? 1 : 0;
}

async function compareWith(there: string): Promise<number> {
  const words = positionals.length === 0 ? USUAL : positionals;
  const shapes: Work[] = [];
  for (let i = 0; i < words.length; i += 2) shapes.push(readWork(words.slice(i, i + 2)) ?? refuse());
  let failed = 0;
  const onMeasured = (at: string, measurement: Measurement) => {
    failed += measurement.failed;
    process.stdout.write(`${JSON.stringify({ endpoint: at, ...measurement, at: new Date().toISOString() })}\n`);
  };
  const sides = { here: endpoint, there };
  const rounds = Number(values.repeat ?? 3);
  const compared = await compare({ ...sides, shapes: shapes.map((work) => ({ ...where, ...work })), rounds, run: runShape, onMeasured });
  for (const row of compared) process.stdout.write(`${JSON.stringify({ compared: sides, ...row })}\n`);
  process.stdout.write(`\n${comparisonTable(compared, sides)}\n`);
  return failed > 0 ? 1 : 0;
}
