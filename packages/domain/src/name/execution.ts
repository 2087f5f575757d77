// Kubernetes' alphabet for generated names: no vowels and no look-alikes, so that no words appear.
const CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";
const NODE_ID_MAX = 63;

/**
 * Generates an execution name: `a` and 19 random characters. `random` returns numbers in [0, 1).
 */
export function randomExecutionName(random: () => number): string {
  let name = "a";
  for (let i = 0; i < 19; i++) name += CHARACTERS.charAt(Math.floor(random() * CHARACTERS.length));
  return name;
}

/** Name of the workflow and launch plan that admin creates for a task executed on its own. */
export function singleTaskWorkflowName(taskName: string): string {
  return `.flytegen.${taskName}`;
}

/**
 * Id of the only node of such a workflow: letters, digits and dashes of the last 63 bytes of the
 * task's name.
 */
export function singleTaskNodeId(taskName: string): string {
  const bytes = Buffer.from(taskName);
  const tail = bytes.length > NODE_ID_MAX ? bytes.subarray(bytes.length - NODE_ID_MAX).toString() : taskName;
  return tail.replace(/[^-\p{L}\p{N}]/gu, "");
}
