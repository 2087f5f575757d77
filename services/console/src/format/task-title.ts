/** Name that flytekit gives to a task that maps another: with a hash of what is mapped. */
const MAPPED = /^map_(.+)_[0-9a-f]{32}(?:-arraynode)?$/;

/** Returns the last part of a task's name; of a map the task that it maps. */
export function taskTitle(name: string): string {
  const last = name.slice(name.lastIndexOf(".") + 1);
  return MAPPED.exec(last)?.[1] ?? last;
}
