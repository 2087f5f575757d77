import { create } from "@bufbuild/protobuf";
import { collectionLiteral, noneLiteral, unionLiteral } from "@flyte-ts/domain/literal";
import { type Literal, type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { variantTypeOf } from "../codec/literal-type.js";
import { elementInputs } from "../describe/run-task.js";
import type { Definition } from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import { t } from "../type/t.js";
import { type AnyType, withoutDefault } from "../type/type.js";
import { AttemptsFailed } from "./attempts.js";
import type { EntityRun, EntityRunner } from "./entity-runner.js";
import { NodeFailed } from "./local-error.js";

interface ArrayRun {
  readonly definition: Definition;
  readonly run: EntityRun;
}

type ItemEnd = { readonly outputs: LiteralMap; readonly attempts: number } | { readonly error: unknown };

/** Runs the items of an array node, as many at a time as it allows. */
export async function runArray(runner: EntityRunner, array: ArrayNode, { definition, run }: ArrayRun): Promise<LiteralMap> {
  const place = run.place ?? runner.reserve();
  const started = performance.now();
  const shared = { id: run.id, entity: runner.name(definition), kind: "array" as const, inputs: {}, cached: false };
  try {
    const count = countItems(run.inputs, array.boundInputs);
    const ends = await runItems(runner, array, { definition, run }, count);
    const outputs = gathered(definition, ends, isTolerant(array));
    const attempts = ends.reduce((sum, end) => sum + ("attempts" in end ? end.attempts : 1), 0);
    runner.record(place, { ...shared, outputs: {}, items: count, attempts, phase: "SUCCEEDED", milliseconds: performance.now() - started });
    return outputs;
  } catch (error) {
    runner.record(place, { ...shared, outputs: {}, attempts: 1, phase: "FAILED", milliseconds: performance.now() - started });
    throw error instanceof NodeFailed ? error : new NodeFailed(run.id, shared.entity, error);
  }
}

function countItems({ literals }: LiteralMap, bound: readonly string[]): number {
  const lengths = Object.entries(literals)
    .filter(([name]) => !bound.includes(name))
    .map(([name, literal]) => {
      if (literal.value.case !== "collection") throw new GraphError(`the input ${name} of an array node is no list`);
      return literal.value.value.literals.length;
    });
  if (new Set(lengths).size > 1) throw new GraphError(`the lists of an array node have different lengths: ${lengths.join(", ")}`);
  return lengths[0] ?? 0;
}

async function runItems(runner: EntityRunner, array: ArrayNode, { definition, run }: ArrayRun, count: number): Promise<readonly ItemEnd[]> {
  const ends: ItemEnd[] = [];
  const needed = neededSuccesses(array, count);
  let next = 0;
  let failures = 0;
  const work = async (): Promise<void> => {
    while (next < count && count - failures >= needed) {
      const index = next++;
      const inputs = elementInputs(run.inputs, index, array.boundInputs);
      try {
        ends[index] = await runner.run(definition, { id: `${run.id}-${index}`, inputs, metadata: array.node?.metadata });
      } catch (error) {
        failures++;
        ends[index] = { error: error instanceof AttemptsFailed ? error.cause : error };
      }
    }
  };
  const limit = array.parallelismOption.case === "parallelism" ? array.parallelismOption.value : 0;
  await Promise.all(Array.from({ length: Math.min(count, limit === 0 ? count : limit) }, work));
  if (count - failures < needed) throw ends.flatMap((end) => ("error" in end ? [end.error] : []))[0];
  return ends;
}

function neededSuccesses({ successCriteria }: ArrayNode, count: number): number {
  if (successCriteria.case === "minSuccesses") return Math.min(successCriteria.value, count);
  return Math.ceil(count * (successCriteria.case === "minSuccessRatio" ? successCriteria.value : 1));
}

function isTolerant({ successCriteria }: ArrayNode): boolean {
  return successCriteria.case === "minSuccesses" || (successCriteria.case === "minSuccessRatio" && successCriteria.value < 1);
}

/** Gathers the outputs of all items in lists; in tolerant nodes those of failed items are None. */
function gathered({ outputs }: Definition, ends: readonly ItemEnd[], tolerant: boolean): LiteralMap {
  const lists = Object.entries(outputs).map(([name, type]) => {
    const items = ends.map((end) => itemLiteral(end, name, withoutDefault(type), tolerant));
    return [name, collectionLiteral(items)] as const;
  });
  return create(LiteralMapSchema, { literals: Object.fromEntries(lists) });
}

function itemLiteral(end: ItemEnd, name: string, type: AnyType, tolerant: boolean): Literal {
  if (!("outputs" in end)) return unionLiteral(noneLiteral(), variantTypeOf(t.none));
  const literal = end.outputs.literals[name];
  if (literal === undefined) throw new GraphError(`an item gave no ${name}`);
  return tolerant && type.kind !== "optional" ? unionLiteral(literal, variantTypeOf(type)) : literal;
}
