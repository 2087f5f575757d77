import { expect, test } from "vitest";
import { type Evidence, findInconsistencies } from "./check-evidence.js";
import type { ExecutionRecord, NodeRecord, Row } from "./evidence.js";

const START = 1_800_000_000_000;
const ns = (ms: number) => BigInt(ms) * 1_000_000n;

const node = (execution: string, change: Partial<NodeRecord> & Pick<NodeRecord, "node">): NodeRecord => {
  const { phase = "SUCCEEDED" } = change;
  const end = { phase, startedAt: START + 10, updatedAt: START + 20, hasError: phase === "FAILED" };
  const output = phase === "SUCCEEDED" ? "v-small" : undefined;
  const attempts = [{ key: `${execution}-${change.node}-0`, attempt: 0, ...end, output }];
  return { ...end, output, cache: "CACHE_DISABLED", child: undefined, attempts, ...change };
};

const small = (name: string): ExecutionRecord => ({
  name,
  phase: "SUCCEEDED",
  createdAt: START,
  startedAt: START + 5,
  updatedAt: START + 30,
  error: "",
  output: "v-small",
  nodes: [node(name, { node: "n0" }), node(name, { node: "n1" })],
});

const failing = (name: string): ExecutionRecord => ({
  ...small(name),
  phase: "FAILED",
  output: undefined,
  error: `[n0]: planned failure of ${name}`,
  nodes: [node(name, { node: "n0", phase: "FAILED" })],
});

const rowsOf = ({ name, phase, nodes }: ExecutionRecord): Row[] => {
  const row = (id: string, of: string): Row => ({ id, phase: of, startedNs: ns(START + 5), endedNs: ns(START + 30) });
  return [
    row(name, phase),
    ...nodes.flatMap((each) => [
      row(`${name}/${each.node}`, each.phase),
      ...each.attempts.map((attempt) => row(`${name}/${each.node}/${attempt.attempt}`, attempt.phase)),
    ]),
  ];
};

/**
 * A round with an execution that succeeded, one that failed, and one that passes on a child's
 * output.
 */
function whole(change: (records: Record<"a" | "b" | "p" | "c", ExecutionRecord>) => void = () => undefined): Evidence {
  const passing = node("p", { node: "n0", attempts: [], child: "c" });
  const records = { a: small("a"), b: failing("b"), p: { ...small("p"), nodes: [passing, node("p", { node: "n1" })] }, c: small("c") };
  change(records);
  const rows = Object.values(records).flatMap(rowsOf);
  return {
    requested: [
      { name: "a", scenario: "small", x: "v" },
      { name: "b", scenario: "fails", x: "v" },
      { name: "p", scenario: "parent", x: "v" },
      { name: "c", scenario: "small", x: "v" },
    ],
    records: new Map(Object.entries(records)),
    rows,
    journal: Object.values(records).flatMap(({ name, nodes }) =>
      nodes.flatMap(({ attempts }) => attempts.map(({ key, attempt }) => ({ execution: name, key, attempt, at: START + 12 }))),
    ),
    firstStarts: new Map(rows.map(({ id }) => [id, ns(START + 5)])),
    podsLost: false,
  };
}

test("completely recorded ends have no findings", () => {
  expect(findInconsistencies(whole())).toEqual([]);
});

const changed = (record: ExecutionRecord, index: number, change: Partial<NodeRecord>): ExecutionRecord => ({
  ...record,
  nodes: record.nodes.map((each, at) => (at === index ? { ...each, ...change } : each)),
});
const attempt = (of: NodeRecord | undefined, change: object) => of?.attempts.map((each) => ({ ...each, ...change })) ?? [];

