import { parseArgs } from "node:util";
import { runShape } from "./run-shape.js";
import type { Leaf, Shape } from "./workflows.js";

const USAGE = `usage: npm run bench -- [--endpoint host:port] [--leaf echo|core-sleep] [--executions K] [--repeat R] chain|fan-out SIZE
prints one JSON line a run: seconds as admin reports them
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
  },
});
const [shape, size] = positionals;
if (
  (shape !== "chain" && shape !== "fan-out") ||
  !Number.isInteger(Number(size)) ||
  (values.leaf !== "echo" && values.leaf !== "core-sleep")
) {
  process.stderr.write(USAGE);
  process.exit(2);
}
let failed = 0;
for (let turn = 0; turn < Number(values.repeat); turn++) {
  const measurement = await runShape({
    endpoint: values.endpoint,
    project: values.project,
    domain: values.domain,
    shape: shape satisfies Shape,
    size: Number(size),
    executions: Number(values.executions),
    leaf: values.leaf satisfies Leaf,
    sleepSeconds: Number(values.sleep),
    patienceMs: Number(values.patience) * 1_000,
  });
  failed += measurement.failed;
  process.stdout.write(`${JSON.stringify({ endpoint: values.endpoint, ...measurement, at: new Date().toISOString() })}\n`);
}
process.exit(failed > 0 ? 1 : 0);
