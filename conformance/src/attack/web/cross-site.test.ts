import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEPLOYED } from "../../services.js";
import { type RunningStack, startStack } from "../../stack/stack-fixture.js";
import { openAttacker } from "../attacker.fixture.js";
import { type Listener, listenersOf } from "../listeners.fixture.js";
import { performedTargets, FOREIGN_ADDRESSES, REQUESTS, SENDERS } from "./browser-requests.fixture.js";

// Sends every listener of a local stack the requests that a browser sends for pages of other
// origins and for host names rebound to this machine.
let stack: RunningStack;
let listeners: readonly Listener[];
beforeAll(async () => {
  stack = await startStack(["--no-example"]);
  listeners = listenersOf(stack.folder);
});
afterAll(async () => {
  await stack?.stop();
});

test("the test finds all listeners of the stack", () => {
  const names = new Set(listeners.map(({ name }) => name));
  const services = [...DEPLOYED.flatMap(({ manifest }) => (manifest.optional ? [] : [manifest.id])), "local-blobstore", "local-cluster"];
  for (const name of services) expect(names).toContain(name);
  const commands = [...names].join("\n");
  for (const server of ["nats-server", "postgres"]) expect(commands).toContain(server);
  // Ports for health and metrics, one per service.
  const ports = new Map(services.map((name) => [name, listeners.filter((listener) => listener.name === name).length]));
  expect([...ports].filter(([, count]) => count === 0)).toEqual([]);
});

test("all listeners are bound to loopback addresses", () => {
  // 127.0.0.1, ::1 and ::ffff:127.0.0.1.
  const loopback = ["0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"];
  expect(listeners.filter(({ address }) => !loopback.includes(address))).toEqual([]);
});

describe.each(Object.entries({ ...SENDERS, ...FOREIGN_ADDRESSES }))("%s", (_, sender) => {
  test.each(REQUESTS)("%s %s", async (method, path) => {
    const targets = listeners.map(({ name, port }) => ({ name, address: "127.0.0.1", port }));
    expect(await performedTargets(targets, sender, [method, path])).toEqual([]);
  });
});

test("the stack still serves local programs", async () => {
  const attacker = openAttacker(stack.api);
  expect((await attacker.http({ method: "GET", path: "/api/v1/projects", headers: { host: `localhost:${stack.api}` } })).status).toBe(200);
  attacker.close();
});
