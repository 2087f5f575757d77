import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestCluster, testCluster } from "../cluster.fixture.js";
import { writeKubeconfig } from "../kubeconfig.js";
import { at, type JsonObject, type KubeObject, listAt, textAt } from "../object/model.js";
import { podDir } from "./pod/pod-dir.js";

let k: TestCluster;
const PODS = "/api/v1/namespaces/default/pods";

beforeAll(async () => {
  k = await testCluster({ podEnv: { FROM_CONFIG: "yes" }, podPath: ["/opt/made-up/bin"], allocatable: { cpu: 8 } });
});
afterAll(() => k.stop());

const sh = (script: string, more: JsonObject = {}): JsonObject => ({
  name: "main",
  image: "local/image:1",
  command: ["sh", "-c", script],
  ...more,
});

async function run(name: string, spec: JsonObject): Promise<void> {
  const answer = await k.call("POST", PODS, { body: { metadata: { name }, spec: { restartPolicy: "Never", ...spec } } });
  expect(answer).toMatchObject({ status: 201 });
}

/** Resolves to the first state of the pod that matches. */
async function until(name: string, fits: (pod: KubeObject) => boolean): Promise<KubeObject> {
  const watching = k.watch(`${PODS}?watch=true&fieldSelector=metadata.name%3D${name}`);
  try {
    return (await watching.until(({ type, object }) => type !== "DELETED" && fits(object))).object;
  } finally {
    watching.stop();
  }
}

const inPhase =
  (...phases: string[]) =>
  (pod: KubeObject) =>
    phases.includes(textAt(pod, "status", "phase") ?? "");
const ended = inPhase("Succeeded", "Failed");
const state = (pod: KubeObject, index = 0) => at(listAt(pod, "status", "containerStatuses")[index], "state");
const log = (name: string, query = "") => k.text(`${PODS}/${name}/log${query}`);

async function isGone(name: string): Promise<boolean> {
  for (let i = 0; i < 1_200; i++) {
    if ((await k.call("GET", `${PODS}/${name}`)).status === 404) return true;
    await delay(25);
  }
  return false;
}

/** Lists processes whose command line or environment contains the text. */
function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
}

/** Lists processes that remain after a while. */
async function leftOver(text: string): Promise<string[]> {
  for (let i = 0; i < 1_200 && processesWith(text).length > 0; i++) await delay(25);
  return processesWith(text);
}

