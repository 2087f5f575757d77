import { Resources_ResourceName } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Logind } from "./logind.js";
import { flytekitImage, type StackOnNode } from "./node-fixture.js";
import { NAMESPACE, PodOutcomes } from "./pod-outcomes.js";

/** The first attempt runs until it is killed; the second one succeeds. */
const ENDED_ONCE = "[ $FLYTE_ATTEMPT_NUMBER = 0 ] || exit 0; trap 'exit 3' TERM; while :; do sleep 0.1; done";

/**
 * Checks what a real kubelet and scheduler report about failing pods and what the user reads of it.
 * Deletes and recreates the node.
 */
export function failingPodCases(onNode: () => { readonly stack: StackOnNode; readonly logind: Logind }): void {
  let logind: Logind;
  let stack: StackOnNode;
  let pods: PodOutcomes;

  beforeAll(() => {
    ({ stack, logind } = onNode());
    pods = new PodOutcomes(stack);
  });
  afterAll(() => pods.close());

  const kubectl = (...args: string[]) => stack.kubectl("-n", NAMESPACE, ...args);
  const limited = (name: keyof typeof Resources_ResourceName, value: string) => {
    const entry = [{ name: Resources_ResourceName[name] as unknown as Resources_ResourceName, value }];
    return { container: { resources: { requests: entry, limits: entry } } };
  };
  /**
   * Expects an attempt that was interrupted and a second one that succeeded, without using up the
   * user's retries.
   */
  const interrupted = (code: string, message: unknown) => ({
    phase: "SUCCEEDED",
    attempts: [{ phase: "FAILED", code, kind: "SYSTEM", message }, { phase: "SUCCEEDED" }],
  });
  const running = async (name: string) => {
    await pods.launch(name, ENDED_ONCE);
    await pods.waitForPhase(name, "RUNNING");
    return pods.podName(name);
  };

  describe.concurrent("containers that fail", () => {
    test("report the exit code and the end of the log", async () => {
      const message = expect.stringContaining("exit code (3). Reason [Error]. Message: \nmy last words\n");
      expect(await pods.run("exit", "echo my last words; exit 3")).toMatchObject({
        phase: "FAILED",
        code: "RetriesExhausted|Error",
        message,
      });
    });

    test("report being out of memory", async () => {
      const script = 'echo begins; exec python3 -c "x = bytearray(900 << 20)"';
      const message = expect.stringContaining("exit code (137). Reason [OOMKilled]. Message: \nbegins\n");
      expect(await pods.run("memory", script, limited("MEMORY", "100Mi"))).toMatchObject({ code: "RetriesExhausted|OOMKilled", message });
    });

    test("report a killed child process as out of memory", async () => {
      const outcome = await pods.run("child-memory", 'python3 -c "x = bytearray(900 << 20)"; exit 0', limited("MEMORY", "100Mi"));
      expect(outcome).toMatchObject({
        code: "RetriesExhausted|OOMKilled",
        message: expect.stringMatching(/was killed: OOMKilled|despite being OOMKilled/),
      });
    });

    test("report a missing command", async () => {
      const outcome = await pods.run("command", "", { container: { command: ["/no/such"], args: [] } });
      expect(outcome).toMatchObject({
        code: "RetriesExhausted|StartError",
        message: expect.stringContaining("stat /no/such: no such file"),
      });
    });
  });

  describe.concurrent("pods that cannot start", () => {
    test("report an image that cannot be pulled", async () => {
      const outcome = await pods.run("no-image", "true", { container: { image: "localhost:1/none:1" } });
      const message = expect.stringMatching(/Grace period \[3s\] exceeded.*pulling image "localhost:1\/none:1".*connection refused/);
      expect(outcome).toMatchObject({ code: "RetriesExhausted|ContainersNotReady|ImagePullBackOff", message });
    });

    test("report an invalid image name", async () => {
      const outcome = await pods.run("bad-image", "true", { container: { image: "UPPER case" }, retries: 3 });
      expect(outcome).toMatchObject({ code: "ContainersNotReady|InvalidImageName", message: expect.stringContaining("must be lowercase") });
      expect(outcome.attempts).toHaveLength(1);
    });

    test("report a missing secret", async () => {
      const env = [{ name: "A", valueFrom: { secretKeyRef: { name: "absent", key: "k" } } }];
      const spec = { containers: [{ name: "main", image: flytekitImage, command: ["true"], env }] };
      const outcome = await pods.run("no-secret", "", { pod: { primary: "main", spec } });
      const message = expect.stringContaining('secret "absent" not found');
      expect(outcome).toMatchObject({ code: "ContainersNotReady|CreateContainerConfigError", message });
    });

    test("stay queued with the scheduler's reason until an abort, when no node has room", async ({ expect }) => {
      const name = await pods.launch("no-room", "true", limited("CPU", "4"));
      await expect
        .poll(async () => (await pods.attempts(name))[0]?.reason, { timeout: 60_000 })
        .toMatch(/^Unschedulable:0\/1 nodes are available: 1 Insufficient cpu/);
      expect((await pods.attempts(name))[0]?.phase).toBe("QUEUED");
      await pods.abort(name);
      expect((await pods.end(name)).phase).toBe("ABORTED");
      await expect.poll(() => kubectl("get", "pods", "-o", "name"), { timeout: 30_000 }).not.toContain(pods.podName(name));
    });
  });

  describe("pods over a quota", () => {
    /**
     * Creates a quota that is deleted when the test finishes, also after a failure: otherwise pods
     * of other tests would stay pending.
     */
    const quota = (name: string, hard: string) => {
      onTestFinished(() => void kubectl("delete", "quota", name));
      kubectl("create", "quota", name, hard);
    };

    test("wait with the reason while the quota is used up", async () => {
      await pods.launch("occupant", "sleep 600");
      await pods.waitForPhase("occupant", "RUNNING");
      const used = Number(kubectl("get", "pods", "--field-selector=status.phase=Running", "-o", "name").split("\n").length - 1);
      quota("tight", `--hard=pods=${used}`);
      await expect.poll(() => kubectl("get", "quota", "tight", "-o", "jsonpath={.status.used.pods}")).toBe(String(used));
      await pods.launch("quota", "true");
      const reason = expect.stringMatching(/exceeded quota: tight, requested: pods=1, used: pods=\d+, limited: pods=\d+/);
      await expect
        .poll(async () => (await pods.attempts("quota"))[0], { timeout: 60_000 })
        .toMatchObject({ phase: "WAITING_FOR_RESOURCES", reason });
      await pods.abort("occupant");
      expect(await pods.end("quota")).toMatchObject({ phase: "SUCCEEDED", attempts: [{ phase: "SUCCEEDED" }] });
    });

    test("fail when the quota can never suffice", async () => {
      quota("small", "--hard=limits.cpu=200m");
      await expect.poll(() => kubectl("get", "quota", "small", "-o", "jsonpath={.status.hard}")).toContain("200m");
      const message = expect.stringContaining("exceeded quota: small, requested: limits.cpu=4");
      expect(await pods.run("never", "true")).toMatchObject({ phase: "FAILED", code: "ResourceRequestsExceedLimits", message });
    });
  });

  describe("interrupted pods", () => {
    test("are retried after a deletion", async () => {
      kubectl("delete", "pod", await running("deleted"), "--wait=false");
      expect(await pods.end("deleted")).toMatchObject(interrupted("UnexpectedObjectDeletion", expect.stringContaining("deleted-n0-0")));
    });

    test("are retried after a forced deletion", async () => {
      kubectl("delete", "pod", await running("forced"), "--force", "--grace-period=0");
      expect(await pods.end("forced")).toMatchObject(interrupted("ResourceDeletedExternally", expect.stringContaining("not found")));
    });

    test("are retried after a drain of their node", async () => {
      await running("drained");
      stack.kubectl("drain", stack.node, "--force", "--pod-selector=execution-id=drained", "--timeout=60s");
      stack.kubectl("uncordon", stack.node);
      const message = expect.stringContaining("terminated in the background: Eviction API: evicting");
      expect(await pods.end("drained")).toMatchObject(interrupted("UnexpectedObjectDeletion", message));
    });

    test("are retried after an eviction by the kubelet", async () => {
      const script = `[ $FLYTE_ATTEMPT_NUMBER = 0 ] || exit 0; head -c 30000000 /dev/zero > /tmp/full; sleep 600`;
      const outcome = await pods.run("evicted", script, limited("EPHEMERAL_STORAGE", "10Mi"));
      const message = expect.stringContaining("Pod ephemeral local storage usage exceeds the total limit of containers 10Mi");
      expect(outcome).toMatchObject(interrupted("Evicted", message));
    });

    test("are retried after a kill from outside", async () => {
      await running("killed");
      process.kill(pods.processIdOf("killed"), "SIGKILL");
      expect(await pods.end("killed")).toMatchObject(interrupted("Interrupted", expect.stringContaining("exit code (137)")));
    });

    test("are retried after a shutdown of their node", async () => {
      await running("shutdown");
      logind.announce(true);
      await expect.poll(async () => (await pods.attempts("shutdown"))[0]?.phase, { timeout: 60_000 }).toBe("FAILED");
      logind.announce(false);
      const message = expect.stringContaining("Pod was terminated in response to imminent node shutdown");
      expect(await pods.end("shutdown")).toMatchObject(interrupted("Interrupted", message));
    });

    test("are retried after the loss of their node", async () => {
      await running("lost");
      const kubelet = stack.kubelet();
      process.kill(kubelet, "SIGSTOP");
      stack.kubectl("delete", "node", stack.node);
      // The pod garbage collector needs two passes, 40 s apart.
      await expect.poll(async () => (await pods.attempts("lost"))[0]?.phase, { timeout: 120_000 }).toBe("FAILED");
      // A restarted kubelet recreates the node.
      process.kill(kubelet, "SIGKILL");
      const { phase, attempts } = await pods.end("lost");
      expect(phase).toBe("SUCCEEDED");
      expect(attempts[0]).toMatchObject({ kind: "SYSTEM", message: expect.stringContaining("PodGC: node no longer exists") });
    }, 240_000);
  });
}
