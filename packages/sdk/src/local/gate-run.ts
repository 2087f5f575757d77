import { setTimeout as wait } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { GateNode, SignalCondition } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { encodeValue } from "../codec/encode.js";
import { FileEncoding } from "../codec/encoding.js";
import { typeOfLiteralType } from "../codec/literal-type-reader.js";
import { rootPlace } from "../codec/place.js";
import { decodeInputs } from "../codec/interface-values.js";
import { GraphError } from "../entity/errors.js";
import type { EntityRun, EntityRunner } from "./entity-runner.js";
import { NodeFailed } from "./local-error.js";
import type { GateQuestion } from "./options.js";

/** Runs a gate: its answer comes from the options. */
export async function runGate(runner: EntityRunner, { condition }: GateNode, run: EntityRun): Promise<LiteralMap> {
  const place = run.place ?? runner.reserve();
  const started = performance.now();
  const name = run.metadata?.name ?? "";
  const shared = { id: run.id, entity: name, kind: "gate" as const, inputs: {}, attempts: 1, cached: false };
  try {
    const { literals, values } = await answered(runner, condition);
    runner.record(place, { ...shared, outputs: values, phase: "SUCCEEDED", milliseconds: performance.now() - started });
    return literals;
  } catch (error) {
    runner.record(place, { ...shared, outputs: {}, phase: "FAILED", milliseconds: performance.now() - started });
    throw new NodeFailed(run.id, name, error);
  }
}

interface GateAnswer {
  readonly literals: LiteralMap;
  readonly values: Readonly<Record<string, unknown>>;
}

const NOTHING: GateAnswer = { literals: create(LiteralMapSchema), values: {} };

async function answered(runner: EntityRunner, condition: GateNode["condition"]): Promise<GateAnswer> {
  switch (condition.case) {
    case "sleep":
      if (runner.parts.options.waits === true && condition.value.duration !== undefined) await wait(durationMs(condition.value.duration));
      return NOTHING;
    case "approve": {
      const approved = await ask(runner, { name: condition.value.signalId, kind: "approve" });
      if (approved !== true) throw new GraphError(`${condition.value.signalId} was not approved`);
      return NOTHING;
    }
    case "signal":
      return signalled(runner, condition.value);
    case undefined:
      throw new GraphError("a gate has no condition");
  }
}

async function signalled(runner: EntityRunner, { signalId, type, outputVariableName }: SignalCondition): Promise<GateAnswer> {
  if (type === undefined) throw new GraphError(`the signal ${signalId} has no type`);
  const { files } = runner.parts;
  const own = typeOfLiteralType(type);
  const value = await ask(runner, { name: signalId, kind: "signal" });
  const encoding = new FileEncoding(files);
  const literal = encodeValue(own, value, encoding, rootPlace(`signal ${signalId}`));
  await encoding.finish();
  const literals = create(LiteralMapSchema, { literals: { [outputVariableName]: literal } });
  return { literals, values: await decodeInputs({ inputs: { [outputVariableName]: own } }, literals, files) };
}

async function ask({ parts: { options } }: EntityRunner, question: GateQuestion): Promise<unknown> {
  const { signals = {}, answerGate } = options;
  if (Object.hasOwn(signals, question.name)) return signals[question.name];
  if (answerGate !== undefined) return answerGate(question);
  throw new GraphError(`the gate ${question.name} has no answer: give signals: { ${JSON.stringify(question.name)}: … }`);
}