describe("a pod that terminates", () => {
  test("with exit code 0 has succeeded", async () => {
    await run("ok", {
      containers: [sh("echo out; echo err >&2; echo $FROM_CONFIG $OWN $PATH", { env: [{ name: "OWN", value: "v-$(FROM_CONFIG)" }] })],
    });
    const pod = await until("ok", ended);
    expect(pod).toMatchObject({
      spec: { nodeName: "local" },
      status: { phase: "Succeeded", podIP: "127.0.0.1", qosClass: "BestEffort", startTime: expect.any(String) },
    });
    expect(state(pod)).toMatchObject({
      terminated: { exitCode: 0, reason: "Completed", startedAt: expect.any(String), finishedAt: expect.any(String) },
    });
    expect(listAt(pod, "status", "conditions").map((c) => [textAt(c, "type"), textAt(c, "status"), textAt(c, "reason")])).toEqual([
      ["PodReadyToStartContainers", "False", undefined],
      ["Initialized", "True", "PodCompleted"],
      ["Ready", "False", "PodCompleted"],
      ["ContainersReady", "False", "PodCompleted"],
      ["PodScheduled", "True", undefined],
    ]);
    const lines = (await log("ok")).split("\n");
    expect(lines.slice(0, 2)).toEqual(["out", "err"]);
    expect(lines[2]).toMatch(/^yes v-\$\(FROM_CONFIG\) \/opt\/made-up\/bin:/);
  });

  test("with another exit code has failed, with the end of its log", async () => {
    await run("fails", { containers: [sh("echo some words; exit 3", { terminationMessagePolicy: "FallbackToLogsOnError" })] });
    const pod = await until("fails", ended);
    expect(pod).toMatchObject({ status: { phase: "Failed" } });
    expect(state(pod)).toMatchObject({ terminated: { exitCode: 3, reason: "Error", message: "some words\n" } });
  });

  test("unpacks in the home directory of its image without conflicts with other pods", async () => {
    const containers = [
      sh('cd "$0" && echo "$HOSTNAME" > which && cat "$CODE/which" && pwd', { env: [{ name: "CODE", value: "/root" }], args: ["/root"] }),
    ];
    await Promise.all([run("home-1", { containers }), run("home-2", { containers })]);
    const logs = await Promise.all(["home-1", "home-2"].map(async (name) => (await until(name, ended)) && (await log(name)).split("\n")));
    expect(logs.map(([which]) => which)).toEqual(["home-1", "home-2"]);
    expect(logs[0]?.[1]).not.toBe(logs[1]?.[1]);
    expect(existsSync("/root/which")).toBe(false);
  });

  test("uses its own home directory in place of another pod's in its arguments", async () => {
    await run("hands-on", { containers: [sh("pwd")] });
    await until("hands-on", ended);
    const home = (await log("hands-on")).trim();
    await run("handed", { containers: [sh('echo "$0"; pwd', { args: [home] })] });
    await until("handed", ended);
    const [given, own] = (await log("handed")).split("\n");
    expect(given).toBe(own);
    expect(given).not.toBe(home);
  });

  test("reports its termination message", async () => {
    await run("message", { containers: [sh('echo why > "$FLYTE_TS_TERMINATION_LOG"; exit 1')] });
    expect(state(await until("message", ended))).toMatchObject({ terminated: { message: "why\n" } });
  });

  test("by a signal has exit code 128 plus the signal's number", async () => {
    await run("signal", {
      containers: [
        // A spec escapes a dollar before a name as `$$`.
        sh("kill -9 $$$$"),
      ],
    });
    expect(state(await until("signal", ended))).toMatchObject({ terminated: { exitCode: 137, reason: "Error" } });
  });

  test("takes its remaining processes with it", async () => {
    await run("daemon", { containers: [sh("setsid sleep 4711 & env -i sleep 4712 & env -i setsid sleep 4713 & exit 0")] });
    await until("daemon", ended);
    expect(await leftOver("4711")).toEqual([]);
    expect(await leftOver("4712")).toEqual([]);
    // A process that leaves its session and clears its environment cannot be identified, so the
    // test ends it.
    for (const pid of processesWith("4713")) process.kill(Number(pid));
  });

  test("over its memory limit is OOMKilled", async () => {
    const script = "x = bytearray(b'1') * 120_000_000\nimport time\ntime.sleep(60)";
    await run("oom", {
      containers: [{ name: "main", image: "i", command: ["python3", "-c", script], resources: { limits: { memory: "60Mi" } } }],
    });
    const pod = await until("oom", ended);
    expect(state(pod)).toMatchObject({ terminated: { exitCode: 137, reason: "OOMKilled" } });
  });

  test("is charged once for memory that its children share", async () => {
    // Imitates vfork: a child in the same memory, with its own stack, that sleeps.
    const script = `
import ctypes, os, time
x = bytearray(b'1') * 120_000_000
libc = ctypes.CDLL(None)
libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
stack = ctypes.create_string_buffer(1 << 20)
top = (ctypes.addressof(stack) + (1 << 20)) & ~63
pid = libc.clone(ctypes.cast(libc.sleep, ctypes.c_void_p), top, 0x100 | 17, 2)
os.waitpid(pid, 0)
print("done")
`;
    await run("vfork", {
      containers: [{ name: "main", image: "i", command: ["python3", "-c", script], resources: { limits: { memory: "200Mi" } } }],
    });
    const pod = await until("vfork", ended);
    expect(state(pod)).toMatchObject({ terminated: { exitCode: 0 } });
    expect(await log("vfork")).toBe("done\n");
  });

  test("is charged for each of its processes", async () => {
    const script = "import os, time\nos.fork()\nx = bytearray(b'1') * 120_000_000\ntime.sleep(60)";
    await run("forks", {
      containers: [{ name: "main", image: "i", command: ["python3", "-c", script], resources: { limits: { memory: "200Mi" } } }],
    });
    expect(state(await until("forks", ended))).toMatchObject({ terminated: { reason: "OOMKilled" } });
  });
});

