import { create, type JsonObject } from "@bufbuild/protobuf";
import { ResourcesSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { operatorServiceConfig } from "../config.js";
import { buildJob, type NewJob } from "../job/build-job.js";
import { createOperators } from "../operators.js";
import { jobRequest } from "./sample-requests.js";

export interface BuildSampleOptions {
  /** Changes to the request. */
  readonly change?: (request: TaskRequest) => void;
  /** Settings beside the defaults. */
  readonly settings?: object;
}

/** Builds the resource of a container task with this `custom`. */
export function buildSample(taskType: string, custom: JsonObject, { change, settings = {} }: BuildSampleOptions = {}): NewJob {
  const config = operatorServiceConfig.parse({ nats: { url: "" }, ...settings });
  const operator = createOperators(config).find((each) => each.taskType === taskType);
  if (operator === undefined) throw new Error(`no operator runs ${taskType}`);
  const request = jobRequest(taskType, custom);
  if (request.template?.target.case === "container") {
    const requests = [
      { name: 1, value: "500m" },
      { name: 3, value: "1Gi" },
    ];
    request.template.target.value.resources = create(ResourcesSchema, { requests, limits: requests });
  }
  change?.(request);
  return buildJob(operator, request, { config: config.pods });
}
