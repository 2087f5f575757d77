// Derives the user of the message bus of a plugin service that is no part of this repository.
import { readFileSync } from "node:fs";

/** Permissions of a plugin service with the id `plugin-ID` and the task type `TYPE`. */
const template = JSON.parse(readFileSync(new URL("plugin-user.json", import.meta.url), "utf8"));
const PLUGIN_ID = /^plugin-[a-z0-9]+(-[a-z0-9]+)*$/;
const TASK_TYPE = /^[A-Za-z0-9_-]+$/;

/**
 * Adds the user of a plugin service to the users of `users.json`. Users with wildcards lose what
 * belongs to the plugin.
 *
 * @throws Error when the id or a task type is malformed, or another user has it
 */
export function addPluginUser(users, id, taskTypes) {
  if (!PLUGIN_ID.test(id))
    throw new Error(`the id of a plugin is plugin- and lower-case words joined by dashes, not ${JSON.stringify(id)}`);
  if (users[id] !== undefined) throw new Error(`${id} is a user of the bus already`);
  if (taskTypes.length === 0) throw new Error(`${id} needs a task type`);
  for (const taskType of taskTypes) checkTaskType(users, taskType);
  const named = (subjects) =>
    subjects.flatMap((subject) => {
      const own = subject.replaceAll("plugin-ID", id);
      return own.includes("TYPE") ? taskTypes.map((taskType) => own.replaceAll("TYPE", taskType)) : [own];
    });
  const exclusive = named(template.publish.allow.filter((subject) => subject.includes("TYPE")));
  const others = Object.entries(users).map(([name, permissions]) => [name, withoutSubjects(permissions, exclusive)]);
  const own = { publish: { allow: named(template.publish.allow), deny: [] }, subscribe: { allow: named(template.subscribe.allow) } };
  return { ...Object.fromEntries(others), [id]: own };
}

function checkTaskType(users, taskType) {
  if (!TASK_TYPE.test(taskType)) throw new Error(`a task type has letters, digits, _ and -, unlike ${JSON.stringify(taskType)}`);
  const consumer = `$JS.API.CONSUMER.DURABLE.CREATE.FLYTE_TASKS.plugin-${taskType}`;
  const owner = Object.entries(users).find(([, { publish }]) => publish.allow.includes(consumer));
  if (owner !== undefined) throw new Error(`task type ${taskType} belongs to ${owner[0]}`);
}

function withoutSubjects({ publish: { allow, deny }, subscribe }, subjects) {
  const denied = subjects.filter((subject) => allow.some((pattern) => covers(pattern, subject)));
  return { publish: { allow, deny: [...deny, ...denied] }, subscribe };
}

/** True when a pattern of NATS matches every subject that the other pattern matches. */
function covers(pattern, subject) {
  const [wanted, given] = [pattern.split("."), subject.split(".")];
  const rest = wanted.indexOf(">");
  const compared = rest < 0 ? wanted : wanted.slice(0, rest);
  if (rest < 0 ? wanted.length !== given.length : given.length <= rest) return false;
  return compared.every((token, index) => given[index] !== ">" && (token === "*" || token === given[index]));
}
