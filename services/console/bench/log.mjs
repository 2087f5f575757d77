// Prints how long a large log takes: reading its messages, searches, and the memory that it needs.
//   node services/console/bench/log.mjs [LINES]     default 1000000; packages must be built
import "./source-hooks.mjs";
import { performance } from "node:perf_hooks";

const { create, toBinary } = await import("@bufbuild/protobuf");
const { FollowLogResponseSchema } = await import("@flyte-ts/idl/flytets/admin/v1/live_pb");
const { LineStore } = await import("../src/log/text/line-store.ts");
const { LineSearch } = await import("../src/log/text/line-search.ts");
const { readLogMessage } = await import("../src/log/session/read-log-message.ts");

const lines = Number(process.argv[2] ?? 1_000_000);
const LINES_OF_MESSAGE = 500;
const RUNS = 3;

const lineAt = (at) => ({
  time: new Date(1_700_000_000_000 + at * 7).toISOString(),
  text: `INFO  fit: step ${at} of region ${at % 97}, loss ${(1 / (at + 1)).toFixed(8)}, ${at % 9_973 === 0 ? "value is missing" : "ok"} for station DE-${at % 12_345}`,
});
const messages = Array.from({ length: Math.ceil(lines / LINES_OF_MESSAGE) }, (_, at) => {
  const from = at * LINES_OF_MESSAGE;
  const count = Math.min(LINES_OF_MESSAGE, lines - from);
  return toBinary(
    FollowLogResponseSchema,
    create(FollowLogResponseSchema, { cursor: `c${at}`, lines: Array.from({ length: count }, (__, line) => lineAt(from + line)) }),
  );
});

function measure(name, run) {
  const times = [];
  let result;
  for (let at = 0; at < RUNS; at++) {
    const start = performance.now();
    result = run();
    times.push(performance.now() - start);
  }
  const sorted = times.toSorted((a, b) => a - b);
  process.stdout.write(
    `${name.padEnd(40)} first ${times[0].toFixed(0).padStart(6)} ms, median ${sorted[RUNS >> 1].toFixed(0).padStart(6)} ms\n`,
  );
  return result;
}

const store = measure("read the messages and append their lines", () => {
  const made = new LineStore();
  for (const message of messages) readLogMessage(message, (text, timeMs) => made.appendLine(text, timeMs));
  return made;
});
const ratio = (store.memoryBytes / store.size).toFixed(3);
process.stdout.write(
  `${store.length} lines, ${(store.size / 1e6).toFixed(1)} MB, memory ${(store.memoryBytes / 1e6).toFixed(1)} MB = ${ratio} × text\n`,
);
for (const query of [
  { text: "missing", isRegex: false },
  { text: "Station de-12", isRegex: false },
  { text: "e", isRegex: false },
  { text: "nowhere", isRegex: false },
  { text: "zürich", isRegex: false },
  { text: "region (17|18),", isRegex: true },
  { text: String.raw`loss\s+0\.0+1`, isRegex: true },
]) {
  const found = measure(`search ${query.isRegex ? "/" : '"'}${query.text}${query.isRegex ? "/" : '"'}`, () => {
    const search = new LineSearch(query);
    while (search.step(store));
    return search.count;
  });
  process.stdout.write(`  ${found} lines\n`);
}
measure("decode 100,000 lines", () => {
  let length = 0;
  for (let at = 0; at < 100_000; at++) length += store.text((at * 7919) % store.length).length;
  return length;
});
