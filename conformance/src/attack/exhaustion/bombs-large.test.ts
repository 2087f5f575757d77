import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { DescMethod } from "@bufbuild/protobuf";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { anyRequest, restCalls } from "@flyte-ts/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { scope } from "../../api/valid-requests.js";
import { type Attacker, openAttacker } from "../attacker.fixture.js";
import { type Bomb, field, JSON_BOMBS, MESSAGE_BOMBS, nested } from "./bombs.fixture.js";
import { type Cost, excessOf, MAX_REFUSAL_COST } from "./process-cost.fixture.js";
import { METHODS, startVictim, type Victim } from "../victim.fixture.js";

// Sends bombs to the methods that accept large requests, as the caller with the least role that the
// method requires, in the caller's own project.
let victim: Victim;
let attacker: Attacker;
beforeAll(async () => {
  victim = await startVictim();
});
afterAll(() => victim?.stop());
beforeEach(() => {
  attacker = openAttacker(victim.admin.api);
});
afterEach(() => attacker.close());

const MIB = 1 << 20;
const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;
const headersOf = (role: string) => ({ authorization: `Bearer ${victim.tokenOf(role)}` });

const { createTask, createWorkflow, createLaunchPlan, createExecution } = AdminService.method;
const { createWorkflowEvent, createNodeEvent, createTaskEvent } = AdminService.method;
const LARGE: readonly (readonly [DescMethod, string])[] = [
  [createTask, "contributor"],
  [createWorkflow, "contributor"],
  [createLaunchPlan, "contributor"],
  [createExecution, "runner"],
  [SignalService.method.setSignal, "runner"],
  [createWorkflowEvent, "engine"],
  [createNodeEvent, "engine"],
  [createTaskEvent, "engine"],
  [HistoryService.method.importExecution, "admin"],
];

test("the listed methods are all that accept large requests", { timeout: 120_000 }, async () => {
  const body = field(2_047, Buffer.alloc(2 * MIB));
  const others = METHODS.filter((method) => !LARGE.some(([large]) => large === method));
  const taken: string[] = [];
  for (const method of others) {
    const answer = await attacker.grpc({ path: pathOf(method), body, headers: headersOf("root") });
    if (answer !== "RESOURCE_EXHAUSTED") taken.push(`${method.name} ${answer}`);
  }
  expect(taken).toEqual([]);
});

/** Bombs as large as these methods accept. */
const LARGE_BOMBS: Readonly<Record<string, Bomb>> = {
  ...MESSAGE_BOMBS,
  "10 MB of empty messages": { body: Buffer.alloc(10_000_000, Buffer.from([0x0a, 0])) },
  "10 MB of unknown fields": { body: Buffer.alloc(10_000_000, Buffer.from([0x78, 1])) },
  "60 MiB of fields of twelve bytes, packed": { body: gzipSync(Buffer.alloc(60 * MIB, field(2_047, Buffer.alloc(9)))), encoding: "gzip" },
  "60 MiB of fields of twelve bytes": { body: Buffer.alloc(60 * MIB, field(2_047, Buffer.alloc(9))) },
  "60 MiB of one field, and depth behind it": { body: Buffer.concat([field(2_047, Buffer.alloc(60 * MIB)), nested(200)]) },
  "60 MiB of one field, and a broken one behind it": { body: Buffer.concat([field(2_047, Buffer.alloc(60 * MIB)), Buffer.from([0x0b])]) },
  "60 MiB that cannot be packed": { body: gzipSync(randomBytes(60 * MIB), { level: 1 }).subarray(0, 59 * MIB), encoding: "gzip" },
  "65 MiB of one field": { body: field(2_047, Buffer.alloc(65 * MIB)) },
  "65 MiB of one field, packed": { body: gzipSync(field(2_047, Buffer.alloc(65 * MIB))), encoding: "gzip" },
};

/** Cost of receiving and counting a request, per MiB, for a caller that may send that much. */
const PER_MIB: Cost = { processorMs: 7, peakBytes: 2 * MIB };

/**
 * Describes the faults of a refusal: no response, a server error, or a cost above the maximum for a
 * refused request of this size.
 */
async function describeFaults(bytes: number, act: () => Promise<string | number>): Promise<string[]> {
  let answer: string | number = "";
  const mib = bytes / MIB;
  const most: Cost = {
    processorMs: MAX_REFUSAL_COST.processorMs + mib * PER_MIB.processorMs,
    peakBytes: MAX_REFUSAL_COST.peakBytes + mib * PER_MIB.peakBytes,
  };
  const excess = await excessOf(
    victim.admin.pid,
    async () => {
      answer = await act();
    },
    most,
  );
  return [...excess, ...(REFUSAL_CODES.includes(answer) ? [] : [`answered with ${answer}`])];
}

// The server decodes a bomb within the limits of a method and then refuses its empty project.
const REFUSAL_CODES: readonly (string | number)[] = ["INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "PERMISSION_DENIED", 400, 403, 413];

describe.each(Object.entries(LARGE_BOMBS))("gRPC: %s", (_, bomb) => {
  test.each(LARGE.map(([method, role]) => [pathOf(method), role] as const))("%s by a %s", async (path, role) => {
    expect(await describeFaults(bomb.body.length, () => attacker.grpc({ path, ...bomb, headers: headersOf(role) }))).toEqual([]);
  });
});

const LARGE_JSON_BOMBS: Readonly<Record<string, string>> = {
  ...JSON_BOMBS,
  "ten million brackets": "[".repeat(10_000_000),
  "a million objects": `{"id":[${"{},".repeat(1_000_000)}{}]}`,
  "60 MB of digits": `{"id":${"9".repeat(60_000_000)}}`,
  "60 MB of blanks": " ".repeat(60_000_000),
  "60 MB of text that is never closed": `{"id":"${"x".repeat(60_000_000)}`,
};
const ROUTES = LARGE.flatMap(([method, role]) =>
  restCalls(method, anyRequest(method.input, scope)).flatMap((call) => (call.body === undefined ? [] : [{ ...call, role }])),
);

describe.each(Object.entries(LARGE_JSON_BOMBS))("body: %s", (_, body) => {
  test.each(ROUTES.map((route) => [`${route.method} ${route.path.slice(0, 60)}`, route] as const))("%s", async (_name, route) => {
    const headers = { "content-type": "application/json", ...headersOf(route.role) };
    const { method, path } = route;
    expect(await describeFaults(body.length, async () => (await attacker.http({ method, path, body, headers })).status || 413)).toEqual([]);
  });
});
