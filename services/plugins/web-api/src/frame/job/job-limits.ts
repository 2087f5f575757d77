/** Maximum numbers of concurrent jobs of one API; 0: no limit. */
export interface JobLimitSettings {
  readonly maxJobs: number;
  readonly maxJobsPerProject: number;
  readonly maxJobsPerNamespace: number;
}

export interface JobScope {
  readonly project: string;
  readonly namespace: string;
}

/** Counts the jobs of one API, in all and per project and namespace. */
export class JobLimits {
  readonly #scopes = new Map<string, JobScope>();
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly api: string,
    private readonly settings: JobLimitSettings,
  ) {}

  get size(): number {
    return this.#scopes.size;
  }

  /** Takes a place for the attempt unless it has one; returns the reason when there is none. */
  acquire(key: string, scope: JobScope): string | undefined {
    if (this.#scopes.has(key)) return undefined;
    const exhausted = this.#exhausted(scope);
    if (exhausted === undefined) this.adopt(key, scope);
    return exhausted;
  }

  /** Counts an attempt whose job exists, beyond the limits if need be. */
  adopt(key: string, scope: JobScope): void {
    if (this.#scopes.has(key)) return;
    this.#scopes.set(key, scope);
    for (const name of countsOf(scope)) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  release(key: string): void {
    const scope = this.#scopes.get(key);
    if (scope === undefined) return;
    this.#scopes.delete(key);
    for (const name of countsOf(scope)) {
      const left = (this.#counts.get(name) ?? 0) - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    }
  }

  #exhausted({ project, namespace }: JobScope): string | undefined {
    const { maxJobs, maxJobsPerProject, maxJobsPerNamespace } = this.settings;
    const reason = (max: number, where: string) => `${this.api} runs its maximum of ${max} jobs${where}; waiting for one to end`;
    const isFull = (max: number, count: number) => max > 0 && count >= max;
    if (isFull(maxJobs, this.size)) return reason(maxJobs, "");
    if (isFull(maxJobsPerProject, this.#counts.get(`project ${project}`) ?? 0)) return reason(maxJobsPerProject, ` of project ${project}`);
    if (isFull(maxJobsPerNamespace, this.#counts.get(`namespace ${namespace}`) ?? 0))
      return reason(maxJobsPerNamespace, ` of namespace ${namespace}`);
    return undefined;
  }
}

function countsOf({ project, namespace }: JobScope): readonly string[] {
  return [`project ${project}`, `namespace ${namespace}`];
}
