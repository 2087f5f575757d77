export interface TaskLimits {
  readonly tasks?: number | undefined;
  readonly tasksPerProject?: number | undefined;
}

/** Counts the tasks in progress at one endpoint, in all and for each project. */
export class TaskSlots {
  #total = 0;
  readonly #perProject = new Map<string, number>();

  constructor(private readonly limits: TaskLimits) {}

  get total(): number {
    return this.#total;
  }

  /** Reason why a task of the project has to wait; undefined when there is room. */
  fullReason(project: string): string | undefined {
    const { tasks, tasksPerProject } = this.limits;
    if (tasks !== undefined && this.#total >= tasks) return `${this.#total} of ${tasks} tasks are in progress`;
    const own = this.#perProject.get(project) ?? 0;
    if (tasksPerProject === undefined || own < tasksPerProject) return undefined;
    return `${own} of ${tasksPerProject} tasks of project ${project} are in progress`;
  }

  /** Counts a task, even beyond the limits: tasks of an earlier process already run. */
  occupy(project: string): void {
    this.#total++;
    this.#perProject.set(project, (this.#perProject.get(project) ?? 0) + 1);
  }

  release(project: string): void {
    this.#total--;
    const rest = (this.#perProject.get(project) ?? 0) - 1;
    if (rest > 0) this.#perProject.set(project, rest);
    else this.#perProject.delete(project);
  }
}
