import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemTime } from "@flyte-ts/async";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Endpoint } from "../frame/call/endpoint.js";
import { BigQueryCalls } from "./bigquery-client.js";

// These tests run the official client over HTTP.
const job = { project: "p1", location: "EU", jobId: "a-n0-0" };
const configuration = { query: { query: "SELECT 1", useLegacySql: false } };
const stored = { jobReference: { projectId: "p1", jobId: "a-n0-0", location: "EU" }, configuration, status: { state: "RUNNING" } };
let server: Server;
let calls: BigQueryCalls;
let requests: { readonly line: string; readonly body: unknown }[] = [];
let answers: { readonly status: number; readonly body: object }[] = [];

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  requests.push({ line: `${request.method} ${request.url}`, body: text === "" ? undefined : JSON.parse(text) });
  const { status, body } = answers.shift() ?? { status: 200, body: stored };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
const refuse = (code: number, reason: string) =>
  answers.push({ status: code, body: { error: { code, message: reason, errors: [{ reason }] } } });

beforeAll(async () => {
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  // Each test has its own endpoint, since its errors open the circuit.
  const rates = { readsPerSecond: 1_000, readBurst: 1_000, writesPerSecond: 1_000, writeBurst: 1_000 };
  const endpoint = new Endpoint({ api: "bigquery", rates, clock: systemTime, random: () => 0 });
  const { port } = server.address() as AddressInfo;
  calls = new BigQueryCalls({ endpoint: `http://127.0.0.1:${port}`, anonymous: true }, endpoint);
  requests = [];
  answers = [];
});

it("inserts a job of the given id, project and location, and reports one that exists", async () => {
  expect(await calls.insert(job, configuration)).toEqual({ outcome: "inserted", job });
  expect(requests).toEqual([
    {
      line: expect.stringMatching(/^POST \/bigquery\/v2\/projects\/p1\/jobs\b/),
      body: { jobReference: { projectId: "p1", jobId: "a-n0-0", location: "EU" }, configuration },
    },
  ]);
  refuse(409, "duplicate");
  expect(await calls.insert(job, configuration)).toEqual({ outcome: "exists", job });
});

describe("a job without a location", () => {
  const anywhere = { ...job, location: "" };
  const placed = { ...job, location: "europe-west3" };
  const jobReference = { projectId: "p1", jobId: "a-n0-0", location: "europe-west3" };

  it("is read where BigQuery placed it", async () => {
    answers.push({ status: 200, body: { ...stored, jobReference } });
    const inserted = await calls.insert(anywhere, configuration);
    expect(inserted).toEqual({ outcome: "inserted", job: placed });
    await calls.get(inserted.job);
    expect(requests.at(-1)?.line).toMatch(/jobs\/a-n0-0\?.*location=europe-west3/);
  });

  it("has the location of one that failed at once, or that exists", async () => {
    const errors = [{ reason: "invalidQuery", message: "Syntax error" }];
    answers.push({ status: 200, body: { jobReference, status: { state: "DONE", errors, errorResult: errors[0] } } });
    expect(await calls.insert(anywhere, configuration)).toEqual({ outcome: "inserted", job: placed });
    refuse(409, "Already Exists: Job p1:europe-west3.a-n0-0");
    expect(await calls.insert(anywhere, configuration)).toEqual({ outcome: "exists", job: placed });
    refuse(409, "duplicate");
    expect(await calls.insert(anywhere, configuration)).toEqual({ outcome: "exists", job: anywhere });
  });

  it("is located among the newest jobs, page by page", async () => {
    answers.push({ status: 200, body: { jobs: [{ jobReference: { ...jobReference, jobId: "other" } }], nextPageToken: "2" } });
    answers.push({ status: 200, body: { jobs: [{ jobReference }] } });
    expect(await calls.locate(anywhere)).toEqual(placed);
    expect(requests.map(({ line }) => line)).toEqual([
      expect.stringMatching(/^GET \/bigquery\/v2\/projects\/p1\/jobs\?/),
      expect.stringMatching(/^GET .*pageToken=2/),
    ]);
    answers.push({ status: 200, body: {} });
    expect(await calls.locate(anywhere)).toBeUndefined();
  });

  it("counts as unknown where the rights to list jobs are missing", async () => {
    refuse(403, "accessDenied");
    expect(await calls.locate(anywhere)).toBeUndefined();
  });
});

it("takes a job that fails at once as inserted: its state tells why", async () => {
  const errors = [{ reason: "invalidQuery", message: "Syntax error" }];
  answers.push({ status: 200, body: { ...stored, status: { state: "DONE", errors, errorResult: errors[0] } } });
  expect(await calls.insert(job, configuration)).toEqual({ outcome: "inserted", job });
});

it("reads and cancels a job in its location", async () => {
  expect(await calls.get(job)).toMatchObject({ status: { state: "RUNNING" } });
  await calls.cancel(job);
  expect(requests.map(({ line }) => line)).toEqual([
    expect.stringMatching(/^GET \/bigquery\/v2\/projects\/p1\/jobs\/a-n0-0\?.*location=EU/),
    expect.stringMatching(/^POST \/bigquery\/v2\/projects\/p1\/jobs\/a-n0-0\/cancel\?.*location=EU/),
  ]);
});

it.each([
  [400, "invalid", "invalid"],
  [403, "rateLimitExceeded", "throttled"],
  [404, "notFound", "missing"],
  [503, "backendError", "unavailable"],
])("makes one call that is answered with %i %s: %s", async (status, reason, kind) => {
  refuse(status, reason);
  await expect(calls.get(job)).rejects.toMatchObject({ name: "ApiError", kind, code: `http${status}` });
  expect(requests).toHaveLength(1);
});
