// Prints the users of the message bus, as in users.json, with that of a plugin service of your own:
//   node deploy/bus/add-plugin.mjs ID TASK_TYPE… [-- ID TASK_TYPE…]
import { readFileSync } from "node:fs";
import { addPluginUser } from "./plugin-users.mjs";

const plugins = process.argv
  .slice(2)
  .join("\n")
  .split("\n--\n")
  .map((words) => words.split("\n").filter((word) => word !== ""));
if (plugins.some((words) => words.length < 2)) {
  process.stderr.write("usage: node deploy/bus/add-plugin.mjs ID TASK_TYPE… [-- ID TASK_TYPE…]\n");
  process.exit(2);
}
try {
  const users = JSON.parse(readFileSync(new URL("users.json", import.meta.url), "utf8"));
  const all = plugins.reduce((known, [id, ...taskTypes]) => addPluginUser(known, id, taskTypes), users);
  process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
} catch (error) {
  process.stderr.write(`add-plugin: ${error.message}\n`);
  process.exit(1);
}