describe("a pod that cannot start", () => {
  test("because of an invalid image name reports it", async () => {
    await run("bad-image", { containers: [{ ...sh("true"), image: "Not::AnImage" }] });
    const pod = await until("bad-image", (p) => at(state(p), "waiting", "reason") === "InvalidImageName");
    expect(state(pod)).toEqual({
      waiting: {
        reason: "InvalidImageName",
        message:
          'Failed to apply default image tag "Not::AnImage": couldn\'t parse image name "Not::AnImage": invalid reference format: repository name (library/Not) must be lowercase',
      },
    });
    const unready = listAt(pod, "status", "conditions").find((c) => textAt(c, "type") === "ContainersReady");
    expect(unready).toMatchObject({ status: "False", reason: "ContainersNotReady", message: "containers with unready status: [main]" });
    expect(textAt(pod, "status", "phase")).toBe("Pending");
  });

  test("because of an unreachable image reports it", async () => {
    await run("no-image", { containers: [{ ...sh("true"), image: "registry.invalid/a/b:1" }] });
    await until("no-image", (p) => at(state(p), "waiting", "reason") === "ErrImagePull");
    const pod = await until("no-image", (p) => at(state(p), "waiting", "reason") === "ImagePullBackOff");
    expect(textAt(state(pod), "waiting", "message")).toContain('Back-off pulling image "registry.invalid/a/b:1": ErrImagePull:');
    expect((await k.call("GET", `${PODS}/no-image/log`)).status).toBe(400);
  });

  test("because of a missing secret starts when the secret exists", async () => {
    const env = [{ name: "S", valueFrom: { secretKeyRef: { name: "later", key: "k" } } }];
    await run("config-error", { containers: [sh('test "$S" = value', { env })] });
    const pod = await until("config-error", (p) => at(state(p), "waiting", "reason") === "CreateContainerConfigError");
    expect(textAt(state(pod), "waiting", "message")).toBe('secret "later" not found');
    await k.call("POST", "/api/v1/namespaces/default/secrets", { body: { metadata: { name: "later" }, stringData: { k: "value" } } });
    expect(textAt(await until("config-error", ended), "status", "phase")).toBe("Succeeded");
  });

  test("because of a missing command reports it", async () => {
    await run("no-command", { containers: [{ name: "main", image: "i", command: ["no-such-command"] }] });
    expect(state(await until("no-command", ended))).toMatchObject({
      terminated: {
        exitCode: 128,
        reason: "StartError",
        message: expect.stringContaining('exec: "no-such-command": executable file not found in $PATH'),
      },
    });
  });

  test("for lack of resources starts when another pod ends", async () => {
    const cpu = (n: string) => ({ resources: { requests: { cpu: n } } });
    await run("big-1", { containers: [sh("sleep 600", cpu("5"))] });
    await until("big-1", inPhase("Running"));
    await run("big-2", { containers: [sh("true", cpu("5"))] });
    const waiting = await until("big-2", (p) => listAt(p, "status", "conditions").length > 0);
    expect(listAt(waiting, "status", "conditions")[0]).toMatchObject({
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: expect.stringContaining("0/1 nodes are available: 1 Insufficient cpu."),
    });
    await k.call("DELETE", `${PODS}/big-1?gracePeriodSeconds=0`);
    expect(textAt(await until("big-2", ended), "status", "phase")).toBe("Succeeded");
  });
});

