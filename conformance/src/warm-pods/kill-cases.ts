import { setTimeout as sleep } from "node:timers/promises";
import { ExecutionError_ErrorKind, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { seededRandom } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Journal, startJournal } from "./journal.fixture.js";
import { FAULTS, kill } from "./kill-faults.js";
import { floatLiteral, stringLiteral } from "./literals.js";
import { type Mode, MODES, scope, type WarmNode } from "./warm-node.fixture.js";

const ROUNDS = Number(process.env["WARM_KILL_ROUNDS"] ?? 20);
const SEED = Number(process.env["WARM_KILL_SEED"] ?? Date.now() % 2 ** 31);
const FIRST_ROUND = Number(process.env["WARM_KILL_FIRST"] ?? 0);
const EXECUTIONS = 2;
/** Nodes of the chain, and what their tasks write. */
const PLACES = { n0: "a", n1: "b", n2: "c" } as const;
/** Time within which pods go after the end of the last execution, ms. */
const LEFT_OVER_MS = 60_000;
const POLL_MS = 250;

/** Kills workers, pods, the plugin service and the bus at random. */
export function killCases(onNode: () => WarmNode): void {
  let node: WarmNode;
  let journal: Journal;

  beforeAll(async () => {
    node = onNode();
    journal = await startJournal(node.stack.host);
  });
  afterAll(() => journal?.close());

  describe.each(MODES)("%s pods", (mode) => {
    const rounds = Array.from({ length: ROUNDS - FIRST_ROUND }, (_, index) => index + FIRST_ROUND);
    test.each(rounds)(
      `run each attempt once or retry it as a failure of the system, seed ${SEED}, round %i`,
      { timeout: 600_000 },
      async (round) => {
        const random = seededRandom(SEED + round * 7919 + mode.length);
        const names = await Promise.all(Array.from({ length: EXECUTIONS }, () => launch(mode)));
        const faults: string[] = [];
        for (let count = 1 + Math.floor(random() * 2); count > 0; count--) {
          await sleep(random() * 5_000);
          const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? "worker";
          faults.push(`${fault} ${kill(node, fault, random) ?? "none"}`);
        }
        const ends = await Promise.all(names.map((name) => node.end(name)));
        const seen = await Promise.all(names.map((name) => attemptsOf(name)));
        const left = await leftOver();
        const retries = seen.flat().filter(({ isLast }) => !isLast).length;
        process.stderr.write(
          `kills of ${mode} pods, seed ${SEED}, round ${round}: ${faults.join(", ")}; ${retries} retries; ${ends.map(({ phase }) => phase).join(" ")}\n`,
        );
        expect(ends.map(({ phase, code }) => `${phase}${code}`)).toEqual(names.map(() => "SUCCEEDED"));
        expect(seen.flat().flatMap(problemsOf)).toEqual([]);
        expect(left).toEqual([]);
      },
    );
  });

  const launch = (mode: Mode) => node.launch(`journal.${mode}`, { url: stringLiteral(journal.url), seconds: floatLiteral(0.5) });

  /** All attempts of an execution, with what they wrote. */
  const attemptsOf = async (name: string) => {
    const lists = Object.entries(PLACES).map(async ([nodeId, place]) => {
      const nodeExecutionId = { executionId: { ...scope, name }, nodeId };
      const { taskExecutions } = await node.client.admin.listTaskExecutions({ nodeExecutionId, limit: 20 });
      return taskExecutions.map(({ id, closure }) => {
        const attempt = id?.retryAttempt ?? 0;
        const error = closure?.outputResult.case === "error" ? closure.outputResult.value : undefined;
        return {
          attempt: `${name} ${nodeId} ${attempt}`,
          isLast: attempt === taskExecutions.length - 1,
          phase: TaskExecution_Phase[closure?.phase ?? 0] ?? "",
          kind: error === undefined ? "" : (ExecutionError_ErrorKind[error.kind] ?? ""),
          error: `${error?.code}: ${error?.message}`,
          starts: journal.count("start", name, attempt, place),
          ends: journal.count("end", name, attempt, place),
        };
      });
    });
    return (await Promise.all(lists)).flat();
  };

  /** Pods that neither ended nor wait for an attempt, a minute after the end. */
  const leftOver = async () => {
    for (let waited = 0; ; waited += POLL_MS) {
      const left = node.pods("flyte.org/warm!=idle").filter(({ status }) => status.phase !== "Succeeded" && status.phase !== "Failed");
      if (left.length === 0 || waited > LEFT_OVER_MS)
        return left.map(({ metadata, status }) => `${metadata.name} ${status.phase} ${JSON.stringify(metadata.labels)}`);
      await sleep(POLL_MS);
    }
  };
}

interface SeenAttempt {
  readonly attempt: string;
  readonly isLast: boolean;
  readonly phase: string;
  readonly kind: string;
  readonly error: string;
  readonly starts: number;
  readonly ends: number;
}

function problemsOf({ attempt, isLast, phase, kind, error, starts, ends }: SeenAttempt): string[] {
  const ran = `ran ${starts} times and ended ${ends} times`;
  if (isLast) return phase === "SUCCEEDED" && starts === 1 && ends === 1 ? [] : [`${attempt} is ${phase} and ${ran}`];
  const isRetried = phase === "FAILED" && kind === "SYSTEM";
  return isRetried && starts <= 1 ? [] : [`${attempt} is ${phase} (${kind} ${error}) and ${ran}`];
}
