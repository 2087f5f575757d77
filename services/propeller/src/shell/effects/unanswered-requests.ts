interface SentRequest {
  readonly taskType: string;
  readonly sentAt: number;
}

/** Requests of one workflow to the plugin service of one task type. */
interface Service {
  /** Generated names of the attempts whose requests count, oldest request first. */
  readonly counted: Set<string>;
  /** Time of its last answer, or of the first request after all were answered, ms. */
  heardAt: number;
  /** True from the expiry of its requests to its next answer: nothing counts. */
  silent: boolean;
}

/**
 * Age from which a request no longer counts, ms. A plugin service that answers nothing for so long
 * does not block other work of the workflow.
 */
const UNANSWERED_TIMEOUT_MS = 5_000;
/** Number of requests that no longer count whose answers are still recognized. */
const MAX_UNCOUNTED = 1_000;

/** Counts one workflow's requests to plugin services until these answer, or seem to be down. */
export class UnansweredRequests {
  /** By generated name of the attempt. */
  readonly #sent = new Map<string, SentRequest>();
  /** By task type: services with requests that count, and silent ones. */
  readonly #services = new Map<string, Service>();
  #size = 0;

  /** Number of requests that count. */
  get size(): number {
    return this.#size;
  }

  /** True when a request for this attempt counts. */
  has(generatedName: string): boolean {
    const sent = this.#sent.get(generatedName);
    return sent !== undefined && this.#services.get(sent.taskType)?.counted.has(generatedName) === true;
  }

  isSilent(taskType: string): boolean {
    return this.#services.get(taskType)?.silent === true;
  }

  add(generatedName: string, { taskType, sentAt }: SentRequest): void {
    this.#remove(generatedName);
    const service = this.#serviceOf(taskType, sentAt);
    if (service.silent) {
      this.#addUncounted(generatedName, { taskType, sentAt });
      return;
    }
    this.#sent.set(generatedName, { taskType, sentAt });
    service.counted.add(generatedName);
    this.#size++;
  }

  /** Notes an answer; returns its request if that counted. */
  answered(generatedName: string, now: number): SentRequest | undefined {
    const request = this.#sent.get(generatedName);
    if (request === undefined) return undefined;
    const service = this.#services.get(request.taskType);
    if (service !== undefined) {
      service.heardAt = now;
      service.silent = false;
    }
    const counted = this.#remove(generatedName);
    if (service?.counted.size === 0) this.#services.delete(request.taskType);
    return counted ? request : undefined;
  }

  /** Stops counting old requests, and those to services that have answered nothing for as long. */
  expire(now: number): void {
    const since = now - UNANSWERED_TIMEOUT_MS;
    for (const [taskType, service] of this.#services) {
      if (service.counted.size > 0 && service.heardAt <= since) service.silent = true;
      for (const name of service.counted) {
        const request = this.#sent.get(name);
        if (request === undefined || (request.sentAt > since && !service.silent)) break;
        this.#remove(name);
        this.#addUncounted(name, request);
      }
      if (service.counted.size === 0 && !service.silent) this.#services.delete(taskType);
    }
  }

  clear(): void {
    this.#sent.clear();
    this.#services.clear();
    this.#size = 0;
  }

  #serviceOf(taskType: string, now: number): Service {
    const known = this.#services.get(taskType);
    if (known !== undefined) return known;
    const service: Service = { counted: new Set(), heardAt: now, silent: false };
    this.#services.set(taskType, service);
    return service;
  }

  #addUncounted(generatedName: string, request: SentRequest): void {
    if (this.#sent.size - this.#size < MAX_UNCOUNTED) this.#sent.set(generatedName, request);
  }

  /** Returns true when the request counted. */
  #remove(generatedName: string): boolean {
    const request = this.#sent.get(generatedName);
    if (request === undefined) return false;
    this.#sent.delete(generatedName);
    if (this.#services.get(request.taskType)?.counted.delete(generatedName) !== true) return false;
    this.#size--;
    return true;
  }
}
