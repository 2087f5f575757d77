import { checkIdentifier, checkText, missingEntity, nextToken, planList, resourceListRequest } from "../../platform/index.js";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { RegistryDeps } from "../deps.js";
import { listNames } from "../store/entity-names.js";
import { createTask } from "./create.js";
import { findTask, type ListedTask, listTasks, taskEntity } from "../store/tasks.js";

/** Tasks: register, get, list. */
export function taskRpcs(deps: Pick<RegistryDeps, "db" | "config" | "clock">): ServiceImplementation<typeof AdminService> {
  const { db } = deps;
  return {
    async createTask(request) {
      await createTask(deps, request);
      return {};
    },

    /** Accepts any resource type in the id, since older clients send others. */
    async getTask({ id }) {
      checkIdentifier(id);
      const task = await findTask(db, id);
      if (task === undefined) throw missingEntity("TASK", id);
      return {
        id: { resourceType: ResourceType.TASK, project: id.project, domain: id.domain, name: id.name, version: id.version },
        closure: { compiledTask: task.compiled, createdAt: timestampFromDate(task.createdAt) },
        shortDescription: task.shortDescription,
      };
    },

    async listTasks(request) {
      const plan = planList(taskEntity, resourceListRequest("ListTasks", request));
      const rows = await listTasks(db, plan);
      return { tasks: rows.map(taskMessage), token: nextToken(plan, rows.length) };
    },

    listTaskIds(request) {
      checkText(request.project, "project");
      checkText(request.domain, "domain");
      return listNames(db, { rpc: "ListTaskIds", resourceType: ResourceType.TASK, columns: taskEntity.columns }, request);
    },
  };
}

function taskMessage(row: ListedTask): MessageInitShape<typeof TaskSchema> {
  const { project, domain, name, version } = row;
  return {
    id: { resourceType: ResourceType.TASK, project, domain, name, version },
    closure: { compiledTask: fromBinary(CompiledTaskSchema, row.closure), createdAt: timestampFromDate(row.created_at) },
    shortDescription: row.short_description,
  };
}
