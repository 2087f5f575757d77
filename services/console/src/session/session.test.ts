import { createStore } from "./store.js";
import { createPresence } from "./presence.js";
import { expect, test, vi } from "vitest";
import { readPreferences } from "./preferences.js";
import { ownScript } from "./start/script-urls.js";
import { renewStream } from "./renew-stream.js";
import { createSession } from "./session.js";
import { actOnce } from "./act-once.js";

const clock = { now: () => 0, observe: () => undefined, subscribe: () => () => undefined };

/** Answers calls with these statuses in turn, and each sign-in with a redirect. */
function serve(statuses: readonly number[]) {
  const calls: string[] = [];
  let next = 0;
  const send = ((input: string) => {
    calls.push(input);
    return Promise.resolve(new Response(null, { status: input.startsWith("/login") ? 302 : (statuses[next++] ?? 200) }));
  }) as typeof fetch;
  const left: string[] = [];
  const leave = (address: string): boolean => left.push(address) === 1;
  return { calls, left, session: createSession({ clock, leave, send }) };
}

test("a refused call renews the session and is sent again", async () => {
  const { calls, session } = serve([401, 200]);
  expect((await session.fetch("/api")).status).toBe(200);
  expect(calls).toEqual(["/api", "/login?redirect_url=%2Fconsole%2Fsigned-in", "/api"]);
  expect(session.state()).toBe("active");
});

test("a page that has no session yet leaves for the sign-in, once", async () => {
  vi.stubGlobal("location", { pathname: "/console/projects", search: "?a=1" });
  const { left, session } = serve([401, 401, 401, 401]);
  await session.fetch("/api");
  expect([left, session.state()]).toEqual([["/login?redirect_url=%2Fconsole%2Fprojects%3Fa%3D1"], "active"]);
  await session.fetch("/api");
  expect(session.state()).toBe("ended");
  vi.unstubAllGlobals();
});

test("when the renewal fails, the session has ended until a call succeeds", async () => {
  const { left, session } = serve([200, 401, 401, 401, 200]);
  await session.fetch("/api");
  const states: string[] = [];
  session.subscribe(() => states.push(session.state()));
  expect((await session.fetch("/api")).status).toBe(401);
  expect((await session.fetch("/api")).status).toBe(200);
  expect(states).toEqual(["ended", "active"]);
  expect(left).toEqual([]);
});

test("calls that are refused at the same time renew once", async () => {
  const { calls, session } = serve([401, 401, 200, 200]);
  await Promise.all([session.fetch("/a"), session.fetch("/b")]);
  expect(calls.filter((call) => call.startsWith("/login"))).toHaveLength(1);
});

test("a stream that was refused for the sign-in is opened again, once until it is live or someone signs in", async () => {
  const [live, failure] = [createStore<{ kind: string } | undefined>(undefined), createStore<{ code: number } | undefined>(undefined)];
  const acts: string[] = [];
  let onSession: () => void = () => undefined;
  const session = {
    renew: () => {
      acts.push("renew");
      return Promise.resolve();
    },
    state: () => "active" as const,
    subscribe: (listener: () => void) => {
      onSession = listener;
      return () => (onSession = () => undefined);
    },
  };
  const stop = renewStream({ live, failure }, session, () => acts.push("open"));
  const fail = async (code: number): Promise<void> => {
    failure.set({ code });
    await Promise.resolve();
  };
  await fail(14);
  await fail(16);
  await fail(16);
  expect(acts).toEqual(["renew", "open"]);
  live.set({ kind: "live" });
  await fail(16);
  expect(acts).toEqual(["renew", "open", "renew", "open"]);
  await fail(16);
  onSession();
  expect(acts.slice(4)).toEqual(["open"]);
  await fail(16);
  expect(acts.slice(5)).toEqual(["renew", "open"]);
  stop();
  live.set({ kind: "live" });
  live.set(undefined);
  await fail(16);
  onSession();
  expect(acts).toHaveLength(7);
});

test("workers start from files of the console only", () => {
  const origin = "https://host";
  expect(ownScript("/console/assets/worker-1.js", origin)).toBe("https://host/console/assets/worker-1.js");
  for (const url of ["https://evil/console/assets/a.js", "/console/assets/../../x.js", "data:text/javascript,1", "/api/v1/x"])
    expect(() => ownScript(url, origin)).toThrow(TypeError);
});

test("malformed preferences have their defaults", () => {
  const defaults = { theme: "system", zone: "local", scope: undefined };
  expect([null, "{", "[]", '"x"', '{"theme":"pink","zone":1,"scope":{"project":"p"}}'].map(readPreferences)).toEqual(
    Array(5).fill(defaults),
  );
  expect(readPreferences('{"theme":"dark","scope":{"project":"p","domain":"d"}}')).toEqual({
    theme: "dark",
    zone: "local",
    scope: { project: "p", domain: "d" },
  });
});

test("a page whose files are gone is loaded again once", () => {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  let reloads = 0;
  const at = (nowMs: number) => actOnce(storage, { key: "reloaded", nowMs }, () => reloads++);
  expect([at(100_000), at(101_000), at(200_000), reloads]).toEqual([true, false, true, 2]);
});

test("a page is used from the first sign of a person on", () => {
  const target = new EventTarget();
  const presence = createPresence(target);
  let told = 0;
  presence.subscribe(() => told++);
  expect(presence.isUsed()).toBe(false);
  for (const sign of ["pointermove", "keydown"]) target.dispatchEvent(new Event(sign));
  expect([presence.isUsed(), told]).toEqual([true, 1]);
});
