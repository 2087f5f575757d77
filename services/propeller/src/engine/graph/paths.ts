/** Blob store locations of a node in Flyte's layout. */

/** `{metadata prefix}/{project}-{domain}-{name}`. */
export function executionDataDir(prefix: string, id: { project: string; domain: string; name: string }): string {
  return `${prefix}/${id.project}-${id.domain}-${id.name}`;
}

/** Prefix of the execution's status slices. */
export function slicesPrefix(executionDir: string): string {
  return `${executionDir}/status`;
}

/** Data dir of a node of the workflow itself. */
export function topNodeDir(executionDir: string, nodeId: string): string {
  return `${executionDir}/${nodeId}/data`;
}

/** Data dir of a node below an attempt of another: nodes of a sub-workflow and arms of a branch. */
export function childNodeDir(parentAttemptDir: string, nodeId: string): string {
  return `${parentAttemptDir}/${nodeId}`;
}

export function attemptDir(nodeDir: string, attempt: number): string {
  return `${nodeDir}/${attempt}`;
}

export function inputsUri(nodeDir: string): string {
  return `${nodeDir}/inputs.pb`;
}

/** Inputs of an item of the array node with this data dir; the same for all of its attempts. */
export function itemInputsUri(arrayDir: string, index: number): string {
  return inputsUri(`${arrayDir}/${index}/0`);
}

export function outputsUri(dir: string): string {
  return `${dir}/outputs.pb`;
}

export function deckUri(dir: string): string {
  return `${dir}/deck.html`;
}

export function checkpointUri(rawOutputPrefix: string): string {
  return `${rawOutputPrefix}/_flytecheckpoints`;
}

/** Spec that a dynamic task produced. */
export function futuresUri(dir: string): string {
  return `${dir}/futures.pb`;
}

/** Compiled form of the spec that a dynamic task produced. */
export function compiledUri(dir: string): string {
  return `${dir}/dynamic_compiled.pb`;
}
