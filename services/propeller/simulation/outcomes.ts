import { create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { numbers } from "./fixtures/workflow.js";
import { Random } from "./random.js";
import type { Outcome } from "./services/cluster.js";

/** Outcomes of attempts, determined by the seed. */
export class Outcomes {
  readonly #random: Random;
  readonly #successRate: number;
  readonly #outcomes = new Map<string, Outcome>();

  constructor(seed: number) {
    this.#random = new Random(seed);
    // With high success rates, executions get far.
    this.#successRate = this.#random.pick([0.75, 0.97, 1]);
  }

  outcomeOf(node: string, attempt: number): Outcome {
    const key = `${node}/${attempt}`;
    const outcome = this.#outcomes.get(key) ?? randomOutcome(this.#random, this.#successRate);
    this.#outcomes.set(key, outcome);
    return outcome;
  }
}

function randomOutcome(random: Random, successRate: number): Outcome {
  const draw = random.next();
  if (draw < successRate) return { kind: "succeeds" };
  if (draw < successRate + (1 - successRate) / 5) return { kind: "hangs" };
  return { kind: "fails", recoverable: random.chance(0.7), system: random.chance(0.4), cleanup: random.chance(0.3) };
}

/** A task's output: a number derived from the task. */
export function outputsOf(request: TaskRequest): LiteralMap {
  return request.id === undefined ? create(LiteralMapSchema) : numbers({ o0: outputOf(request.id.nodeExecutionId?.nodeId ?? "") });
}

export function outputOf(uniqueId: string): number {
  return hash(uniqueId) % 10;
}

export function hash(text: string): number {
  let value = 7;
  for (let i = 0; i < text.length; i++) value = (Math.imul(value, 31) + text.charCodeAt(i)) >>> 0;
  return value;
}
