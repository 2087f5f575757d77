import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { attemptLogTag } from "@flyte-ts/domain/name";
import { KubeError, type PodLogOptions } from "@flyte-ts/kubernetes";
import { MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../pod-types.js";
import { tailBytes } from "./tail-bytes.js";
import { LogArchive } from "./log-archive.js";

const request = sampleRequest("python-task");
const status = (name: string, over: boolean) => ({ name, state: over ? { terminated: { exitCode: 0 } } : { running: {} } });
const pod: Pod = {
  metadata: { name: "x-n0-0", namespace: "p-d" },
  spec: { containers: [{ name: "main" }, { name: "side" }] },
  status: { phase: "Running", containerStatuses: [status("main", true), status("side", false)] },
};
const uri = `${request.outputPrefix}/logs/main.log`;

describe("LogArchive", () => {
  const clock = new ManualTime();
  let store: MemoryStore;
  let failures: KubeError[];
  let text: string;
  const requests: PodLogOptions[] = [];
  const archive = (enabled = true) => {
    const client = {
      async *podLog(options: PodLogOptions) {
        requests.push(options);
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        // Chunks end anywhere.
        for (const part of [text.slice(0, 50), text.slice(50)]) yield await Promise.resolve(Buffer.from(part));
      },
    };
    return new LogArchive({
      client,
      store,
      clock,
      logger: createLogger({ service: "test", level: "silent" }),
      config: { enabled, maxBytes: 1_000 },
    });
  };
  const kept = () => Buffer.from(store.blobs.get(uri) ?? []).toString();

  beforeEach(() => {
    store = new MemoryStore();
    failures = [];
    text = "2026-01-02T03:04:05.000000001Z hello\n";
    requests.length = 0;
  });

  it("copies the log of each terminated container and links to the copies", async () => {
    const logs = archive();
    expect(logs.archive(pod, request)).toMatchObject([{ uri, name: "Archived log of main" }]);
    await logs.waitUntilArchived(request);
    expect(kept()).toBe("2026-01-02T03:04:05.000000001Z hello\n");
    expect(requests).toMatchObject([{ namespace: "p-d", name: "x-n0-0", container: "main", follow: false }]);
  });

  it("retries transient errors and stops when the log does not exist", async () => {
    const logs = archive();
    failures = [new KubeError("away", { status: 503 }), new KubeError("away", { status: 503 })];
    logs.archive(pod, request);
    await settlePromises();
    await clock.advance(1_000);
    await clock.advance(2_000);
    await logs.waitUntilArchived(request);
    expect(kept()).toContain("hello");
    failures = [new KubeError("pods not found", { status: 404 })];
    store.blobs.clear();
    logs.archive(pod, request);
    await logs.waitUntilArchived(request);
    expect(kept()).toBe("");
  });

  it("copies the lines of the attempt alone from the log of a pod that serves several", async () => {
    const [own, other] = [attemptLogTag(request), attemptLogTag({ ...request, generatedName: "another" })];
    const lines = [`${other}| theirs`, `${own}= {"start":"7"}`, `${own}| mine`, "untagged", `${own}| last`];
    text = lines.map((line) => `2026-01-02T03:04:05.000000001Z ${line}\n`).join("");
    const logs = archive();
    const annotations = { "flyte.org/warm-taken": "u 2026-01-02T03:04:05Z 7" };
    logs.archive({ ...pod, metadata: { ...pod.metadata, uid: "u", annotations } }, request);
    await logs.waitUntilArchived(request);
    expect(kept()).toBe("2026-01-02T03:04:05.000000001Z mine\n2026-01-02T03:04:05.000000001Z last\n");
  });

  it("copies nothing while it is disabled", () => {
    expect(archive(false).archive(pod, request)).toEqual([]);
    expect(requests).toEqual([]);
  });
});

describe("tailBytes", () => {
  async function* parts(...texts: string[]) {
    for (const text of texts) yield await Promise.resolve(Buffer.from(text));
  }
  it.each([
    [["a\nb\n"], 100, "a\nb\n"],
    [["a\n", "b\n", "c\n"], 4, "c\n"],
    [["aaa\nbb\ncc\n"], 7, "bb\ncc\n"],
    [["aaa\nbb\ncc\n"], 5, "cc\n"],
    [["x".repeat(20)], 5, "xxxxx"],
    [[], 5, ""],
  ])("%j within %i bytes", async (texts, most, expected) => {
    expect(Buffer.from(await tailBytes(parts(...texts), most)).toString()).toBe(expected);
  });
});