describe("several containers", () => {
  test("start after the init containers, which run in order", async () => {
    const init = (name: string, script: string) => ({ ...sh(script), name, volumeMounts: [{ name: "v", mountPath: "/data" }] });
    const read = 'cat "$FLYTE_TS_CONTAINER_ROOT/data/order"';
    await run("inits", {
      volumes: [{ name: "v", emptyDir: {} }],
      initContainers: [
        init("one", 'sleep 0.2; echo 1 >> "$FLYTE_TS_CONTAINER_ROOT/data/order"'),
        init("two", 'echo 2 >> "$FLYTE_TS_CONTAINER_ROOT/data/order"'),
      ],
      containers: [{ ...sh(read), volumeMounts: [{ name: "v", mountPath: "/data" }] }],
    });
    const pod = await until("inits", ended);
    expect(textAt(pod, "status", "phase")).toBe("Succeeded");
    expect(await log("inits")).toBe("1\n2\n");
    expect(listAt(pod, "status", "initContainerStatuses").map((s) => textAt(s, "state", "terminated", "reason"))).toEqual([
      "Completed",
      "Completed",
    ]);
  });

  test("do not start after a failed init container, which fails the pod", async () => {
    await run("init-fails", { initContainers: [{ ...sh("exit 5"), name: "one" }], containers: [sh("true")] });
    const pod = await until("init-fails", ended);
    expect(textAt(pod, "status", "phase")).toBe("Failed");
    expect(state(pod)).toEqual({ waiting: { reason: "PodInitializing" } });
  });

  test("have a sidecar that starts before and ends after the main container", async () => {
    const sidecar = {
      ...sh('trap "echo stopped; exit 0" TERM; echo started; while :; do sleep 0.05; done'),
      name: "side",
      restartPolicy: "Always",
    };
    await run("sidecar", { initContainers: [sidecar], containers: [sh("sleep 0.3")] });
    const pod = await until("sidecar", ended);
    expect(textAt(pod, "status", "phase")).toBe("Succeeded");
    expect(await log("sidecar", "?container=side")).toMatch(/^started\n(Terminated\n)?stopped\n$/);
  });

  test("require a container name for logs", async () => {
    await run("two", {
      containers: [
        { ...sh("echo a"), name: "a" },
        { ...sh("echo b; exit 1"), name: "b" },
      ],
    });
    const pod = await until("two", ended);
    expect(textAt(pod, "status", "phase")).toBe("Failed");
    expect(await k.call("GET", `${PODS}/two/log`)).toMatchObject({
      status: 400,
      body: { message: "a container name must be specified for pod two, choose one of: [a b]" },
    });
    expect(await log("two", "?container=b")).toBe("b\n");
    expect((await k.call("GET", `${PODS}/two/log?container=c`)).body.message).toBe("container c is not valid for pod two");
  });
});

describe("restart policies", () => {
  test("OnFailure restarts a container and keeps its previous state and log", async () => {
    await run("again", {
      restartPolicy: "OnFailure",
      containers: [sh('echo "run $(ls "$TMPDIR" | wc -l)"; if [ -e "$TMPDIR/x" ]; then exit 0; fi; touch "$TMPDIR/x"; exit 2')],
    });
    const pod = await until("again", ended);
    expect(textAt(pod, "status", "phase")).toBe("Succeeded");
    expect(listAt(pod, "status", "containerStatuses")[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 2 } } });
    expect(await log("again")).toBe("run 1\n");
    expect(await log("again", "?previous=true")).toBe("run 0\n");
  });

  test("Always backs off after the second crash", async () => {
    await run("crash", { restartPolicy: "Always", containers: [sh("exit 1")] });
    const pod = await until("crash", (p) => at(state(p), "waiting", "reason") === "CrashLoopBackOff");
    expect(listAt(pod, "status", "containerStatuses")[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
    expect(textAt(pod, "status", "phase")).toBe("Running");
  });
});

describe("the deletion of a pod", () => {
  test("terminates the processes, then removes the object and its folder", async () => {
    await run("term", { containers: [sh('trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done')] });
    const running = await until("term", inPhase("Running"));
    const deleted = await k.call("DELETE", `${PODS}/term`);
    expect(deleted.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, deletionTimestamp: expect.any(String) });
    expect(await isGone("term")).toBe(true);
    const folder = join(k.folder, "pods", (running.metadata.uid ?? "").replaceAll("-", "").slice(0, 16));
    for (let i = 0; i < 1_200 && readdirSync(join(k.folder, "pods")).some((name) => folder.endsWith(name)); i++) await delay(25);
    expect(readdirSync(join(k.folder, "pods")).some((name) => folder.endsWith(name))).toBe(false);
  });

  test("during its start sends SIGTERM", async () => {
    const names = Array.from({ length: 10 }, (_, i) => `early-${i}`);
    const start = async (name: string, i: number) => {
      await run(name, { containers: [sh("sleep 600")] });
      await until(name, inPhase("Running"));
      await delay(i / 2);
      await k.call("DELETE", `${PODS}/${name}`);
      return isGone(name);
    };
    expect(await Promise.all(names.map(start))).toEqual(names.map(() => true));
  });

  test("kills processes that ignore SIGTERM, with their children, after the grace period", async () => {
    await run("deaf", { containers: [sh('trap "" TERM; sleep 5711 & setsid sleep 5712 & echo ready; while :; do sleep 0.05; done')] });
    await until("deaf", inPhase("Running"));
    // The script reports before it is ended.
    while (!(await log("deaf")).includes("ready")) await delay(20);
    await k.call("DELETE", `${PODS}/deaf?gracePeriodSeconds=1`);
    expect(await isGone("deaf")).toBe(true);
    expect(await leftOver("5711")).toEqual([]);
    expect(await leftOver("5712")).toEqual([]);
  });

  test("without a grace period removes object and processes at once", async () => {
    await run("force", { containers: [sh('trap "" TERM; sleep 6711')] });
    await until("force", inPhase("Running"));
    expect((await k.call("DELETE", `${PODS}/force`, { body: { gracePeriodSeconds: 0 } })).status).toBe(200);
    expect((await k.call("GET", `${PODS}/force`)).status).toBe(404);
    expect(await leftOver("6711")).toEqual([]);
  });

  test("keeps a terminated object while it has a finalizer", async () => {
    await k.call("POST", PODS, {
      body: { metadata: { name: "held", finalizers: ["a.b/c"] }, spec: { restartPolicy: "Never", containers: [sh("sleep 600")] } },
    });
    await until("held", inPhase("Running"));
    await k.call("DELETE", `${PODS}/held?gracePeriodSeconds=2`);
    const pod = await until("held", (p) => p.metadata.deletionGracePeriodSeconds === 0);
    expect(state(pod)).toMatchObject({ terminated: { exitCode: 143 } });
    await k.call("PATCH", `${PODS}/held`, { type: "application/merge-patch+json", body: { metadata: { finalizers: null } } });
    expect(await isGone("held")).toBe(true);
  });

  test("activeDeadlineSeconds terminates a pod with this reason", async () => {
    await run("deadline", { activeDeadlineSeconds: 1, terminationGracePeriodSeconds: 0, containers: [sh("sleep 600")] });
    const pod = await until("deadline", (p) => at(state(p), "terminated") !== undefined);
    expect(pod).toMatchObject({ status: { phase: "Failed", reason: "DeadlineExceeded" } });
  });
});

