import { ManualTime } from "@flyte-ts/async/manual-time";
import type { KubeClient, KubeObject, ListOptions, WatchEvent } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type InvolvedObject, WarningEvents } from "./warning-events.js";

const logger = createLogger({ service: "test", level: "silent" });

interface Warning {
  readonly reason: string;
  readonly message?: string;
  readonly at?: string;
  readonly kind?: string;
  readonly uid?: string;
}

let count = 0;
const event = ({ reason, message = "", at = "2026-01-01T00:00:00Z", kind = "Pod", uid = "u1" }: Warning): KubeObject => {
  const involvedObject = { kind, namespace: "ns", name: `name-of-${uid}`, uid };
  const metadata = { name: `e${count}`, namespace: "ns", resourceVersion: String(++count), managedFields: [] };
  return { metadata, involvedObject, reason, message, type: "Warning", lastTimestamp: at } as unknown as KubeObject;
};

/** Lists the first warnings, then streams further ones. */
function apiOf(first: readonly Warning[]) {
  const lists: ListOptions[] = [];
  const pushed: KubeObject[] = [];
  let wake = () => {};
  const client = {
    list: (_: unknown, options: ListOptions = {}) => {
      lists.push(options);
      return Promise.resolve({ items: first.map(event), metadata: { resourceVersion: "1" } });
    },
    async *watch(_: unknown, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<WatchEvent<KubeObject>> {
      signal.addEventListener("abort", () => wake());
      while (!signal.aborted) {
        for (const object of pushed.splice(0)) yield { type: "ADDED", object };
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (pushed.length > 0 || signal.aborted) resolve();
        });
      }
    },
  } as unknown as Pick<KubeClient, "list" | "watch">;
  const push = (warning: Warning) => {
    pushed.push(event(warning));
    wake();
  };
  return { client, lists, push };
}

let warnings: WarningEvents | undefined;
afterEach(() => warnings?.stop());

function follow(first: readonly Warning[], kind?: string) {
  const api = apiOf(first);
  const changed: (string | undefined)[] = [];
  const onWarning = ({ name }: InvolvedObject) => changed.push(name);
  warnings = new WarningEvents({ client: api.client, logger, clock: new ManualTime(), onWarning, ...(kind === undefined ? {} : { kind }) });
  return { ...api, changed, of: (uid?: string) => warnings?.of(uid) };
}

describe("warnings of Kubernetes", () => {
  it("follows one kind, or all", async () => {
    const pods = follow([], "Pod");
    await vi.waitFor(() => expect(pods.lists).toMatchObject([{ fieldSelector: "type=Warning,involvedObject.kind=Pod" }]));
    await warnings?.stop();
    const all = follow([]);
    await vi.waitFor(() => expect(all.lists).toMatchObject([{ fieldSelector: "type=Warning" }]));
  });

  it("keeps the latest one of an object, in whatever order they are listed", async () => {
    const { of, push } = follow([
      { reason: "FailedMount", message: "new", at: "2026-01-01T00:00:09Z" },
      { reason: "FailedCreatePodSandBox", message: "old", at: "2026-01-01T00:00:01Z" },
      { reason: "FailedCreatePod", message: "exceeded quota", kind: "PyTorchJob", uid: "u2" },
    ]);
    await vi.waitFor(() => expect(of("u1")).toBe("FailedMount: new"));
    expect(of("u2")).toBe("FailedCreatePod: exceeded quota");
    expect(of("u3")).toBeUndefined();
    expect(of()).toBeUndefined();
    push({ reason: "FailedMount", message: "newest", at: "2026-01-01T00:00:10Z" });
    await vi.waitFor(() => expect(of("u1")).toBe("FailedMount: newest"));
  });

  it("reports no change when one is repeated", async () => {
    const { changed, push } = follow([{ reason: "FailedMount", message: "m" }]);
    await vi.waitFor(() => expect(changed).toEqual(["name-of-u1"]));
    push({ reason: "FailedMount", message: "m", at: "2026-01-01T00:01:00Z" });
    push({ reason: "FailedCreatePod", uid: "u2", kind: "Job" });
    await vi.waitFor(() => expect(changed).toEqual(["name-of-u1", "name-of-u2"]));
  });

  it("ignores those that the status of a pod contains, and truncates long ones", async () => {
    const { of, push } = follow(["FailedScheduling", "BackOff", "Failed"].map((reason) => ({ reason, message: "m" })));
    push({ reason: "FailedMount", message: "x".repeat(2_000), uid: "u2" });
    await vi.waitFor(() => expect(of("u2")).toBe(`FailedMount: ${"x".repeat(500)}`));
    expect(of("u1")).toBeUndefined();
  });
});
