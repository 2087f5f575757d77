import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { StackMemory } from "./memory.js";
import { runShape } from "./run-shape.js";
import type { Leaf, Shape } from "./workflows.js";

const USAGE = `usage: npm run bench -- [--endpoint host:port] [--leaf echo|core-sleep] [--executions K] [--repeat R] [--data DIR] SHAPE
  chain SIZE | fan-out SIZE         so many leaves one after the other, or all at once
  sleep EXECUTIONS LEAVES SECONDS   executions of so many leaves that all sleep at once
prints one JSON line a run: seconds as admin reports them; with the folder of a local
stack (--data) also the memory of all its processes before, at most and after, MiB
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    endpoint: { type: "string", default: "127.0.0.1:30080" },
    project: { type: "string", default: "flytesnacks" },
    domain: { type: "string", default: "development" },
    leaf: { type: "string", default: "echo" },
    executions: { type: "string", default: "1" },
    repeat: { type: "string", default: "1" },
    sleep: { type: "string", default: "1" },
    patience: { type: "string", default: "600" },
    data: { type: "string" },
  },
});
interface Work {
  readonly shape: Shape;
  readonly size: number;
  readonly leaf: Leaf;
  readonly executions: number;
  readonly sleepSeconds: number;
}

function parseWork(): Work | undefined {
  const [shape, ...rest] = positionals;
  const numbers = rest.map(Number);
  if (numbers.some((number) => !Number.isInteger(number) || number < 1)) return undefined;
  const [first = 0, leaves = 0, seconds = 0] = numbers;
  if (shape === "sleep" && numbers.length === 3)
    return { shape: "fan-out", size: leaves, leaf: "core-sleep", executions: first, sleepSeconds: seconds };
  const { leaf } = values;
  if ((shape !== "chain" && shape !== "fan-out") || numbers.length !== 1 || (leaf !== "echo" && leaf !== "core-sleep")) return undefined;
  return { shape, size: first, leaf, executions: Number(values.executions), sleepSeconds: Number(values.sleep) };
}

const work = parseWork();
if (work === undefined) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const { endpoint, project, domain, data } = values;
const options = { endpoint, project, domain, ...work, patienceMs: Number(values.patience) * 1_000 };
let failed = 0;
for (let turn = 0; turn < Number(values.repeat); turn++) {
  const { result, memory } =
    data === undefined
      ? { result: await runShape(options), memory: undefined }
      : await new StackMemory(data).watch(() => runShape(options), sleep);
  failed += result.failed;
  process.stdout.write(`${JSON.stringify({ endpoint, ...result, memory, at: new Date().toISOString() })}\n`);
}
process.exit(failed > 0 ? 1 : 0);