describe("a container", () => {
  test("gets secrets, config maps and fields as variables and files", async () => {
    await k.call("POST", "/api/v1/namespaces/default/secrets", { body: { metadata: { name: "group" }, stringData: { key: "s3cret" } } });
    await k.call("POST", "/api/v1/namespaces/default/configmaps", { body: { metadata: { name: "settings" }, data: { A: "1", B: "2" } } });
    const container = {
      ...sh('cat "$FLYTE_SECRETS_DEFAULT_DIR/group/key"; echo; echo $P_A $P_B $NAME $LABEL $CPU; cat "$1"; pwd'),
      env: [
        { name: "FLYTE_SECRETS_DEFAULT_DIR", value: "/etc/flyte/secrets" },
        { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "LABEL", valueFrom: { fieldRef: { fieldPath: "metadata.labels['l']" } } },
        { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
      ],
      envFrom: [{ prefix: "P_", configMapRef: { name: "settings" } }],
      args: ["sh", "/settings/b.txt"],
      workingDir: "/opt/app",
      resources: { limits: { cpu: "250m" } },
      volumeMounts: [
        { name: "secret", mountPath: "/etc/flyte/secrets/group" },
        { name: "map", mountPath: "/settings" },
      ],
    };
    const volumes = [
      { name: "secret", secret: { secretName: "group" } },
      { name: "map", configMap: { name: "settings", items: [{ key: "B", path: "b.txt" }] } },
    ];
    await k.call("POST", PODS, {
      body: { metadata: { name: "sees", labels: { l: "x" } }, spec: { restartPolicy: "Never", containers: [container], volumes } },
    });
    await until("sees", ended);
    expect((await log("sees")).split("\n")).toEqual([
      "s3cret",
      "1 2 sees x 250",
      expect.stringMatching(/^2\/.*\/root\/main\/opt\/app$/),
      "",
    ]);
  });
});

describe("logs", () => {
  test("are followed while they grow, and end with the container", async () => {
    await run("follow", { containers: [sh("for i in 1 2 3 4; do echo $i; sleep 0.1; done")] });
    await until("follow", inPhase("Running"));
    expect(await log("follow", "?follow=true")).toBe("1\n2\n3\n4\n");
    expect(await log("follow", "?tailLines=2")).toBe("3\n4\n");
    expect(await log("follow", "?limitBytes=3")).toBe("1\n2");
    for (const line of (await log("follow", "?timestamps=true")).trimEnd().split("\n"))
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}Z \d$/);
  });

  test("are streamed through the client while they are written, and again from a given time", async () => {
    const kubeconfig = join(k.folder, "client-kubeconfig");
    writeKubeconfig(kubeconfig, { host: "127.0.0.1", port: k.cluster.port, token: undefined });
    const client = await createKubeClient({ kubeconfig });
    const read = async (more: { follow: boolean; since?: Date; tailLines?: number }) => {
      let text = "";
      const where = { namespace: "default", name: "client", container: "main", signal: AbortSignal.timeout(20_000) };
      for await (const part of client.podLog({ ...where, ...more })) text += Buffer.from(part).toString();
      return text;
    };
    try {
      await run("client", { containers: [sh("for i in 1 2 3; do echo $i; sleep 0.4; done")] });
      await until("client", inPhase("Running"));
      const followed = await read({ follow: true });
      expect(followed.replace(/^\S+ /gm, "")).toBe("1\n2\n3\n");
      const last = followed.split("\n").at(2) ?? "";
      expect(await read({ follow: false, tailLines: 1 })).toBe(`${last}\n`);
      const since = new Date(`${last.slice(0, 19)}Z`);
      expect(await read({ follow: false, since })).toBe(followed.slice(followed.indexOf(last.slice(0, 19))));
      await expect(
        client
          .podLog({ namespace: "default", name: "nobody", container: "main", follow: false, signal: AbortSignal.timeout(5_000) })
          .next(),
      ).rejects.toMatchObject({ status: 404 });
    } finally {
      await client.close();
    }
  });

  test("give each line one time in every read, and complete lines from any second", async () => {
    // Lines arrive in parts, over several seconds.
    await run("times", { containers: [sh("for i in 1 2 3 4 5; do printf $i; sleep 0.35; echo -$i; done; printf end")] });
    await until("times", inPhase("Running"));
    const followed = await log("times", "?follow=true&timestamps=true");
    expect(await log("times", "?timestamps=true")).toBe(followed);
    expect(followed.replace(/^\S+ /gm, "")).toBe("1-1\n2-2\n3-3\n4-4\n5-5\nend");
    const second = followed.split("\n").at(3)?.slice(0, 19) ?? "";
    const rest = await log("times", `?timestamps=true&sinceTime=${second}Z`);
    expect(rest).toBe(
      followed
        .split(/(?<=\n)/)
        .filter((line) => line >= second)
        .join(""),
    );
  });
});

