import { booleanLiteral, collectionLiteral, integerLiteral, stringLiteral } from "@flyte-ts/domain/literal";
import { createKubeClient, type KubeObject, NAMESPACES, POD_TEMPLATES, PODS, SECRETS } from "@flyte-ts/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExampleRuns, scope } from "./example-runs.js";

/**
 * Runs every construct of flytekit 1.16 once with unmodified pyflyte, from examples/python.
 *
 * @param timeoutMs timeout of one execution, ms
 */
export function constructCases(start: () => Promise<ExampleRuns>, timeoutMs = 150_000): void {
  const TIMEOUT = timeoutMs + 20_000;
  let runs: ExampleRuns;

  beforeAll(async () => {
    runs = await start();
    runs.timeoutMs = timeoutMs;
  }, 900_000);
  afterAll(() => runs?.stop(), 120_000);

  describe.concurrent("dynamic workflows", () => {
    test("create as many nodes as their input says and show the created graph", { timeout: TIMEOUT }, async () => {
      const { phase, outputs, execution } = await runs.run("dynamic.sum_of_squares", { count: integerLiteral(3) });
      expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 5 }]);
      const id = { executionId: execution.id, nodeId: "n0" };
      const { dynamicWorkflow } = await runs.client.admin.getNodeExecutionData({ id });
      expect(dynamicWorkflow?.compiledWorkflow?.primary?.template?.nodes.map((node) => node.id)).toEqual(
        expect.arrayContaining(["start-node", "end-node", "dn0", "dn1", "dn2", "dn3"]),
      );
      expect(Object.values(await runs.nodePhases(execution, "n0")).every((phase) => phase === "SUCCEEDED")).toBe(true);
    });

    test("can be nested", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("dynamic.nested", { n: integerLiteral(2) })).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 9 } });
    });

    test("may create no node", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("dynamic.constant")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 7 } });
    });

    test("can create launch plans, maps, sub-workflows and branches", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("dynamic.all_kinds", { n: integerLiteral(3) })).toMatchObject({
        phase: "SUCCEEDED",
        outputs: { o0: [5, 14, 9] },
      });
    });

    test("fail with the error of the task that creates them", { timeout: TIMEOUT }, async () => {
      const { phase, error } = await runs.run("dynamic.cannot_be_made");
      expect(phase).toBe("FAILED");
      expect(error.message).toContain("no graph for 1");
    });
  });

  describe.concurrent("maps", () => {
    test("run over a list with a common input and a concurrency of two", { timeout: TIMEOUT }, async () => {
      const numbers = collectionLiteral([4, 3, 2, 1].map(integerLiteral));
      expect(await runs.run("mapping.scaled", { numbers })).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: [40, 30, 20, 10] } });
    });

    test("succeed with an empty list", { timeout: TIMEOUT }, async () => {
      const numbers = collectionLiteral([]);
      expect(await runs.run("mapping.scaled", { numbers })).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: [] } });
    });

    test("succeed when enough items succeed", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("mapping.some_fail")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 3 } });
    });

    test("over launch plans start an execution for each item", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("mapping.over_launch_plans")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: [2, 4, 6] } });
    });

    test("fail with the error of an item", { timeout: TIMEOUT }, async () => {
      const { phase, error } = await runs.run("mapping.one_fails");
      expect(phase).toBe("FAILED");
      expect(error.message).toContain("2 is even");
    });
  });

  test("an imperative workflow runs", { timeout: TIMEOUT }, async () => {
    expect(await runs.run("imperative.greeting", { name: stringLiteral("ada") })).toMatchObject({
      phase: "SUCCEEDED",
      outputs: { text: "HELLO ADA" },
    });
  });

  test("nested conditions with and and or are evaluated", { timeout: TIMEOUT }, async () => {
    const input = (n: number, strict: boolean) => ({ n: integerLiteral(n), strict: booleanLiteral(strict) });
    expect(await runs.run("branch.nested", input(100, true))).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 50 } });
    expect(await runs.run("branch.nested", input(3, false))).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 10 } });
    expect(await runs.run("branch.nested", input(50, false))).toMatchObject({ phase: "FAILED" });
  });

  describe.concurrent("launch plans", () => {
    test("as nodes with fixed and default inputs start child executions", { timeout: TIMEOUT }, async () => {
      const { phase, outputs, execution } = await runs.run("launchplans.child_executions", { base: integerLiteral(2) });
      expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 8 }]);
      const children = (await runs.nodes(execution)).flatMap(({ closure }) =>
        closure?.targetMetadata.case === "workflowNodeMetadata" ? [closure.targetMetadata.value.executionId?.name ?? ""] : [],
      );
      expect(children).toHaveLength(2);
      for (const child of children) expect((await runs.waitForEnd(child)).phase).toBe("SUCCEEDED");
    });

    test("refuse a value for a fixed input", async () => {
      await expect(runs.launch("launchplans.cube", { base: integerLiteral(2), exponent: integerLiteral(9) })).rejects.toThrow(/exponent/);
    });

    test("fail their parent when the child fails", { timeout: TIMEOUT }, async () => {
      const { phase, error } = await runs.run("launchplans.failing_child");
      expect(phase).toBe("FAILED");
      expect(error.message).toContain("2 is not welcome");
    });

    test("entities fetched by reference run as nodes", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("launchplans.by_reference", { base: integerLiteral(2) })).toMatchObject({
        phase: "SUCCEEDED",
        outputs: { o0: 64 },
      });
    });
  });

  describe.concurrent("gates", () => {
    test("wait for a value and for an approval", { timeout: TIMEOUT }, async () => {
      const name = await runs.launch("gates.review");
      const executionId = { ...scope, name };
      const waiting = async () => {
        const { signals } = await runs.client.signals.listSignals({ workflowExecutionId: executionId, limit: 10 });
        return new Set(signals.map(({ id }) => id?.signalId));
      };
      await expect.poll(waiting, { timeout: 60_000, interval: 250 }).toEqual(new Set(["consent", "title"]));
      await runs.client.signals.setSignal({ id: { executionId, signalId: "title" }, value: stringLiteral("News") });
      await runs.client.signals.setSignal({ id: { executionId, signalId: "consent" }, value: booleanLiteral(true) });
      expect(await runs.waitForEnd(name)).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: "News: a draft" } });
    });

    test("fail when the approval is refused", { timeout: TIMEOUT }, async () => {
      const name = await runs.launch("gates.review");
      const executionId = { ...scope, name };
      const isThere = async () => (await runs.client.signals.listSignals({ workflowExecutionId: executionId, limit: 10 })).signals.length;
      await expect.poll(isThere, { timeout: 60_000, interval: 250 }).toBe(2);
      await runs.client.signals.setSignal({ id: { executionId, signalId: "consent" }, value: booleanLiteral(false) });
      expect(await runs.waitForEnd(name)).toMatchObject({ phase: "FAILED" });
    });

    test("sleep for a duration", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("gates.pause")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: "rested: a draft" } });
    });

    test("fail without a signal in time", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("gates.nobody_answers")).toMatchObject({ phase: "FAILED" });
    });
  });

  describe("the cache", () => {
    const named = (name: string) => ({ name: stringLiteral(name) });

    test("returns stored outputs unless it is overwritten", { timeout: TIMEOUT }, async () => {
      const first = await runs.run("caching.stamped", named("a"));
      const again = await runs.run("caching.stamped", named("a"));
      const other = await runs.run("caching.stamped", named("b"));
      const overwritten = await runs.run("caching.stamped", named("a"), { overwriteCache: true });
      const after = await runs.run("caching.stamped", named("a"));
      expect(again.outputs).toEqual(first.outputs);
      expect(other.outputs).not.toEqual(first.outputs);
      expect(overwritten.outputs).not.toEqual(first.outputs);
      expect(after.outputs).toEqual(overwritten.outputs);
      const statuses = await Promise.all([first, again, overwritten].map(({ execution }) => runs.cacheStatuses(execution)));
      expect(statuses).toEqual([{ n0: "CACHE_POPULATED" }, { n0: "CACHE_HIT" }, { n0: "CACHE_POPULATED" }]);
    });

    test("lets one of concurrent serialized executions compute the outputs", { timeout: TIMEOUT }, async () => {
      const names = await Promise.all([1, 2, 3].map(() => runs.launch("caching.serialized", named("same"))));
      const ended = await Promise.all(names.map((name) => runs.waitForEnd(name)));
      expect(new Set(ended.map(({ outputs }) => outputs["o0"])).size).toBe(1);
      const statuses = await Promise.all(ended.map(({ execution }) => runs.cacheStatuses(execution)));
      expect(statuses.map(({ n0 = "" }) => n0).toSorted((a, b) => a.localeCompare(b))).toEqual([
        "CACHE_HIT",
        "CACHE_HIT",
        "CACHE_POPULATED",
      ]);
    });

    test("ignores excluded inputs", { timeout: TIMEOUT }, async () => {
      const first = await runs.run("caching.ignoring", { ...named("a"), comment: stringLiteral("one") });
      const again = await runs.run("caching.ignoring", { ...named("a"), comment: stringLiteral("two") });
      expect(again.outputs).toEqual(first.outputs);
    });

    test("uses the hash that the author defines", { timeout: TIMEOUT }, async () => {
      const first = await runs.run("caching.by_hash", { text: stringLiteral("apple") });
      const same = await runs.run("caching.by_hash", { text: stringLiteral("avocado") });
      const other = await runs.run("caching.by_hash", { text: stringLiteral("banana") });
      expect([same.outputs, other.outputs["o0"] === first.outputs["o0"]]).toEqual([first.outputs, false]);
    });
  });

  describe.concurrent("programs", () => {
    test("eager tasks start an execution for each call", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("eager_workflow.count_up", { to: integerLiteral(2) })).toMatchObject({
        phase: "SUCCEEDED",
        outputs: { o0: 2 },
      });
    });

    test("an attempt continues from the checkpoint of the previous one", { timeout: TIMEOUT }, async () => {
      const { phase, outputs, execution } = await runs.run("checkpoint.counted", { steps: integerLiteral(5) });
      expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 4 }]);
      expect(await runs.attempts(execution, "n0")).toEqual(["FAILED", "FAILED", "SUCCEEDED"]);
    });

    test("shell tasks run", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("shell.words")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 3 } });
    });

    test("decks are stored", { timeout: TIMEOUT }, async () => {
      const { phase, execution } = await runs.run("decks.shown");
      expect(phase).toBe("SUCCEEDED");
      const [node] = (await runs.nodes(execution)).filter(({ id }) => id?.nodeId === "n0");
      expect(node?.closure?.deckUri).toMatch(/deck\.html$/);
      const { preSignedUrls } = await runs.client.dataProxy.createDownloadLink({
        artifactType: 1,
        source: { case: "nodeExecutionId", value: node?.id ?? {} },
      });
      const deck = await fetch(preSignedUrls?.signedUrl[0] ?? "");
      expect(await deck.text()).toContain("Hello Flyte");
    });

    test("overrides of a node apply: name, resources, retries, interruptible", { timeout: TIMEOUT }, async () => {
      const { phase, outputs, execution } = await runs.run("overrides.overridden");
      expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 1 }]);
      expect(await runs.nodePhases(execution)).toMatchObject({ first: "SUCCEEDED" });
    });
  });

  describe.concurrent("raw containers", () => {
    test("pass values as files", { timeout: TIMEOUT }, async () => {
      const { phase, outputs } = await runs.run("raw_container.area", { a: integerLiteral(2), b: integerLiteral(3) });
      expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: expect.closeTo(6 * Math.PI, 3), o1: "from shell" }]);
    });

    test("pass files, folders and lists", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("raw_container.counted")).toMatchObject({
        phase: "SUCCEEDED",
        outputs: { o0: "3 b b True ['text', 'words']" },
      });
    });

    test("run without inputs", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("raw_container.from_nothing")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 5 } });
    });

    test("report the reason of a failure by a file or their log", { timeout: TIMEOUT }, async () => {
      const [refused, broken] = await Promise.all([runs.run("raw_container.refused"), runs.run("raw_container.broken")]);
      expect(refused).toMatchObject({ phase: "FAILED", error: { message: expect.stringContaining("no value today") } });
      expect(broken).toMatchObject({ phase: "FAILED", error: { message: expect.stringMatching(/exit code \(3\)[^]*out of paper/) } });
    });
  });

  test("a pod gets secrets without a webhook, and the fields of its PodTemplate", { timeout: TIMEOUT }, async () => {
    const kube = await createKubeClient({ kubeconfig: runs.stack.kubeconfig });
    const namespace = `${scope.project}-${scope.domain}`;
    const named = (name: string) => ({ metadata: { name, namespace } });
    const hostAliases = [{ ip: "127.0.0.9", hostnames: ["elsewhere"] }];
    const containers = [{ name: "default", image: "-", env: [{ name: "TEMPLATE", value: "of the template" }] }];
    try {
      // The first execution may have created it.
      await kube.create(NAMESPACES, { metadata: { name: namespace } }).catch(() => undefined);
      const vault = { ...named("vault"), data: { password: btoa("pass"), token: btoa("tok") } };
      await kube.create(SECRETS, vault);
      const base = {
        ...named("flyte-example"),
        template: { metadata: { labels: { team: "research" } }, spec: { hostAliases, containers } },
      };
      await kube.create(POD_TEMPLATES, base);
      const { phase, outputs, execution } = await runs.run("pods.seen");
      expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: ["pass", "tok", "tok", "of the task", "of the template"] }]);
      const labelSelector = `execution-id=${execution.id?.name ?? ""}`;
      const { items } = await kube.list<KubeObject & { spec: object }>(PODS, { namespace, labelSelector });
      expect(items).toMatchObject([{ metadata: { labels: { team: "research" } }, spec: { hostAliases } }]);
    } finally {
      await kube.close();
    }
  });

  describe.concurrent("types", () => {
    test("include files, folders and tables", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("files.sizes")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 36 } });
    });

    test("include data classes, enums and their single fields", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("datatypes.point_sum", { colour: stringLiteral("red") })).toMatchObject({
        phase: "SUCCEEDED",
        outputs: { o0: 5 },
      });
    });

    test("include unions and optional inputs", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("datatypes.unions")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: "str", o1: "list", o2: true } });
    });

    test("include pickled objects", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("datatypes.pickled")).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 42 } });
    });

    test("include times, durations and maps of lists", { timeout: TIMEOUT }, async () => {
      expect(await runs.run("datatypes.times")).toMatchObject({
        phase: "SUCCEEDED",
        outputs: { o0: "2026-01-02T00:00:00+00:00 ['a', 'b']" },
      });
    });
  });

  test("unmodified FlyteRemote sets a signal", { timeout: TIMEOUT }, async () => {
    const name = await runs.launch("gates.review");
    const program = `
from flytekit.configuration import Config
from flytekit.remote import FlyteRemote
import time
remote = FlyteRemote(Config.auto(), default_project="flytesnacks", default_domain="development")
for _ in range(100):
    if len(remote.list_signals("${name}")) == 2: break
    time.sleep(0.2)
remote.set_input("title", "${name}", "By hand")
remote.approve("consent", "${name}")
`;
    runs.python("python", "-c", program);
    expect(await runs.waitForEnd(name)).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: "By hand: a draft" } });
  });
}