type Plant = (records: Record<"a" | "b" | "p" | "c", ExecutionRecord>) => void;
const PLANTED: readonly (readonly [string, Plant, string])[] = [
  ["outputs of an execution", (r) => void (r.a = { ...r.a, output: undefined }), "a (small) has the output none, not v-small"],
  ["other outputs", (r) => void (r.a = { ...r.a, output: "w-small" }), "a (small) has the output w-small"],
  ["outputs of a parent", (r) => void (r.p = { ...r.p, output: undefined }), "p (parent) has the output none"],
  ["outputs of a child", (r) => void (r.c = { ...r.c, output: undefined }), "c (small) has the output none"],
  ["name of a child", (r) => void (r.p = changed(r.p, 0, { child: undefined })), "p (parent) does not name its child"],
  ["outputs of a node", (r) => void (r.a = changed(r.a, 0, { output: undefined })), "node n0 has lost its outputs"],
  [
    "outputs of an attempt",
    (r) => void (r.a = changed(r.a, 1, { attempts: attempt(r.a.nodes[1], { output: undefined }) })),
    "attempt 0 has lost its outputs",
  ],
  ["error of an execution", (r) => void (r.b = { ...r.b, error: "EndNotReported" }), 'b (fails) has the error "EndNotReported"'],
  ["error of a node", (r) => void (r.b = changed(r.b, 0, { hasError: false })), "node n0 has lost its error"],
  [
    "error of an attempt",
    (r) => void (r.b = changed(r.b, 0, { attempts: attempt(r.b.nodes[0], { hasError: false }) })),
    "attempt 0 has lost its error",
  ],
  ["an unexpected failure", (r) => void (r.a = { ...r.a, phase: "FAILED" }), "a (small) ended FAILED, not SUCCEEDED"],
  ["an unexpected success", (r) => void (r.b = { ...r.b, phase: "SUCCEEDED" }), "b (fails) ended SUCCEEDED, not FAILED"],
  ["an open node", (r) => void (r.a = changed(r.a, 1, { phase: "RUNNING" })), "node n1 has not ended: RUNNING"],
  [
    "an open attempt",
    (r) => void (r.a = changed(r.a, 0, { attempts: attempt(r.a.nodes[0], { phase: "RUNNING" }) })),
    "attempt 0 has not ended: RUNNING",
  ],
  ["a node", (r) => void (r.a = { ...r.a, nodes: r.a.nodes.slice(0, 1) }), "node n1 is not there"],
  [
    "an attempt before the last",
    (r) => void (r.a = changed(r.a, 0, { attempts: attempt(r.a.nodes[0], { attempt: 1 }) })),
    "has the attempts 1",
  ],
  [
    "a start that is too late",
    (r) => void (r.a = { ...r.a, startedAt: START + 60_000 }),
    "a (small) started 59988 ms after its first task",
  ],
  [
    "the start of an attempt",
    (r) => void (r.a = changed(r.a, 0, { attempts: attempt(r.a.nodes[0], { startedAt: START + 5_000 }) })),
    "a-n0-0 started 4988 ms after its process",
  ],
  ["an end before the start", (r) => void (r.a = { ...r.a, updatedAt: START + 1 }), "it ended before it started"],
  ["a start before the creation", (r) => void (r.a = { ...r.a, startedAt: START - 1 }), "it started before it was created"],
];

test.each(PLANTED)("the check finds: %s", (_, plant, finding) => {
  expect(findInconsistencies(whole(plant))).toContainEqual(expect.stringContaining(finding));
});

test("the check finds lost cache statuses", () => {
  const evidence = whole();
  const requested = evidence.requested.map((each) => (each.name === "a" ? { ...each, scenario: "cached" as const } : each));
  expect(findInconsistencies({ ...evidence, requested })).toEqual([
    expect.stringContaining("node n0 has lost its cache status: CACHE_DISABLED"),
  ]);
});

test("the check finds inconsistent database rows", () => {
  const evidence = whole();
  const rows = (change: (row: Row) => Row[]) => findInconsistencies({ ...evidence, rows: evidence.rows.flatMap(change) });
  const only = (id: string, change: Partial<Row>) => rows((row) => [row.id === id ? { ...row, ...change } : row]);
  expect(only("a/n0", { startedNs: ns(START + 6) })).toEqual([expect.stringContaining("row a/n0: its start was")]);
  expect(only("a/n0/0", { phase: "RUNNING" })).toContain("row a/n0/0 has not ended: RUNNING");
  expect(only("a", { phase: "FAILED" })).toContain("row a is FAILED, the API says SUCCEEDED");
  expect(only("a", { endedNs: undefined })).toContain("row a has no end");
  expect(rows((row) => (row.id === "b" ? [] : [row]))).toContain("b: no row");
});

test("the check finds contradictions to the journal", () => {
  const evidence = whole();
  const [line] = evidence.journal;
  if (line === undefined) throw new Error("an empty journal");
  expect(findInconsistencies({ ...evidence, journal: [...evidence.journal, line] })).toEqual(["a-n0-0 began 2 times"]);
  const unknown = { ...line, key: "a-n0-1" };
  expect(findInconsistencies({ ...evidence, journal: [...evidence.journal, unknown] })).toEqual([
    "a-n0-1 ran, and the API does not know this attempt",
  ]);
});