test("events report the life cycle of a pod", async () => {
  await run("story", { containers: [sh("true")] });
  await until("story", ended);
  const { body } = await k.call("GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dstory");
  expect(body.items.map((e) => [e["type"], e["reason"], e["message"]])).toEqual([
    ["Normal", "Scheduled", "Successfully assigned default/story to local"],
    ["Normal", "Pulled", 'Container image "local/image:1" already present on machine'],
    ["Normal", "Created", "Created container: main"],
    ["Normal", "Started", "Started container main"],
  ]);
  const other = await k.call(
    "GET",
    "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=metadata.name%3D" + (body.items[1]?.metadata.name ?? ""),
  );
  expect(other.body.items[0]).toMatchObject({
    regarding: { name: "story" },
    note: 'Container image "local/image:1" already present on machine',
    deprecatedCount: 1,
  });
});

test("a pod whose folder lacks its owner after a crash of the creator runs like any other", async () => {
  const cluster = await testCluster();
  try {
    await cluster.restart({ nodeName: "elsewhere" });
    const spec = { nodeName: "here", restartPolicy: "Never", containers: [sh("sleep 0.3; echo done > $HOME/note; cat $HOME/note")] };
    const names = Array.from({ length: 8 }, (_, i) => `half-${i}`);
    for (const name of names) {
      const { body } = await cluster.call("POST", PODS, { body: { metadata: { name }, spec } });
      const folder = podDir(join(cluster.folder, "pods"), body.metadata.uid ?? "");
      mkdirSync(folder.volumes, { recursive: true });
      // A large volume, so that its removal takes a while.
      for (let i = 0; i < 300; i++) writeFileSync(join(folder.volumes, `f${i}`), "");
    }
    await cluster.restart({ nodeName: "here" });
    for (const name of names) {
      const path = `${PODS}/${name}`;
      await expect.poll(async () => textAt((await cluster.call("GET", path)).body, "status", "phase"), { timeout: 30_000 }).toMatch(/ed$/);
      expect((await cluster.call("GET", path)).body["status"]).toMatchObject({ phase: "Succeeded" });
      expect(await cluster.text(`${path}/log`)).toBe("done\n");
    }
  } finally {
    await cluster.stop();
  }
});
